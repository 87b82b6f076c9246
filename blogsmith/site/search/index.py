"""The index of a site, as browsers load it: pages and their parts, terms in several files, formulas.

All of it is JSON, made of the records of pages by going through them once. Where a term stands is a text of
steps from one page to the next, each with the sections of the page that have it (`section_places`): `A.2BF`
is once before all headings of the first page, and of the second page in sections 2 and 3. As each page counts
its own sections, an edit of one changes what stands of it alone. Terms are divided by how they begin, so a
search loads the few files that can hold what it looks for; formulas are few and short and lie in one.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from hashlib import sha256

from msgspec import Struct

from ...base.patterns import lazy_pattern
from ...tex.on_demand import taken_arguments, typed_names
from .page_record import (
    HEADING,
    TITLE,
    IndexedFormula,
    SearchRecord,
    SectionName,
    in_first_section,
    read_record,
    split_terms,
    step,
)

FEW_PAGES = 30
"""Up to so many all terms are in one file."""
MANY_PAGES = 300
"""From so many on they are divided by their first two characters."""
NAMES = (
    *(chr(code) for code in range(0x23, 0x7F) if code != 0x5C),
    *(chr(code) for code in range(0x100, 0x300)),
    *(chr(code) for code in range(0x4E00, 0x9F00)),
)
"""Characters that stand for tokens of formulas, the shorter ones first; nothing changes them on the way."""

_EMPTY = SearchRecord((SectionName("", ""),), "", "", ())
"""Of a page whose record cannot be read."""
_ORDER_DIGITS = 8
_WORD = lazy_pattern(r"[a-z]{2,}")


class IndexedPage(Struct, frozen=True):
    """A page that can be found."""

    url: str
    """With base path."""
    title: str
    tags: tuple[str, ...]
    record: bytes
    """As `make_record` gives it."""

    def read(self) -> SearchRecord:
        """Its record; an empty one if it cannot be read."""
        return read_record(self.record) or _EMPTY


class PageFormulas(Struct, frozen=True):
    """The formulas of one page."""

    page: int
    """How many others stand before it in the index."""
    formulas: tuple[IndexedFormula, ...]


class SearchIndex(Struct, frozen=True, dict=True):
    """Belongs to one version of the site."""

    pages: Sequence[IndexedPage]
    macros: Mapping[str, str]
    """Of the site: readers may type them."""

    @cached_property
    def files(self) -> Mapping[str, bytes]:
        """Name → content, all at once when one is asked for: records are large, so each is read once."""
        order = page_order(page.url for page in self.pages)
        count = count_files(len(self.pages))
        rows: list[object] = []
        formulas: list[PageFormulas] = []
        places: dict[str, bytearray] = {}
        lasts: dict[str, int] = {}
        for number, page in enumerate(self.pages):
            record = page.read()
            rows.append(page_row(page, record))
            formulas.append(PageFormulas(number, record.formulas))
            for term, written in page_places(page, record).items():
                # most terms stand on many pages
                known = places.setdefault(term, bytearray())
                known += (step(number - lasts.get(term, -1)) + written).encode()
                lasts[term] = number
        divided: list[dict[str, str]] = [{} for _ in range(count)]
        for term in sorted(places):
            divided[file_of(term, count)][term] = places[term].decode()
        names = formula_names(formulas)
        return {
            "pages": pages_file(order, rows, names),
            "formulas": formula_file(order, formulas, names, self.macros),
            **{terms_name(number): terms_file(order, part) for number, part in enumerate(divided)},
        }


def terms_name(number: int) -> str:
    """The name of one of the files of terms."""
    return f"terms-{number}"


def count_files(pages: int) -> int:
    """Over how many files the terms of a site are divided."""
    return 1 if pages <= FEW_PAGES else 16 if pages < MANY_PAGES else 64


def file_of(term: str, files: int) -> int:
    """In which of so many files a term is; `fileOf` of `search-words.js` says the same."""
    if files == 1:
        return 0
    first = ord(term[0])
    # of other scripts one character says as much as two letters
    second = ord(term[1]) if files > 16 and first < 128 and len(term) > 1 else 0
    return (first * 31 + second) % files


def page_order(urls: Iterable[str]) -> str:
    """Names the pages of an index and how they are counted; files with another one belong to another site."""
    return sha256("\n".join(urls).encode("utf-8", "replace")).hexdigest()[:_ORDER_DIGITS]


def page_row(page: IndexedPage, record: SearchRecord) -> list[object]:
    """What browsers know of a page, as it stands in the file of pages."""
    return [page.url, page.title, [[part.id, part.heading] for part in record.sections]]


def page_places(page: IndexedPage, record: SearchRecord) -> dict[str, str]:
    """Term → where it stands on a page, with the terms of its title and of its tags."""
    found = dict(zip(record.terms.split(), record.places.split(), strict=True))
    own = dict.fromkeys(split_terms(" ".join(page.tags)), HEADING)
    own.update(dict.fromkeys(split_terms(page.title), TITLE))
    for term, weight in own.items():
        found[term] = in_first_section(found.get(term, weight), weight)
    return found


def formula_names(formulas: Iterable[PageFormulas]) -> dict[str, str]:
    """Token of formulas → the character that stands for it, the most frequent token first."""
    found = (formula.tokens.split() for page in formulas for formula in page.formulas)
    counts = Counter(token for tokens in found for token in tokens)
    ordered = sorted(counts, key=lambda token: (-counts[token], token))
    return dict(zip(ordered, NAMES, strict=False))


def pages_file(order: str, rows: Sequence[object], names: Mapping[str, str]) -> bytes:
    """The pages with their parts, and which words readers may mean as formulas.

    rows: as `page_row` gives them. names: as `formula_names` gives them.
    """
    typed = {name for name, token in _signs(names).items() if token and len(name) > 1}
    words = typed | {token for token in names if _WORD.fullmatch(token)}
    return to_json({"order": order, "pages": rows, "names": " ".join(sorted(words))})


def terms_file(order: str, places: Mapping[str, str]) -> bytes:
    """Terms, sorted, and where each stands in the site."""
    return to_json({"order": order, "terms": " ".join(places), "places": " ".join(places.values())})


def formula_file(
    order: str, formulas: Sequence[PageFormulas], names: Mapping[str, str], macros: Mapping[str, str]
) -> bytes:
    """Formulas as texts of one character a token, with the tokens and how readers may name them."""
    return to_json(
        {
            "order": order,
            "tokens": " ".join(names),
            "names": "".join(names.values()),
            "signs": dict(sorted(_signs(names).items())),
            "takes": taken_arguments(),
            "macros": {name.removeprefix("\\"): tex for name, tex in sorted(macros.items())},
            "formulas": [
                [page.page, [_formula_row(formula, names) for formula in page.formulas]]
                for page in formulas
                if page.formulas
            ],
        }
    )


def _signs(names: Mapping[str, str]) -> dict[str, str]:
    """How readers may name tokens that there are."""
    return {"infinity": "∞", "sqrt": "√", **typed_names(names)}


def _formula_row(formula: IndexedFormula, names: Mapping[str, str]) -> list[object]:
    code = "".join(names.get(token, "") for token in formula.tokens.split())
    return [formula.section, formula.index, formula.kind, formula.id, formula.number, code]


def to_json(value: object) -> bytes:
    """A file of an index."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
