"""Writer of Markdown lines that records where each part of a line comes from in the source."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import takewhile

from msgspec import Struct

from ...base.patterns import lazy_pattern

_PREFIX = lazy_pattern(r"(?:[ \t]|>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))*")


class TranslatedLine(Struct, frozen=True):
    """A line of Markdown with its position in the source."""

    text: str
    line: int
    """0-based line number in the source."""
    anchors: tuple[tuple[int, int], ...]
    """(column in this line, column in the source) of each part of the line; both 0-based."""

    def source_column(self, column: int) -> int:
        """Convert a column of this line to a column of the source; both are 0-based."""
        at, there = max((pair for pair in self.anchors if pair[0] <= column), default=(0, 0))
        return there + column - at


class Container(Struct):
    """A quote, list item or footnote that contains the current line."""

    mark: str
    """Text at the start of the container's first line, such as `- `."""
    rest: str
    """Text at the start of all other lines, such as two spaces."""
    is_fresh: bool = True


class LineWriter:
    """Writes lines, which may be inside quotes and list items."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(at + 1 for at, char in enumerate(text) if char == "\n")]
        self._lines: list[TranslatedLine] = []
        self._pieces: list[tuple[str, int]] | None = None
        """Parts of the current line as (text, offset in the source); None if no line has started."""
        self._containers: list[Container] = []
        self._held: tuple[str, int] | None = None
        """Indentation, which is only written if text follows on the line, and its offset; None if there is
        none."""
        self._needs_gap = self._swallows_line = self._trims = self._is_flat = False

    def line_of(self, offset: int) -> int:
        """Return the 0-based line number of an offset in the source."""
        return bisect_right(self._starts, offset) - 1

    # The current line.

    def _put(self, text: str, offset: int) -> None:
        if not text:
            return
        self._trims = False
        if self._pieces is None:
            self._begin(offset)
        assert self._pieces is not None
        self._pieces.append((text, offset))

    def _begin(self, offset: int) -> None:
        if self._needs_gap and self._lines and self._lines[-1].text.strip(" \t>"):
            self._finish_line([(self._blank_prefix(), offset)])
        self._needs_gap = False
        prefix = "".join(one.mark if one.is_fresh else one.rest for one in self._containers)
        for one in self._containers:
            one.is_fresh = False
        self._pieces = [(prefix, offset)] if prefix else []
        if self._held:
            self._pieces.append(self._held)
        self._held = None

    def _blank_prefix(self) -> str:
        used = takewhile(lambda one: not one.is_fresh, self._containers)
        return "".join(one.rest for one in used).rstrip()

    def _finish_line(self, pieces: Iterable[tuple[str, int]]) -> None:
        line, anchors, column = -1, list[tuple[int, int]](), 0
        pieces = [piece for piece in pieces if piece[0]] or list(pieces)[:1]
        for text, offset in pieces:
            at = self.line_of(offset)
            # A line joined from several lines has only the positions of the first one.
            line = at if line < 0 else line
            if at == line:
                anchors.append((column, offset - self._starts[at]))
            column += len(text)
        text = "".join(piece[0] for piece in pieces)
        self._lines.append(TranslatedLine(text, max(line, 0), tuple(anchors)))

    def _newline(self, offset: int) -> None:
        """End the current line. Omit the line if its content was removed."""
        if self._pieces is not None:
            if self._swallows_line or self._containers:
                self._strip_end()
            self._finish_line(self._pieces)
            self._pieces = None
        elif not self._swallows_line:
            if not self._containers:
                self._end_paragraph(offset)
            self._finish_line([(self._blank_prefix(), offset)])
        self._held, self._swallows_line = None, False

    def _end_paragraph(self, offset: int) -> None:
        """Write footnotes and other blocks that follow a paragraph, if no container is open. Subclasses
        override this method."""

    def _strip_end(self, first: int = 0) -> None:
        """Remove spaces from the end of the current line. first: number of parts to leave unchanged."""
        pieces = self._pieces or []
        while len(pieces) > first and not pieces[-1][0].rstrip():
            pieces.pop()
        if self._pieces and len(pieces) > first:
            text, offset = self._pieces[-1]
            self._pieces[-1] = (text.rstrip(), offset)

    def _end_line(self, offset: int) -> None:
        if self._pieces is not None:
            self._newline(offset)

    # Copied text.

    def _copy(self, start: int, end: int, margin: int | None = None) -> None:
        """Copy a range of the source. margin: number of characters of indentation to remove from each line
        inside a container; None removes all indentation."""
        text, pos = self._text, start
        while True:
            stop = text.find("\n", pos, end)
            stop = end if stop < 0 else stop
            if (pos == 0 or text[pos - 1] == "\n") and (self._containers or self._is_flat):
                pos = self._skip_indent(pos, stop, margin)
            # Spaces between a block and text on the same line are removed: they are not indentation.
            follows_block = self._pieces is None and pos > 0 and text[pos - 1] != "\n"
            while (self._trims or follows_block) and pos < stop and text[pos] in " \t":
                pos += 1
            if pos < stop:
                self._put_part(pos, stop, is_last=stop == end)
            if stop == end:
                return
            if self._is_flat:
                self._put("" if self._trims else " ", stop)
            elif not self._trims:
                self._newline(stop)
            pos = stop + 1

    def _put_part(self, pos: int, stop: int, *, is_last: bool) -> None:
        part = self._text[pos:stop]
        if is_last and part.isspace() and self._pieces is None:
            self._held = (part, pos)
        else:
            self._put(part, pos)

    def _skip_indent(self, pos: int, stop: int, margin: int | None) -> int:
        quotes = (
            self._containers[0].rest.count(">") if self._containers and self._containers[0].mark == "" else 0
        )
        first = pos
        while pos < stop and (self._text[pos] in " \t" or (quotes and self._text[pos] == ">")):
            if margin is not None and not quotes and pos - first >= margin:
                break
            quotes -= self._text[pos] == ">"
            pos += 1
        return pos

    def _begin_block(self, offset: int) -> None:
        """Start a block on a new line. If the current line contains only markers of a Markdown list or quote,
        start the block on the current line instead. offset: offset of the block in the LaTeX source."""
        base = ""
        if self._pieces is not None:
            written = "".join(text for text, _ in self._pieces)
            prefix = "".join(one.rest for one in self._containers)
            own = _PREFIX.match(written, len(prefix))
            marks = own[0] if own else ""
            base = "".join(char if char in " \t>" else " " for char in marks)
            if len(prefix) + len(marks) < len(written):
                self._strip_end()
                self._newline(offset)
        elif self._held and self._follows_list_item():
            base, self._held = self._held[0], None
            self._put(base, offset)
        self._held = None
        self._containers.append(Container("", base, is_fresh=False))

    def _push(self, mark: str, rest: str, offset: int) -> None:
        """Open a container, on the current line if there is one. mark and rest: see `Container`."""
        self._containers.append(Container(mark, rest, is_fresh=self._pieces is None))
        if self._pieces is not None:
            self._put(mark, offset)

    def _follows_list_item(self) -> bool:
        for line in reversed(self._lines):
            if line.text.strip() and line.text[0] not in " \t":
                return line.text[0] in "-*+" or line.text[0].isdigit()
        return False

    def _end_block(self, offset: int) -> None:
        self._end_line(offset)
        self._containers.pop()
        self._needs_gap, self._swallows_line = True, True

    def _drop(self) -> None:
        self._swallows_line = True

    def _drop_blank_lines(self, first: int) -> None:
        while len(self._lines) > first and not self._lines[-1].text.strip(" \t>"):
            self._lines.pop()
