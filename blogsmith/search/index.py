"""The index of a site, as browsers load it: pages and their parts, terms in several files, formulas.

All of it is JSON, made of the records of pages by going through them once. Where a term stands is a text of
steps from one part of the site to the next, each with a letter that says how much it counts there: `A3B` is
once in the first part, several times in the fourth. Terms are divided by how they begin, so a search loads
the few files that can hold what it looks for; formulas are few and short and lie in one.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from ..tex.on_demand import is_variable, taken_arguments, typed_names
from .page_record import HEADING, TITLE, IndexedFormula, SearchRecord, SectionName, read_record, step
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


_EMPTY = SearchRecord((SectionName("", ""),), "", "", "", "", ())
"""Of a page whose record cannot be read."""


class IndexedPage(Struct, frozen=True):
    """A page that can be found."""

    url: str
    """With base path."""
    title: str
    tags: tuple[str, ...]
    record: bytes
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


class IndexFiles(Struct, frozen=True):
    """The files of an index, made."""

    pages: bytes
    """The pages with their parts, in the order in which parts are counted."""
    terms: tuple[bytes, ...]
    """In as many files as `count_files` says."""
    formulas: bytes
    """Texts of one character a token, with the tokens and how readers may name them."""


class SearchIndex(Struct, frozen=True, dict=True):
    """Belongs to one version of the site."""

    pages: Sequence[IndexedPage]
    macros: Mapping[str, str]
    """Of the site: readers may type them."""

    @cached_property
    def files(self) -> IndexFiles:
        """All at once, when the first one is asked for: records are large, so each is read once."""
        writer = _IndexWriter()
        for page in self.pages:
            writer.add(page, read_record(page.record) or _EMPTY)
        return writer.close(self.macros)


class _IndexWriter:
    """Takes pages, one after the other."""

    def __init__(self) -> None:
        self._pages: list[object] = []
        self._parts = 0
        """Of all pages so far."""
        self._places: dict[str, bytearray] = {}
        self._lasts: dict[str, int] = {}
        """Term → the last part that has it."""
        self._formulas: list[tuple[int, tuple[IndexedFormula, ...]]] = []

    def add(self, page: IndexedPage, record: SearchRecord) -> None:
        """Add the next page."""
        if record.formulas:
            self._formulas.append((len(self._pages), record.formulas))
        self._pages.append([page.url, page.title, [[part.id, part.heading] for part in record.sections]])
        start, places, lasts = self._parts, self._places, self._lasts
        for term, first, last, rest in _page_places(page, record):
            known = places.get(term)
            if known is None:
                known = places[term] = bytearray()
            known += (step(start + first - lasts.get(term, -1)) + rest).encode()
            lasts[term] = start + last
        self._parts += len(record.sections)

    def close(self, macros: Mapping[str, str]) -> IndexFiles:
        """The files of what was added."""
        count = count_files(len(self._pages))
        divided: list[list[str]] = [[] for _ in range(count)]
        for term in sorted(self._places):
            divided[file_of(term, count)].append(term)
        where = self._places
        files = (
            _json([" ".join(terms), " ".join(where[term].decode() for term in terms)]) for terms in divided
        )
        return IndexFiles(_json(self._pages), tuple(files), self._formula_file(macros))

    def _formula_file(self, macros: Mapping[str, str]) -> bytes:
        all_formulas = (formula for _, formulas in self._formulas for formula in formulas)
        counts = Counter(token for formula in all_formulas for token in formula.tokens.split())
        ordered = sorted(counts, key=lambda token: (-counts[token], token))[: len(_NAMES)]
        names = dict(zip(ordered, _NAMES, strict=False))
        return _json(
            {
                "tokens": " ".join(ordered),
                "names": "".join(names.values()),
                "variables": "".join(names[token] for token in ordered if is_variable(token)),
                "signs": dict(sorted(typed_names(names).items())),
                "takes": taken_arguments(),
                "macros": {name.removeprefix("\\"): tex for name, tex in sorted(macros.items())},
                "formulas": [
                    [page, [_formula_row(formula, names) for formula in formulas]]
                    for page, formulas in self._formulas
                ],
            }
        )


def _formula_row(formula: IndexedFormula, names: Mapping[str, str]) -> list[object]:
    code = "".join(names.get(token, "") for token in formula.tokens.split())
    return [formula.section, formula.index, formula.kind, formula.id, formula.number, code]


def _page_places(page: IndexedPage, record: SearchRecord) -> Iterator[tuple[str, int, int, str]]:
    """Term, first and last section, and the rest of its places; with the terms of the title and of tags."""
    own = dict.fromkeys(split_terms(" ".join(page.tags)), HEADING)
    own.update(dict.fromkeys(split_terms(page.title), TITLE))
    columns = (record.terms, record.firsts, record.lasts, record.rests)
    for term, first, last, rest in zip(*(column.split() for column in columns), strict=True):
        weight = own.pop(term, "") if own else ""
        if not weight:
            yield term, int(first), int(last), rest
        elif first == "0":
            yield term, 0, int(last), weight + rest[1:]
        else:
            yield term, 0, int(last), weight + step(int(first)) + rest
    yield from ((term, 0, 0, weight) for term, weight in own.items())


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
