"""Apply fixes to the content of a file.

A fix is applied completely or not at all, and line endings are preserved. If two fixes overlap, only the
first is applied; the second can be applied after the file has been read again. The time grows with the size
of the file plus the number of edits, not with their product.
"""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from .fixes import TextEdit
from .model import Diagnostic, Place

_LINE_END = re.compile("\r\n|\r|\n")
_CONTEXT = 3
"""Number of context lines around a change."""


class LineChange(Struct, frozen=True):
    """Lines that are replaced by others."""

    line: int
    """1-based number of the first old line, or of the line before which new ones are inserted."""
    old: tuple[str, ...]
    new: tuple[str, ...]


class FixedText(Struct, frozen=True):
    """A string with fixes applied."""

    text: str
    fixed: tuple[Diagnostic, ...]
    """Diagnostics whose fixes were applied, in order of position."""
    changes: tuple[LineChange, ...]
    """Changes in order of lines; none touches another."""


def apply_fixes(text: str, found: Iterable[Diagnostic]) -> FixedText:
    """Return the decoded content of a file with the fixes of its diagnostics applied. Skip fixes that overlap
    earlier ones.

    Also skip a fix whose old text is not found (any more), or whose diagnostic quotes a different line.
    """
    lines = _LINE_END.split(text)
    chosen = [(one, one.fix.edits) for one in found if one.fix and one.fix.fits(lines)]
    chosen = sorted((one for one in chosen if _matches_source_line(one[0], lines)), key=lambda one: one[1])
    taken = _AcceptedEdits()
    fixed = tuple(one for one, edits in chosen if taken.accept(edits))
    return FixedText(_exchange(text, taken.edits), fixed, tuple(_line_changes(lines, taken.edits)))


def unified_diff(text: str, changes: Sequence[LineChange]) -> Iterator[str]:
    """Yield the lines of a unified diff, without its header. changes: result of `apply_fixes` for `text`."""
    lines = _LINE_END.split(text)
    if lines and not lines[-1]:
        lines.pop()
    shift = 0
    for hunk in _hunks(changes):
        first = max(1, hunk[0].line - _CONTEXT)
        last = min(len(lines), hunk[-1].line + len(hunk[-1].old) - 1 + _CONTEXT)
        body = list(_hunk_lines(lines, hunk, first, last))
        old, new = (sum(line[0] in signs for line in body) for signs in (" -", " +"))
        yield f"@@ -{_span(first, old)} +{_span(first + shift, new)} @@"
        yield from body
        shift += new - old


def _matches_source_line(found: Diagnostic, lines: Sequence[str]) -> bool:
    """Return whether the file still contains the line that a diagnostic quotes."""
    place: Place | None = found.place
    if place is None or not found.source_line:
        return True
    return place.line <= len(lines) and lines[place.line - 1] == found.source_line


class _AcceptedEdits:
    """Edits in order of position; none overlaps another."""

    def __init__(self) -> None:
        self.edits: list[TextEdit] = []

    def accept(self, edits: Sequence[TextEdit]) -> bool:
        """Add all edits, or none if one overlaps an edit added before. An edit equal to an earlier one is no
        conflict."""
        new = [edit for edit in edits if not self._has(edit)]
        if not all(map(self._is_free, new)):
            return False
        for edit in new:
            insort(self.edits, edit)
        return True

    def _has(self, edit: TextEdit) -> bool:
        at = bisect_left(self.edits, edit)
        return at < len(self.edits) and self.edits[at] == edit

    def _is_free(self, edit: TextEdit) -> bool:
        at = bisect_left(self.edits, edit)
        return not any(_overlap(edit, other) for other in self.edits[max(0, at - 1) : at + 1])


def _overlap(one: TextEdit, other: TextEdit) -> bool:
    first, second = sorted((one, other))
    is_same_start = (first.line, first.column) == (second.line, second.column)
    return is_same_start or (second.line, second.column) < (first.end_line, first.end_column)


def _exchange(text: str, edits: Sequence[TextEdit]) -> str:
    """Return `text` with the edits applied; new lines get the line ending of the file."""
    ends = list(_LINE_END.finditer(text))
    starts = [0, *(end.end() for end in ends), len(text)]
    line_end = ends[0][0] if ends else "\n"
    parts: list[str] = []
    done = 0
    for edit in edits:
        begin = starts[edit.line - 1] + edit.column - 1
        parts += [text[done:begin], edit.new.replace("\n", line_end)]
        done = starts[edit.end_line - 1] + edit.end_column - 1
    return "".join([*parts, text[done:]])


def _line_changes(lines: Sequence[str], edits: Sequence[TextEdit]) -> Iterator[LineChange]:
    group: list[TextEdit] = []
    for edit in edits:
        if group and edit.line > group[-1].end_line:
            yield _line_change(lines, group)
            group = []
        group.append(edit)
    if group:
        yield _line_change(lines, group)


def _line_change(lines: Sequence[str], edits: Sequence[TextEdit]) -> LineChange:
    """Combine edits of neighbouring lines into one change, without the unchanged lines at its start and
    end."""
    first = edits[0].line
    block = lines[first - 1 : edits[-1].end_line]
    moved = [TextEdit(edit.line - first + 1, edit.column, edit.old, edit.new) for edit in edits]
    new, old = _exchange("\n".join(block), moved).split("\n"), list(block)
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    while old and new and old[0] == new[0]:
        del old[0], new[0]
        first += 1
    return LineChange(first, tuple(old), tuple(new))


def _hunks(changes: Sequence[LineChange]) -> Iterator[list[LineChange]]:
    """Yield groups of changes whose context lines would touch."""
    hunk: list[LineChange] = []
    for change in changes:
        if hunk and change.line - hunk[-1].line - len(hunk[-1].old) > 2 * _CONTEXT:
            yield hunk
            hunk = []
        hunk.append(change)
    if hunk:
        yield hunk


def _hunk_lines(lines: Sequence[str], hunk: Sequence[LineChange], first: int, last: int) -> Iterator[str]:
    at = first
    for change in hunk:
        yield from (f" {line}" for line in lines[at - 1 : change.line - 1])
        yield from (f"-{line}" for line in change.old)
        yield from (f"+{line}" for line in change.new)
        at = change.line + len(change.old)
    yield from (f" {line}" for line in lines[at - 1 : last])


def _span(first: int, count: int) -> str:
    """Return a line range for the header of a hunk. If the range is empty, use the line before it, as diff(1)
    does."""
    return f"{first}" if count == 1 else f"{first if count else first - 1},{count}"
