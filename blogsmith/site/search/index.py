"""The search index as browsers load it: pages and their sections, terms in several files, formulas.

The index is JSON, made in one pass over the records of pages. The occurrences of a term are a string of
steps from one page to the next, each with the sections of the page that contain it (`encode_occurrences`).
For example, `A.2BF` means once before all headings of the first page, and in sections 2 and 3 of the second
page. Each page counts its own sections, so an edit of a page changes only its own part. Terms are divided
into files by their first characters, so that a search loads only the few files it needs. Formulas are few and
short, so they are in a single file.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from hashlib import sha256

from msgspec import Struct

from ...base.patterns import lazy_pattern
from ...tex.on_demand import argument_kinds, input_names
from .page_record import (
    HEADING,
    TITLE,
    IndexedFormula,
    SearchRecord,
    SectionName,
    encode_step,
    read_record,
    set_first_weight,
    split_terms,
)

FEW_PAGES = 30
"""Up to this number of pages, all terms are in one file."""
MANY_PAGES = 300
"""Minimum number of pages for which terms are split into several files, by their first two characters."""
NAMES = (
    *(chr(code) for code in range(0x23, 0x7F) if code != 0x5C),
    *(chr(code) for code in range(0x100, 0x300)),
    *(chr(code) for code in range(0x4E00, 0x9F00)),
)
"""Characters that encode tokens of formulas, those with short UTF-8 first. JSON escapes none of them."""

_EMPTY = SearchRecord((SectionName("", ""),), "", "", (), (0,))
"""Empty record, used for pages whose record cannot be read."""
_ORDER_DIGITS = 8
_SHORT = 8
"""Maximum number of characters of a formula that is too short to be an example query."""
_TOKEN_GAP = lazy_pattern(r"(?<!\w\w) (?!\w\w)")
_WORD = lazy_pattern(r"[a-z]{2,}")


class IndexedPage(Struct, frozen=True):
    """A searchable page."""

    url: str
    """URL with base path."""
    title: str
    tags: tuple[str, ...]
    record: bytes
    """Compressed search record, as `make_record` returns it."""

    def read(self) -> SearchRecord:
        """Return the record of the page, or an empty record if it cannot be read."""
        return read_record(self.record) or _EMPTY


class PageFormulas(Struct, frozen=True):
    """The formulas of one page."""

    page: int
    """Index of the page in the search index."""
    formulas: tuple[IndexedFormula, ...]


class SearchIndex(Struct, frozen=True, dict=True):
    """The search index of one build."""

    pages: Sequence[IndexedPage]
    macros: Mapping[str, str]
    """TeX macros of the site, which readers may type in a search."""

    @cached_property
    def files(self) -> Mapping[str, bytes]:
        """File name → content. All files are made on first access, since records are large and should be read
        once."""
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
                # these lists grow in place, because most terms are on many pages
                known = places.setdefault(term, bytearray())
                known += (encode_step(number - lasts.get(term, -1)) + written).encode()
                lasts[term] = number
        divided: list[dict[str, str]] = [{} for _ in range(count)]
        for term in sorted(places):
            divided[term_file_number(term, count)][term] = places[term].decode()
        names = formula_names(formulas)
        return {
            "pages": pages_file(order, rows, names, example_queries(self.pages, formulas)),
            "formulas": formula_file(order, formulas, names, self.macros),
            **{terms_name(number): terms_file(order, part) for number, part in enumerate(divided)},
        }


def terms_name(number: int) -> str:
    """Return the name of a file of terms."""
    return f"terms-{number}"


def count_files(pages: int) -> int:
    """Return into how many files the terms of a site with this number of pages are divided."""
    return 1 if pages <= FEW_PAGES else 16 if pages < MANY_PAGES else 64


def term_file_number(term: str, files: int) -> int:
    """Return the number of the file that contains a term. `fileOf` in `search-words.js` must agree."""
    if files == 1:
        return 0
    first = ord(term[0])
    # in other scripts, one character selects as few terms as two letters do
    second = ord(term[1]) if files > 16 and first < 128 and len(term) > 1 else 0
    return (first * 31 + second) % files


def page_order(urls: Iterable[str]) -> str:
    """Return a digest of the pages and their order. Index files with another digest come from another
    build."""
    return sha256("\n".join(urls).encode("utf-8", "replace")).hexdigest()[:_ORDER_DIGITS]


def page_row(page: IndexedPage, record: SearchRecord) -> list[object]:
    """Return the entry of a page in the list of pages: its URL, its title, and for each section its id, its
    heading and, if not 0, the number of its excerpt file."""
    parts = zip(record.sections, record.chunks, strict=True)
    # most pages have one file of excerpts
    return [page.url, page.title, [[part.id, part.heading, *([at] if at else [])] for part, at in parts]]


def page_places(page: IndexedPage, record: SearchRecord) -> dict[str, str]:
    """Map each term to its occurrences on a page, including terms of its title and tags."""
    found = dict(zip(record.terms.split(), record.places.split(), strict=True))
    own = dict.fromkeys(split_terms(" ".join(page.tags)), HEADING)
    own.update(dict.fromkeys(split_terms(page.title), TITLE))
    for term, weight in own.items():
        found[term] = set_first_weight(found.get(term, weight), weight)
    return found


def formula_names(formulas: Iterable[PageFormulas]) -> dict[str, str]:
    """Map each token of formulas to the character that encodes it, the most frequent token first."""
    found = (formula.tokens.split() for page in formulas for formula in page.formulas)
    counts = Counter(token for tokens in found for token in tokens)
    ordered = sorted(counts, key=lambda token: (-counts[token], token))
    return dict(zip(ordered, NAMES, strict=False))


def example_queries(pages: Sequence[IndexedPage], formulas: Iterable[PageFormulas]) -> list[str]:
    """Return queries for readers who do not know what they may type: the two most frequent tags, and a short
    numbered formula."""
    tags = Counter(tag for page in pages for tag in page.tags)
    tokens = {one.tokens for page in formulas for one in page.formulas if one.number}
    texts = sorted(_TOKEN_GAP.sub("", text) for text in tokens)
    best = sorted(texts, key=lambda text: (len(text) < _SHORT, len(text)))[:1]
    return [*sorted(tags, key=lambda tag: (-tags[tag], tag))[:2], *best]


def pages_file(
    order: str, rows: Sequence[object], names: Mapping[str, str], examples: Sequence[str]
) -> bytes:
    """Return the file of pages with their sections, of words that readers may type instead of symbols, and of
    examples. rows: from `page_row`. names: from `formula_names`."""
    typed = {name for name, token in _signs(names).items() if token and len(name) > 1}
    words = typed | {token for token in names if _WORD.fullmatch(token)}
    return to_json({"order": order, "pages": rows, "names": " ".join(sorted(words)), "examples": examples})


def terms_file(order: str, places: Mapping[str, str]) -> bytes:
    """Return a file of sorted terms and their occurrences in the site."""
    return to_json({"order": order, "terms": " ".join(places), "places": " ".join(places.values())})


def formula_file(
    order: str, formulas: Sequence[PageFormulas], names: Mapping[str, str], macros: Mapping[str, str]
) -> bytes:
    """Return the file of formulas, encoded as one character per token, with the tokens and their names."""
    return to_json(
        {
            "order": order,
            "tokens": " ".join(names),
            "names": "".join(names.values()),
            "signs": dict(sorted(_signs(names).items())),
            "takes": argument_kinds(),
            "macros": {name.removeprefix("\\"): tex for name, tex in sorted(macros.items())},
            "formulas": [
                [page.page, [_formula_row(formula, names) for formula in page.formulas]]
                for page in formulas
                if page.formulas
            ],
        }
    )


def _signs(names: Mapping[str, str]) -> dict[str, str]:
    """Map words that readers may type to the tokens that they mean, for tokens that occur in the site."""
    return {"infinity": "∞", "sqrt": "√", **input_names(names)}


def _formula_row(formula: IndexedFormula, names: Mapping[str, str]) -> list[object]:
    code = "".join(names.get(token, "") for token in formula.tokens.split())
    return [formula.section, formula.index, formula.kind, formula.id, formula.number, code]


def to_json(value: object) -> bytes:
    """Return `value` as a file of the index."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
