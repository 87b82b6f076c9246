"""Rows and cells of anything that has `&` and `\\\\`, and how they are printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape

from ..atoms import NONE
from ..lengths import css, ems
from ..numbering import RowNumber
from ..parser import Parser
from ..wrong import Wrong

_LINES = ("\\hline", "\\hdashline")


@dataclass(slots=True)
class Row:
    """One row while it is read."""

    cells: list[list[str]] = field(default_factory=list)
    """Pieces of each cell."""
    gap: float = 0.0
    """Space below, in em."""
    above: list[str] = field(default_factory=list)
    """Rules above: `rule` or `dash`."""
    shove: str = ""
    """`left` or `right`, of a row of `multline`."""
    between: str = ""
    """A line of text above, `\\intertext`."""


@dataclass(slots=True)
class Grid:
    """What an environment holds."""

    rows: list[Row]
    below: list[str]
    """Rules below the last row."""


Before = Callable[[int], int]
"""Column, from 0 → class of what stands in front of its cell."""


def _nothing(column: int) -> int:
    return NONE


def read_grid(
    parser: Parser,
    name: str,
    *,
    style: int,
    before: Before = _nothing,
    columns: int = 0,
    rules: bool = False,
    column_hint: str = "",
) -> Grid:
    r"""Everything up to `\end{name}`, which is taken. columns: how many there may be; 0: any number."""
    old, table, outer = parser.style, parser.atoms, parser.environment
    begin = parser.command
    grid = Grid([], [])
    while True:
        row = Row(above=_rules(parser, rules))
        if _at_end(parser) and grid.rows:
            grid.below = row.above
            break
        grid.rows.append(row)
        _read_row(parser, row, name, style, before, columns, column_hint)
        if parser.ended_by == "\\end":
            parser.stack.append(parser.ended_by)
            break
        if parser.ended_by not in ("\\\\", "\\cr", "\\newline"):
            raise _never_ended(parser, name, begin)
        row.gap = read_gap(parser)
    end_environment(parser, name, begin)
    parser.style, parser.atoms, parser.environment = old, table, outer
    return grid


def _never_ended(parser: Parser, name: str, begin: str) -> Wrong:
    found = parser.ended_by
    if not found:
        return Wrong("math-brace", f"\\begin{{{name}}} is never closed", begin)
    return Wrong("math-brace", f"{found} stands where \\begin{{{name}}} is still open", found)


def _at_end(parser: Parser) -> bool:
    return parser.peek() == "\\end"


def _rules(parser: Parser, allowed: bool) -> list[str]:
    """Rules between two rows."""
    found = []
    while True:
        token = parser.peek()
        if token in parser.macros:
            parser.expand(parser.pop())
        elif token in _LINES and allowed:
            found.append("rule" if parser.pop() == "\\hline" else "dash")
        elif token in ("\\cline",) and allowed:
            parser.pop()
            parser.argument()
        else:
            return found


def _read_row(
    parser: Parser, row: Row, name: str, style: int, before: Before, columns: int, hint: str
) -> None:
    while True:
        if columns and len(row.cells) == columns:
            said = f"{name} has {columns} column{'s' if columns > 1 else ''}, this row has more"
            raise Wrong("math-syntax", said, parser.ended_by, hint=hint)
        parser.environment = name
        parser.set_style(style)
        mark = parser.mark()
        parser.between_rows = parser.shove = ""
        row.cells.append(parser.row(before(len(row.cells))))
        row.shove = parser.shove or row.shove
        row.between = parser.between_rows or row.between
        parser.restore(mark)
        if parser.ended_by != "&":
            return


def read_gap(parser: Parser) -> float:
    r"""The `*` and `[5pt]` behind `\\`, in em; brackets that hold no length are left."""
    if parser.stack and parser.stack[-1] == "*":
        parser.stack.pop()
    if not parser.stack or parser.stack[-1] != "[":
        return 0.0
    inside = parser.optional()
    if inside is None:
        return 0.0
    gap = ems("".join(inside))
    if gap is None:
        parser.push(["[", *inside, "]"])
        return 0.0
    return max(-5.0, min(gap, 50.0))


def end_environment(parser: Parser, name: str, begin: str) -> None:
    r"""Takes `\end{name}`; `Wrong` if something else ends."""
    token = parser.pop()
    before, parser.command = parser.command, token or begin
    found = "".join(parser.argument()).strip() if token else ""
    if found != name:
        said = f"\\end{{{found}}} stands where \\begin{{{name}}} is still open"
        raise Wrong("math-brace", said, token)
    parser.command = before


def cell(pieces: Sequence[str], attributes: str = "") -> str:
    """One `mtd`."""
    return f"<mtd{attributes}>{''.join(pieces)}</mtd>"


def aligned_to(side: str, more: str = "") -> str:
    """Attributes of a cell on that side; centred is what browsers do by themselves."""
    style = f"text-align:{side};justify-items:{side}" if side in ("left", "right") else ""
    style = ";".join(filter(None, (style, more)))
    return f' style="{style}"' if style else ""


def gap_style(gap: float) -> str:
    """Style of a row's first cell for the space below it; negative space cannot be had in a table."""
    return f"padding-bottom:{css(gap)}" if gap > 0 else ""


_SPACER = '<mtd style="width:50%"></mtd>'
_NUMBER_CELL = '<mtd class="eq-cell" style="width:50%;text-align:right;justify-items:end">'


def numbered_row(cells: str, mark: RowNumber | None) -> str:
    """A row with its number at the right edge; no link, for nothing inside a formula may take the focus."""
    if mark is None or not mark.number:
        return f"<mtr>{_SPACER}{cells}{_NUMBER_CELL}</mtd></mtr>"

    shown = escape(mark.number if mark.bare else f"({mark.number})", quote=False)
    anchor = f' id="{escape(mark.id)}"' if mark.id else ""
    return f'<mtr{anchor}>{_SPACER}{cells}{_NUMBER_CELL}<mtext class="eq-number">{shown}</mtext></mtd></mtr>'


def print_rows(
    rows: Sequence[Row],
    sides: Callable[[int], str],
    numbers: Sequence[RowNumber | None],
) -> str:
    """All rows, each as wide as the widest; sides: column → `left`, `right` or empty."""
    width = max(len(row.cells) for row in rows)
    printed = []
    for index, row in enumerate(rows):
        cells = []
        for column in range(width):
            pieces = row.cells[column] if column < len(row.cells) else ()
            more = gap_style(row.gap) if column == 0 else ""
            cells.append(cell(pieces, aligned_to(sides(column), more)))
        if row.between:
            printed.append(f'<mtr><mtd class="math-intertext" columnspan="{width}">{row.between}</mtd></mtr>')
        if numbers:
            printed.append(numbered_row("".join(cells), numbers[index] if index < len(numbers) else None))
        else:
            printed.append(f"<mtr>{''.join(cells)}</mtr>")
    return "".join(printed)
