"""The search record of one page, stored in the cache with the page: after a change, other pages need not be
read again."""

from __future__ import annotations

import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import TypeVar

import msgspec

from ...base.patterns import lazy_pattern
from ...model.letters import UNSPACED, find_words, remove_invisible
from ...tex.on_demand import formula_tokens, split_rows
from .page_text import NumberedRow, PageFormula, PageSection, read_sections

FEWEST_TOKENS = 3
"""Minimum number of tokens of a searchable formula; nobody searches for a single letter."""
TEXT_ONCE, TEXT_TWICE, TEXT_OFTEN, HEADING, TITLE = "ABCDE"
"""Letters for the weight of a term at its first occurrence on a page. `WEIGHTS` in `search-words.js` has the
numbers."""
_FURTHER = str.maketrans("ABCDE", "FGHIJ")
"""Translation of these letters into the letters for further occurrences of a term on the same page."""

CHUNK = 12_000
"""Number of characters of a page after which the next file of excerpts begins. A search result loads only one
of these small files."""
_LEVEL = 1
"""Compression level of zlib."""
_DIGEST_BYTES = 12
_START = _DIGEST_BYTES + 8
"""Length of the head of a packed record: digest, size of the record, number of files of excerpts."""
_MOST_BYTES = 64 * 1024 * 1024
Packed = TypeVar("Packed")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


class SectionName(msgspec.Struct, frozen=True, array_like=True):
    """A section of a page, as shown in search results."""

    id: str
    """Id of the heading; empty for the content before the first heading."""
    heading: str


class IndexedFormula(msgspec.Struct, frozen=True, array_like=True):
    """A searchable formula."""

    section: int
    index: int
    """Index of the formula in its section, as in `PageFormula`."""
    kind: int
    """0 for inline math, 1 for display math, 2 for numbered display math."""
    id: str
    number: str
    tokens: str
    """Tokens of the formula, separated by spaces."""


class SearchRecord(msgspec.Struct, frozen=True, array_like=True):
    """The searchable content of a page."""

    sections: tuple[SectionName, ...]
    terms: str
    """Terms of the page, separated by spaces."""
    places: str
    """Occurrences of each term, as written by `encode_occurrences`; separated by spaces."""
    formulas: tuple[IndexedFormula, ...]
    chunks: tuple[int, ...] = ()
    """Number of the file of excerpts of each section."""


def make_record(html: str) -> bytes:
    """Return the packed search record of a page, with its excerpts. html: its finished content."""
    sections = read_sections(html)
    chunks = _divide(sections)
    texts: list[dict[str, str]] = [{} for _ in range(chunks[-1] + 1)]
    for number, (section, chunk) in enumerate(zip(sections, chunks, strict=True)):
        texts[chunk][str(number)] = section.shown
    record, shown = _pack(_record(sections, chunks)), _pack(texts)
    sizes = len(record).to_bytes(4) + len(texts).to_bytes(4)
    packed = sizes + record + shown
    return blake2b(packed, digest_size=_DIGEST_BYTES).digest() + packed


def read_record(data: bytes) -> SearchRecord | None:
    """Return the record packed by `make_record`, or None if the data is invalid."""
    return _unpack(data[_START : _START + _record_size(data)], SearchRecord)


def read_excerpts(data: bytes) -> list[dict[str, str]]:
    """Return the excerpts from the result of `make_record`: for each file of excerpts, a map from the number
    of a section to its HTML. Return an empty list if `data` is invalid."""
    return _unpack(data[_START + _record_size(data) :], list[dict[str, str]]) or []


def count_chunks(data: bytes) -> int:
    """Return the number of files of excerpts of a packed record, without decompressing it."""
    return int.from_bytes(data[_DIGEST_BYTES + 4 : _START])


def _record_size(data: bytes) -> int:
    return int.from_bytes(data[_DIGEST_BYTES : _DIGEST_BYTES + 4])


def _unpack(data: bytes, kind: type[Packed]) -> Packed | None:
    try:
        inflater = zlib.decompressobj()
        inflated = inflater.decompress(data, _MOST_BYTES)
        return msgspec.msgpack.decode(inflated, type=kind) if inflater.eof else None
    except (zlib.error, msgspec.MsgspecError):
        return None


def _divide(sections: Sequence[PageSection]) -> tuple[int, ...]:
    """Return the number of the file of excerpts of each section, from 0."""
    numbers, size = [0], len(sections[0].shown)
    for section in sections[1:]:
        is_full = size + len(section.shown) > CHUNK
        numbers.append(numbers[-1] + is_full)
        size = len(section.shown) + (0 if is_full else size)
    return tuple(numbers)


def record_digest(data: bytes) -> str:
    """Return the digest of a packed record without decompressing it."""
    return data[:_DIGEST_BYTES].hex()


