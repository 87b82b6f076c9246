"""Positions in notebook cells, for messages about a page that is written as a notebook.

The text of such a page has an invisible marker before each cell: an empty line of tabs and spaces, which
Markdown ignores between blocks. So any code that has the lines of the page can name the cell.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..patterns import lazy_pattern

NOTEBOOK, PYTHON = ".ipynb", ".py"
"""File name extensions of sources that are not Markdown."""
_SHIFTS = 64
_MARKER = lazy_pattern(r"\t[\t ]{6,40}")
_DIGITS = str.maketrans("01", " \t")
_BITS = str.maketrans(" \t", "01")


def make_marker(cell: int, shift: int) -> str:
    """Return the invisible line that marks the start of a cell. cell: number of the cell, from 1. shift:
    number of lines between the marker and the cell's own first line."""
    return f"{cell * _SHIFTS + max(0, min(shift + _SHIFTS // 2, _SHIFTS - 1)):b}".translate(_DIGITS)


def find_cell(lines: Sequence[str], line: int) -> str:
    """Return the position of a line for messages, such as `notebook cell 3, line 2`; empty if no cell
    precedes it. line: 1-based."""
    for number in range(min(line, len(lines)), 0, -1):
        if _MARKER.fullmatch(lines[number - 1]):
            cell, shift = divmod(int(lines[number - 1].translate(_BITS), 2), _SHIFTS)
            return f"notebook cell {cell}, line {max(1, line - number - shift + _SHIFTS // 2)}"
    return ""
