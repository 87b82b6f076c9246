"""Conversion of locations in cells, as recorded text names them, to lines of the post."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from ..base.patterns import lazy_pattern
from .cells import Cell

_PLACE = lazy_pattern(r'File "<cell (\d{1,6})>", line (\d{1,9})|<cell (\d{1,6})>:(\d{1,9})')


class CodeStart(Struct, frozen=True):
    """Start of the code of a cell."""

    path: str
    """Path of the file, relative to the site root."""
    line: int
    """1-based line of this file."""


def code_start(cell: Cell, post: str) -> CodeStart:
    """Return where the code of a cell begins. post: path of the post, relative to the site root; used unless
    the code is in another file."""
    return CodeStart(cell.file or post, cell.first_line)


def locate_in_post(text: str, starts: Sequence[CodeStart]) -> str:
    """Return `text` with locations such as `<cell 2>` replaced by lines of the post, or of the file that
    contains the cell.
    starts: start of the code of each cell of the session, in order."""
    if "<cell " not in text:
        return text

    def place(match: re.Match[str]) -> str:
        number, line = int(match[1] or match[3]), int(match[2] or match[4])
        if not 0 < number <= len(starts):
            return match[0]
        path, first_line = starts[number - 1].path, starts[number - 1].line
        line += first_line - 1
        return f'File "{path}", line {line}' if match[1] else f"{path}:{line}"

    return _PLACE.sub(place, text)