def encode_occurrences(weights: Mapping[int, str]) -> str:
    """Encode the weights of a term in the sections of a page.

    weights: section number, from 0 → `TITLE` or another weight; sorted, not empty. The first section is
    written as a point and its number, both omitted for section 0, then its weight. Each further section is
    written as its distance from the previous one, then its weight in the other set of letters. Examples: `B`,
    `.2AF`, `.1A3G`.
    """
    (first, weight), *others = weights.items()
    written, last = (f".{to_base_36(first)}" if first else "") + weight, first
    for section, weight in others:
        written += encode_step(section - last) + weight.translate(_FURTHER)
        last = section
    return written


def set_first_weight(places: str, weight: str) -> str:
    """Return `places`, from `encode_occurrences`, with this weight set for section 0."""
    if not places.startswith("."):
        return weight + places[1:]
    digits = len(places) - len(places[1:].lstrip(_DIGITS))
    own = places[digits].translate(_FURTHER)
    return weight + encode_step(int(places[1:digits], 36)) + own + places[digits + 1 :]


def encode_step(distance: int) -> str:
    """Encode the distance to the next item of a list in base 36. A distance of 1 is an empty string."""
    return "" if distance == 1 else to_base_36(distance)


def to_base_36(number: int) -> str:
    """Return a number (0 or greater) in base 36."""
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits or "0"


def _pack(value: object) -> bytes:
    return zlib.compress(msgspec.msgpack.encode(value), _LEVEL)


def _record(sections: Sequence[PageSection], chunks: tuple[int, ...]) -> SearchRecord:
    found: dict[str, dict[int, str]] = {}
    for number, section in enumerate(sections):
        for term, weight in _weights(section).items():
            found.setdefault(term, {})[number] = weight
    return SearchRecord(
        sections=tuple(SectionName(section.id, section.heading) for section in sections),
        terms=" ".join(found),
        places=" ".join(map(encode_occurrences, found.values())),
        formulas=tuple(_formulas(sections)),
        chunks=chunks,
    )


def _weights(section: PageSection) -> dict[str, str]:
    counts = Counter(split_terms(section.text))
    found = {
        term: TEXT_ONCE if count == 1 else TEXT_TWICE if count < 4 else TEXT_OFTEN
        for term, count in counts.items()
    }
    found.update(dict.fromkeys(split_terms(section.heading), HEADING))
    return found


def _formulas(sections: Sequence[PageSection]) -> Iterator[IndexedFormula]:
    """Yield each distinct formula of a page once, in order, at the occurrence with the highest weight."""
    best: dict[str, IndexedFormula] = {}
    for number, section in enumerate(sections):
        for formula in section.formulas:
            for found in _rows(formula, number):
                known = best.get(found.tokens)
                if found.tokens.count(" ") >= FEWEST_TOKENS - 1 and (not known or known.kind < found.kind):
                    best[found.tokens] = found
    yield from sorted(best.values(), key=lambda found: (found.section, found.index))


def _rows(formula: PageFormula, section: int) -> Iterator[IndexedFormula]:
    """Yield a formula, or each of its rows if several have an anchor or number."""
    rows = formula.rows or (NumberedRow(""),)
    found = [formula.tokens]
    if len(rows) > 1:
        split = [row.content for row in split_rows(formula.tex).rows]
        found = [formula_tokens(tex) for tex in split] if len(split) == len(rows) else found
    for row, tokens in zip(rows, found, strict=False):
        kind = 2 if row.number else 1 if formula.is_display else 0
        yield IndexedFormula(section, formula.index, kind, row.id, row.number, " ".join(tokens))


# Splitting of text into terms: words without case and diacritics, and pairs of characters in scripts without
# spaces. `terms` in the themes' `search-words.js` does the same for the query of a reader.


LONGEST = 40
"""Maximum number of characters of a term; nobody types longer words."""

_DIACRITICS = lazy_pattern("[\u0300-\u036f]+")
_PARTS = lazy_pattern(rf"[{UNSPACED}]+|[^{UNSPACED}]+")
_HAS_PAIRED = lazy_pattern(rf"[{UNSPACED}]")


def fold(text: str) -> str:
    """Return `text` in lower case without diacritics: `Émile` → `emile`, `Straße` → `strasse`."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", remove_invisible(text).lower())
    return unicodedata.normalize("NFC", _DIACRITICS.sub("", plain)).replace("ß", "ss").replace("ς", "σ")


def split_terms(text: str) -> list[str]:
    """Return the terms of `text` in order.

    Single ASCII letters and digits are left out, since formulas have their own index.
    """
    folded = fold(text)
    words = find_words(folded)
    if folded.isascii():
        return [word for word in words if 1 < len(word) <= LONGEST]
    if not _HAS_PAIRED.search(folded):
        return [word for word in words if 1 < len(word) <= LONGEST or (len(word) == 1 and not word.isascii())]
    return [term for word in words for part in _PARTS.findall(word) for term in _split_part(part)]


def _split_part(part: str) -> list[str]:
    """Return the overlapping pairs of characters in a run of text whose script has no spaces, such as
    Chinese. Return any other run as one term."""
    if _HAS_PAIRED.match(part):
        return [part[at : at + 2] for at in range(max(1, len(part) - 1))]
    return [part] if len(part) <= LONGEST and (len(part) > 1 or not part.isascii()) else []
