"""Where the text of a front matter value stands, so that its formulas can be pointed at.

YAML has read the value before; its text is found again line by line. Where escapes in quotes hide
it, the rest of the value counts as standing on the line reached.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..base.diagnostics.model import Place, TextMap


def locate_text(text: str, place: Place, lines: Sequence[str]) -> TextMap:
    """`text`, broken where the author's lines end, with the start of each line.

    place: where YAML says that the value starts. lines: of the file.
    """
    number, column = _start(place, lines)
    pieces: list[str] = []
    starts: list[tuple[int, int]] = []
    rest = text
    while number < len(lines):
        piece = lines[number - 1][column - 1 :].rstrip()
        if piece and (len(piece) >= len(rest) or not rest.startswith(piece)):
            break
        if piece:
            pieces.append(piece)
            starts.append((number, column))
            rest = rest[len(piece) :].lstrip()
        number += 1
        column = _indent(lines[number - 1]) + 1
    starts += [(number, column)] * (rest.count("\n") + 1)
    return TextMap("\n".join([*pieces, rest]), tuple(starts))


def _start(place: Place, lines: Sequence[str]) -> tuple[int, int]:
    """Line and column of the value's first character, behind its quote or block mark."""
    line = lines[place.line - 1] if place.line <= len(lines) else ""
    opening = line[place.column - 1 : place.column]
    if opening and opening in "|>" and place.line < len(lines):
        return place.line + 1, _indent(lines[place.line]) + 1
    return place.line, place.column + (opening in ("'", '"'))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
