"""Writer of tables in formulas as `math.mat` of Typst.

The widths, gaps and alignments are those of the theme's style sheet `formulas.css`. Typst has one gap between
all columns, so the padding of a cell is part of its content.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from ..api.books import lazy_pattern
from .elements import HtmlElement

WriteCell = Callable[[HtmlElement], str]
"""Function from a cell to the expression of its content."""
_PADDING = lazy_pattern(r"padding-(top|bottom|left|right):(-?[\d.]+)(?:em)?")
_KINDS = ("math-matrix", "math-small", "math-cases", "math-eqnarray", "math-align", "math-alignat")
_ROW_GAPS: Mapping[str, str] = {"math-small": "0.25em", "math-cases": "0.57em"}
_PADDINGS: Mapping[str, tuple[float, float]] = {
    **{"": (0.5, 0.5), "math-matrix": (0.5, 0.5), "math-small": (0.2, 0.2), "math-cases": (1, 0)},
    **dict.fromkeys(("math-eqnarray", "math-align", "math-alignat"), (0, 0)),
}
"""Kind of a table → padding of its cells at the left and right, in em."""
_RELATION = (0.2778, 0.2778)
_RULE = lazy_pattern(r"math-(rule|dash|double)-(top|bottom|left|right)")


class _Cell(Struct, frozen=True):
    content: str
    """Expression of the content, including the padding."""
    side: str
    """Side to which the cell is aligned; empty if it is centred."""
    columns: int = 1
    """Number of columns that the cell covers; 0 if another cell covers it."""

    def aligned(self) -> str:
        """Return the expression of the cell, with an alignment point where its column is aligned."""
        if self.side == "left":
            return f"{{ap; {self.content}}}"
        return f"{{{self.content}; ap}}" if self.side == "right" else self.content


def write_table(element: HtmlElement, write_cell: WriteCell) -> str:
    """Return an `mtable` element as an expression."""
    rows = [row.elements for row in element.elements if row.name == "mtr"]
    if not any(rows):
        return "[]"
    is_display = element.get("displaystyle") == "true"
    is_small = "math-small" in element.classes or element.get("scriptlevel") == "1"
    style = "display" if is_display else "script" if is_small else "inline"
    kind = next((name for name in element.classes if name in _KINDS), "")
    if "math-multline" in element.classes:
        lines = (
            f"({_side(row[0]) or 'center'}, {_styled(style, (write_cell(row[0]),))})" for row in rows if row
        )
        return f"staggered({', '.join(lines)})"
    cells = [_cells(row, kind, style, write_cell) for row in rows]
    rules = _rules(rows)
    row_gap = "0.65em" if is_display else _ROW_GAPS.get(kind, "0.33em")
    written = ", ".join(_written(cells))
    if rules:
        return f"ruled({row_gap}, ({''.join(f'{rule}, ' for rule in rules)}), {written})"
    table = f"math.mat(delim: none, column-gap: 0em, row-gap: {row_gap}, {written})"
    # in a line of text, Typst gives rows the height and the space of scripts
    return table if is_small else f"math.display({table})"


def _side(cell: HtmlElement) -> str:
    if "math-intertext" in cell.classes:
        return "left"
    return next((side for side in ("left", "right") if f"text-align:{side}" in cell.get("style")), "")


def _cells(row: Sequence[HtmlElement], kind: str, style: str, write_cell: WriteCell) -> list[_Cell]:
    found: list[_Cell] = []
    row = [cell for cell in row if "width:50%" not in cell.get("style")]
    total = sum(_columns(cell) for cell in row)
    for cell in row:
        columns = _columns(cell)
        own = dict(_PADDING.findall(cell.get("style")))
        strut = (
            f"strut({own.get('top', 0)}em, {own.get('bottom', 0)}em)"
            if {"top", "bottom"} & own.keys()
            else ""
        )
        spaces = (f"h({width}em)" if width else "" for width in _paddings(cell, kind, len(found), total))
        content = _styled(style, (next(spaces), strut, write_cell(cell), next(spaces)))
        found.append(_Cell(content, _side(cell), columns))
        found += [_Cell("[]", "", 0)] * (columns - 1)
    return found


def _columns(cell: HtmlElement) -> int:
    columns = cell.get("columnspan")
    return max(1, min(int(columns), 99)) if columns.isascii() and columns.isdigit() else 1


def _paddings(cell: HtmlElement, kind: str, column: int, columns: int) -> tuple[float, float]:
    """Return the padding of a cell at the left and right, in em."""
    before, after = _RELATION if kind == "math-eqnarray" and column == 1 else _PADDINGS[kind]
    if kind in ("math-matrix", "math-cases", "math-small"):
        before = before if column else 0
        after = after if column + _columns(cell) < columns else 0
    if kind == "math-align" and column and column % 2 == 0:
        before = 1
    own = {side: float(width) for side, width in _PADDING.findall(cell.get("style"))}
    found = {"left": before, "right": after} | own
    return found["left"], found["right"]


def _styled(style: str, parts: Sequence[str]) -> str:
    """Return `parts` in a style of Typst, which also determines the sizes of spaces between them."""
    shown = [part for part in parts if part and part != "[]"]
    return f"math.{style}({{{'; '.join(shown)}}})" if shown else "[]"


def _written(rows: Sequence[Sequence[_Cell]]) -> list[str]:
    width = max(map(len, rows))
    found = []
    for row in rows:
        cells = [*row, *[_Cell("[]", "")] * (width - len(row))]
        for start, cell in enumerate(row):
            if cell.columns > 1:
                others = [_column(rows, column) for column in range(start, start + cell.columns)]
                measured = "".join(f"({''.join(f'{one.content}, ' for one in part)}), " for part in others)
                for index, part in enumerate(others):
                    content = f"spread({cell.side or 'center'}, {cell.content}, ({measured}), {index})"
                    # on the side of its column, so that both have one alignment point
                    side = next((one.side for one in part), "")
                    cells[start + index] = _Cell(content, side)
        found.append(f"({', '.join(cell.aligned() for cell in cells)},)")
    return found


def _column(rows: Sequence[Sequence[_Cell]], column: int) -> list[_Cell]:
    """Return the cells of a column, without cells that also cover other columns."""
    return [row[column] for row in rows if column < len(row) and row[column].columns == 1]


def _rules(rows: Sequence[Sequence[HtmlElement]]) -> list[str]:
    """Return the expressions of the rules at the edges of cells. Each rule has a kind, a direction, a
    position, a start and an end."""
    found: dict[str, None] = {}
    for y, row in enumerate(rows):
        start = 0
        for cell in row:
            end = start + _columns(cell)
            for name in cell.classes:
                if rule := _RULE.fullmatch(name):
                    kind, side = rule.groups()
                    if side in ("top", "bottom"):
                        line = f"true, {y + (side == 'bottom')}, {start}, {end}"
                    else:
                        line = f"false, {end if side == 'right' else start}, {y}, {y + 1}"
                    found[f'("{kind}", {line})'] = None
            start = end
    return list(found)
