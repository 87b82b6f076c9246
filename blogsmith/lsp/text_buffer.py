r"""Content of a document, with positions in the units of the client, and edits by the client.

The protocol counts columns in code units of an encoding that client and server agree on; we count characters.
Lines end with `\n`, `\r\n` or `\r` only, whereas `str.splitlines` recognises more line ends. Source: Language
Server Protocol 3.17, "Text Documents".
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property

from lsprotocol.types import (
    Position,
    PositionEncodingKind,
    Range,
    TextDocumentContentChangeEvent,
    TextDocumentContentChangePartial,
)

from ..api.editing import Place, lazy_pattern

_LINE_END = lazy_pattern(r"\r\n|\n|\r")
_CODECS = {PositionEncodingKind.Utf8: "utf-8", PositionEncodingKind.Utf16: "utf-16-le"}


def count_units(text: str, encoding: str) -> int:
    """Return the number of code units in a text."""
    if encoding == PositionEncodingKind.Utf32 or text.isascii():
        return len(text)
    if encoding == PositionEncodingKind.Utf8:
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(char > "\uffff" for char in text)


def count_characters(text: str, units: int, encoding: str) -> int:
    """Return the number of whole characters in the first `units` code units of a text."""
    if units <= 0:
        return 0
    if encoding == PositionEncodingKind.Utf32 or text.isascii():
        return min(units, len(text))
    count = 0
    for number, char in enumerate(text):
        count += count_units(char, encoding)
        if count > units:
            return number
    return len(text)


class TextBuffer:
    """Immutable content of a document."""

    def __init__(self, text: str, encoding: str = "utf-16", version: int | None = None) -> None:
        self.text = text
        self.encoding = encoding
        self.version = version
        """Version number from the client; None if the file is not open."""

    @cached_property
    def _bounds(self) -> tuple[list[int], list[int]]:
        """Two lists of offsets: where lines start, and where they end, without their line ends."""
        starts, ends = [0], []
        for found in _LINE_END.finditer(self.text):
            ends.append(found.start())
            starts.append(found.end())
        return starts, [*ends, len(self.text)]

    @property
    def line_count(self) -> int:
        """Number of lines, at least one."""
        return len(self._bounds[0])

    def line(self, number: int) -> str:
        """Return a line, counted from 0, without its line end. Return an empty string if the line does not
        exist."""
        starts, ends = self._bounds
        return self.text[starts[number] : ends[number]] if 0 <= number < len(starts) else ""

    def offset(self, position: Position) -> int:
        """Return the offset of a position. If its column is after the end of the line, return the end of the
        line."""
        starts, ends = self._bounds
        if position.line >= len(starts):
            return len(self.text)
        number = max(0, position.line)
        line = self.text[starts[number] : ends[number]]
        return starts[number] + count_characters(line, position.character, self.encoding)

    def position(self, offset: int) -> Position:
        """Return the position of an offset."""
        starts, ends = self._bounds
        number = bisect_right(starts, max(0, min(offset, len(self.text)))) - 1
        before = self.text[starts[number] : min(offset, ends[number])]
        return Position(number, count_units(before, self.encoding))

    def range(self, start: int, end: int) -> Range:
        """Return the range of the characters from `start` to `end`."""
        return Range(self.position(start), self.position(end))

    def place_offset(self, place: Place) -> int:
        """Return the offset of a place, which counts lines and characters from 1."""
        starts, ends = self._bounds
        number = min(max(0, place.line - 1), len(starts) - 1)
        return min(starts[number] + max(0, place.column - 1), ends[number])

    def place_range(self, place: Place, length: int | None = None) -> Range:
        """Return the range of a place. It does not continue beyond its line. length: length in characters,
        used instead of that of the place."""
        start = self.place_offset(place)
        ends = self._bounds[1]
        number = min(max(0, place.line - 1), len(ends) - 1)
        return self.range(start, min(start + (place.length if length is None else length), ends[number]))

    def line_range(self, first: int, last: int) -> Range:
        """Return the range of whole lines, counted from 0, without the line end of the last."""
        starts, ends = self._bounds
        last = min(last, len(starts) - 1)
        return self.range(starts[min(first, last)], ends[last])

    def apply(self, changes: Iterable[TextDocumentContentChangeEvent], version: int | None) -> TextBuffer:
        """Return the content after changes by a client. Each change refers to the result of the
        previous one."""
        buffer = self
        for change in changes:
            text = change.text
            if isinstance(change, TextDocumentContentChangePartial):
                start, end = sorted((buffer.offset(change.range.start), buffer.offset(change.range.end)))
                text = buffer.text[:start] + text + buffer.text[end:]
            buffer = TextBuffer(text, self.encoding, version)
        return TextBuffer(buffer.text, self.encoding, version)


def choose_encoding(offered: Sequence[str] | None) -> str:
    """Return the first of the client's position encodings that the server supports; UTF-16 if there is none.
    offered: encodings, the client's preferred one first."""
    known = (PositionEncodingKind.Utf8, PositionEncodingKind.Utf16, PositionEncodingKind.Utf32)
    return next((one for one in offered or () if one in known), PositionEncodingKind.Utf16)
