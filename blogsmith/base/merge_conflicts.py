"""Conflict markers that Git leaves in a file when it cannot merge two versions.

Each conflict is reported as an error. The file is then read with the first version; empty lines replace the
markers and the other versions. So other errors get the right line numbers, and no marker becomes a heading or
a quotation. Markers in fenced code of Markdown are taken as an example, unless the fence itself is part of a
conflict.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .diagnostics.model import Place, Reporter
from .patterns import lazy_pattern

_MARKER = lazy_pattern(r"(?:<{7}|\|{7}|>{7})(?: .*)?|={7}")
_FENCE = lazy_pattern(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)")
_CONFLICT_HINT = "keep one version, and remove the lines that start with `<<<<<<<`, `=======` and `>>>>>>>`"
_MARKER_HINT = "remove the line, or write it in a code block to show it"


class _Conflict(NamedTuple):
    """Line numbers of the markers of one conflict, from 0. If only one marker is left, all numbers are the
    line of this marker."""

    first: int
    separator: int
    last: int


def may_have_conflict(text: str) -> bool:
    """Return whether `text` contains the start of a conflict marker anywhere."""
    return "<<<<<<<" in text or ">>>>>>>" in text


def take_first_versions(text: str, reporter: Reporter, *, is_markdown: bool = False) -> str:
    """Report the merge conflicts in `text`. Return the text with only the first version of each conflict; all
    lines keep their numbers. is_markdown: accept markers in fenced code, which are an example there."""
    if not may_have_conflict(text):
        return text
    lines = text.split("\n")
    for conflict in _find_conflicts(lines, is_markdown=is_markdown):
        _report(conflict, lines, reporter)
        for number in (conflict.first, *range(conflict.separator, conflict.last + 1)):
            lines[number] = ""
    return "\n".join(lines)


def _report(conflict: _Conflict, lines: Sequence[str], reporter: Reporter) -> None:
    place = Place(conflict.first + 1, 1, len(lines[conflict.first]))
    if conflict.first == conflict.last:
        message = f'merge conflict marker "{lines[conflict.first][:7]}" is not allowed here'
        reporter.error("merge-conflict", message, place, _MARKER_HINT)
    else:
        marker = lines[conflict.first][:7]
        message = f'unresolved merge conflict "{marker}": it ends on line {conflict.last + 1}'
        reporter.error("merge-conflict", message, place, _CONFLICT_HINT)


def _find_conflicts(lines: Sequence[str], *, is_markdown: bool) -> list[_Conflict]:
    found: list[_Conflict] = []
    fence = ""
    has_separator = False
    number = 0
    while number < len(lines):
        line = lines[number]
        marker = line[:7] if not fence and _MARKER.fullmatch(line) else ""
        conflict = _parse_conflict(lines, number) if marker == "<<<<<<<" else None
        if conflict:
            found.append(conflict)
            number = conflict.first + 1
            # whether later lines are in fenced code depends on the version that is used
            for kept in lines[number : conflict.separator] if is_markdown else ():
                fence = _next_fence(fence, kept)
            number = conflict.last
        elif _is_left_over(line, marker, is_markdown=is_markdown, has_separator=has_separator):
            found.append(_Conflict(number, number, number))
        elif is_markdown:
            fence = _next_fence(fence, line)
            has_separator |= marker == "======="
        number += 1
    return found


def _parse_conflict(lines: Sequence[str], first: int) -> _Conflict | None:
    """Return the conflict that begins at a line; None if it has no end, or if another one begins before its
    end."""
    markers = {"|||||||": -1, "=======": -1}
    for number in range(first + 1, len(lines)):
        marker = lines[number][:7] if _MARKER.fullmatch(lines[number]) else ""
        if marker == "<<<<<<<":
            return None
        if marker == ">>>>>>>":
            separator = markers["|||||||"] if markers["|||||||"] > 0 else markers["======="]
            return _Conflict(first, separator, number) if markers["======="] > 0 else None
        if marker:
            markers[marker] = number
    return None


def _is_left_over(line: str, marker: str, *, is_markdown: bool, has_separator: bool) -> bool:
    """Return whether a line is the first or last marker of a conflict whose other markers are gone. In
    Markdown `>>>>>>> text` is a quotation seven levels deep, unless a line `=======` precedes it."""
    is_first = marker == "<<<<<<<" and len(line) > len("<<<<<<< ")
    return is_first or (marker == ">>>>>>>" and (has_separator or not is_markdown))


def _next_fence(fence: str, line: str) -> str:
    """Return the opening fence of the code block that contains the next line; "" outside code. fence: opening
    fence of the code block that contains `line`, or ""."""
    found = _FENCE.fullmatch(line)
    if not found:
        return fence
    if not fence:
        return found[1]
    is_end = found[1].startswith(fence) and not found[2].strip()
    return "" if is_end else fence
