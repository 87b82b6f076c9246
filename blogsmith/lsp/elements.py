"""Finds the construct at a location of a page, from its tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsprotocol.types import Position
from markdown_it.token import Token
from msgspec import Struct

from ..api.editing import (
    Cell,
    Citation,
    CitationItem,
    Heading,
    LinkTargetPlace,
    Math,
    Parsed,
    Place,
    Shortcode,
    TextMap,
    Value,
    WikiLink,
    XRef,
    lazy_pattern,
)
from .text_buffer import TextBuffer

Element = Math | XRef | CitationItem | LinkTargetPlace | WikiLink | Shortcode | Cell | Value
_NOTE = lazy_pattern(r"\[\^([^\]\s]+)\]")
_DELIMITERS = 2
"""Number of delimiter characters on each side that count as part of a formula."""


class LocatedElement(Struct, frozen=True):
    """A construct and its location."""

    record: Element
    place: Place
    """Location of the construct, or of its first line."""


def all_tokens(parsed: Parsed) -> Iterator[Token]:
    """Yield every token of a page, starting with those of its title and description."""
    yield from _walk([*parsed.title, *parsed.description, *parsed.tokens])


def _walk(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _walk(token.children or ())


def all_elements(parsed: Parsed) -> Iterator[LocatedElement]:
    """Yield every construct of a page for which the parser made a record."""
    for token in all_tokens(parsed):
        for record in token.meta.values():
            if isinstance(record, Citation):
                yield from (LocatedElement(one, one.place) for one in record.items if one.place)
            elif isinstance(record, Math | Value):
                yield LocatedElement(record, record.origin.place(0, len(record.origin.text)))
            elif isinstance(record, XRef | LinkTargetPlace | WikiLink | Shortcode | Cell):
                yield LocatedElement(record, record.place)


def find_element(parsed: Parsed, buffer: TextBuffer, offset: int) -> LocatedElement | None:
    """Return the construct that contains a character. If there are several, return the one that
    begins last."""
    position = buffer.position(offset)
    line = position.line + 1
    start = buffer.offset(buffer.line_range(position.line, position.line).start)
    column = offset - start + 1
    found = [one for one in all_elements(parsed) if _contains(one, line, column, buffer)]
    return max(found, key=lambda one: (one.place.line, one.place.column), default=None)


def _contains(found: LocatedElement, line: int, column: int, buffer: TextBuffer) -> bool:
    record, place = found.record, found.place
    if isinstance(record, Math):
        return _is_in_text(record.origin, line, column)
    if isinstance(record, Cell):
        last = record.first_line + record.code.count("\n")
        return place.line <= line <= last and not record.file
    length = place.length
    if isinstance(record, Shortcode):
        length = max(length, len(record.source))
    elif isinstance(record, LinkTargetPlace):
        # the place is that of the text or start of a link; the URL follows it
        rest = buffer.line(place.line - 1)[place.column - 1 :]
        at = rest.find(record.target)
        length = at + len(record.target) + 1 if at >= 0 else length
    return place.line == line and place.column <= column <= place.column + length


def _is_in_text(origin: TextMap, line: int, column: int) -> bool:
    pieces = origin.text.split("\n")
    for number, (at, start) in enumerate(origin.starts[: len(pieces)]):
        if at == line:
            more = _DELIMITERS if number in (0, len(pieces) - 1) else 0
            return start - more <= column <= start + len(pieces[number]) + more
    return False


def offset_in_formula(math: Math, buffer: TextBuffer, offset: int) -> int:
    """Convert an offset in a file to an offset in a formula's TeX; -1 if it is outside."""
    position = buffer.position(offset)
    column = offset - buffer.offset(Position(position.line, 0)) + 1
    at = 0
    for number, piece in enumerate(math.origin.text.split("\n")):
        line, first = math.origin.starts[min(number, len(math.origin.starts) - 1)]
        if line == position.line + 1:
            return at + column - first
        at += len(piece) + 1
    return -1


def find_footnote(buffer: TextBuffer, offset: int) -> str:
    """Return the name of the footnote reference at a character, or an empty string."""
    position = buffer.position(offset)
    column = offset - buffer.offset(Position(position.line, 0))
    found = (one for one in _NOTE.finditer(buffer.line(position.line)) if one.start() <= column <= one.end())
    return next((one[1] for one in found), "")


def all_headings(parsed: Parsed) -> Iterator[tuple[Heading, Token]]:
    """Yield the headings of a page with their tokens."""
    for token in parsed.tokens:
        record = token.meta.get("heading")
        if isinstance(record, Heading):
            yield record, token
