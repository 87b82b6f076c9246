"""The index of a site, as browsers load it: pages and their parts, terms in several files, formulas.

All of it is JSON, made of the records of pages by going through them once. Where a term stands is a text of
steps from one part of the site to the next, each with a letter that says how much it counts there: `A3B` is
once in the first part, several times in the fourth. Terms are divided by how they begin, so a search loads
the few files that can hold what it looks for; formulas are few and short and lie in one.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from ..tex.on_demand import is_variable, taken_arguments, typed_names
from .page_record import HEADING, TITLE, SearchRecord, SectionName, read_record, step
from .terms import split_terms

FEW_PAGES = 30
"""Up to so many all terms are in one file."""
MANY_PAGES = 300
"""From so many on they are divided by their first two characters."""

_NAMES = (
    *(chr(code) for code in range(0x23, 0x7F) if code != 0x5C),
    *(chr(code) for code in range(0x100, 0x300)),
    *(chr(code) for code in range(0x4E00, 0x9F00)),
)
"""Characters that stand for tokens of formulas, the shorter ones first; nothing changes them on the way."""


class IndexedPage(Struct, frozen=True):
    """A page that can be found."""

    url: str
    """With base path."""
    title: str
    tags: tuple[str, ...]
    record: Callable[[], bytes]
    """As `make_record` gives it."""


def count_files(pages: int) -> int:
    """Over how many files the terms of a site are divided."""
    return 1 if pages <= FEW_PAGES else 16 if pages < MANY_PAGES else 64


def file_of(term: str, files: int) -> int:
    """In which of so many files a term is; `fileOf` of `search.js` says the same."""
    if files == 1:
        return 0
    first = ord(term[0])
    # of other scripts one character says as much as two letters
    second = ord(term[1]) if files > 16 and first < 128 and len(term) > 1 else 0
    return (first * 31 + second) % files


class SearchIndex(Struct, frozen=True, dict=True):
    """Belongs to one version of the site; what it is asked for is made once."""

    pages: Sequence[IndexedPage]
    macros: Mapping[str, str]
    """Of the site: readers may type them."""

    @cached_property
    def _records(self) -> list[SearchRecord]:
        empty = SearchRecord((SectionName("", ""),), "", (), ())
        return [read_record(page.record()) or empty for page in self.pages]

    def page_file(self) -> bytes:
        """The pages with their parts, in the order in which parts are counted."""
        rows = [
            [page.url, page.title, [[part.id, part.heading] for part in record.sections]]
            for page, record in zip(self.pages, self._records, strict=True)
        ]
        return _json(rows)

    def term_file(self, number: int) -> bytes:
        """One of the files of terms."""
        return self._term_files[number]

    @cached_property
    def _term_files(self) -> list[bytes]:
        places: dict[str, bytearray] = {}
        lasts: dict[str, int] = {}
        start = 0
        for page, record in zip(self.pages, self._records, strict=True):
            for term, first, last, rest in _page_places(page, record):
                known = places.get(term)
                if known is None:
                    known = places[term] = bytearray()
                known += (step(start + first - lasts.get(term, -1)) + rest).encode()
                lasts[term] = start + last
            start += len(record.sections)
        count = count_files(len(self.pages))
        divided: list[list[str]] = [[] for _ in range(count)]
        for term in sorted(places):
            divided[file_of(term, count)].append(term)
        return [
            _json([" ".join(terms), " ".join(places[term].decode() for term in terms)]) for terms in divided
        ]

    def formula_file(self) -> bytes:
        """The formulas, as texts of one character a token, with the tokens and how readers may name them."""
        counts = Counter(
            token
            for record in self._records
            for formula in record.formulas
            for token in formula.tokens.split()
        )
        ordered = sorted(counts, key=lambda token: (-counts[token], token))[: len(_NAMES)]
        names = dict(zip(ordered, _NAMES, strict=False))
        rows = []
        for number, record in enumerate(self._records):
            found = [
                [
                    formula.section,
                    formula.index,
                    formula.kind,
                    formula.id,
                    formula.number,
                    "".join(names.get(token, "") for token in formula.tokens.split()),
                ]
                for formula in record.formulas
            ]
            if found:
                rows.append([number, found])
        variables = "".join(names[token] for token in ordered if is_variable(token))
        macros = {name.removeprefix("\\"): tex for name, tex in sorted(self.macros.items())}
        return _json(
            {
                "tokens": " ".join(ordered),
                "names": "".join(names.values()),
                "variables": variables,
                "signs": dict(sorted(typed_names(names).items())),
                "takes": taken_arguments(),
                "macros": macros,
                "formulas": rows,
            }
        )


def _page_places(page: IndexedPage, record: SearchRecord) -> Iterator[tuple[str, int, int, str]]:
    """Term, first and last section, and the rest of its places; with the terms of the title and of tags."""
    own = dict.fromkeys(split_terms(" ".join(page.tags)), HEADING)
    own.update(dict.fromkeys(split_terms(page.title), TITLE))
    for term, places in zip(record.terms.split(), record.places, strict=True):
        weight = own.pop(term, "")
        if not weight:
            yield term, places.first, places.last, places.rest
        elif places.first == 0:
            yield term, 0, places.last, weight + places.rest[1:]
        else:
            yield term, 0, places.last, weight + step(places.first) + places.rest
    yield from ((term, 0, 0, weight) for term, weight in own.items())


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
