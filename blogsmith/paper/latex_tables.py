"""Columns of tables in LaTeX."""

from __future__ import annotations

from collections.abc import Sequence

from . import document as d
from .typst import plain

COLUMNS = {"left": "l", "center": "c", "right": "r"}
"""Alignment of a column → its type."""
_LINE_CHARACTERS = 80


def cell_grid(rows: Sequence[Sequence[d.PaperCell]], columns: int) -> list[list[d.PaperCell | None]]:
    """Return rows with one entry for each column. An entry is None if an earlier cell covers its position."""
    found: list[list[d.PaperCell | None]] = []
    covered: dict[tuple[int, int], bool] = {}
    for index, row in enumerate(rows):
        entries: list[d.PaperCell | None] = [None] * columns
        at = 0
        for cell in row:
            while covered.get((index, at)):
                at += 1
            if at >= columns:
                break
            entries[at] = cell
            for down in range(cell.rows):
                for right in range(cell.columns):
                    covered[index + down, at + right] = True
            at += cell.columns
        found.append(entries)
    return found


def column_types(grid: Sequence[Sequence[d.PaperCell | None]], columns: int) -> str:
    """Return the LaTeX types of the columns, such as `lr`. Columns with long text get a width."""
    cells = [[row[at] for row in grid if (cell := row[at]) and cell.columns == 1] for at in range(columns)]
    lengths = [max((_length(cell) for cell in column if cell), default=1) for column in cells]
    has_width = sum(lengths) > _LINE_CHARACTERS
    limit = _LINE_CHARACTERS // columns
    short = sum(length for length in lengths if length <= limit)
    long = sum(min(length, 120) for length in lengths if length > limit)
    types = []
    for column, length in zip(cells, lengths, strict=True):
        align = next((cell.align for cell in column if cell and cell.align), "")
        if has_width and length > limit:
            share = max(0.1, (0.92 - short / _LINE_CHARACTERS) * min(length, 120) / long)
            types.append(f">{{\\raggedright\\arraybackslash}}p{{{share:.2f}\\linewidth}}")
        else:
            types.append(COLUMNS.get(align, "l"))
    return "".join(types)


def _length(cell: d.PaperCell) -> int:
    """Return the number of characters of the longest paragraph in a cell."""
    return max(
        (
            len(plain(part.content)) + 8 * sum(isinstance(x, d.PaperFormula) for x in part.content)
            for part in cell.content
            if isinstance(part, d.PaperParagraph)
        ),
        default=1,
    )
