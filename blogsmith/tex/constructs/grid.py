"""Rows and cells of anything that has `&` and `\\\\`, and how they are printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape

from msgspec import Struct, field

from ..mathml.atoms import NONE
from ..parse.errors import ParseError
from ..parse.lengths import css, ems
from ..parse.lexer import ROW_BREAKS
from ..parse.parser import Parser
from ..parse.reader import Macro
from ..parse.state import RowNumber

# what these cost, in tokens looked at (see `spend`)
_EMPTY_CELL = _READ_AGAIN = 10
_LINES = ("\\hline", "\\hdashline")


class GridRow(Struct):
    """One row while it is read."""

    cells: list[list[str]] = field(default_factory=list)
    """Pieces of each cell."""
    gap: float = 0.0
    """Space below, in em."""
    stretch: float = 1.0
    """How much higher than usual: `\\arraystretch`."""
    is_line: bool = False
    """Whether it is a line of a display: its gap is below all that it holds, not only below its strut."""
    above: list[str] = field(default_factory=list)
    """Rules above: `rule` or `dash`."""
    partly_above: set[int] = field(default_factory=set)
    """Columns, from 0 on, with a rule above of their own."""
    shove: str = ""
    """`left` or `right`, of a row of `multline`."""
    between: str = ""
    """A line of text above, `\\intertext`."""


class Grid(Struct):
    """What an environment holds."""

    rows: list[GridRow]
    below: list[str]
    """Rules below the last row."""


_MAX_COLUMNS = 2_000
# TeX's strut of a row, in em
_STRUT_HEIGHT, _STRUT_DEPTH = 0.84, 0.36
Before = Callable[[int], int]
"""Column, from 0 → class of what stands in front of its cell."""


def _no_gap(column: int) -> int:
    return NONE


class GridLayout(Struct, frozen=True):
    """How the cells of an environment are read."""

    style: int
    before: Before = _no_gap
    columns: int = 0
    """How many there may be; 0: any number."""
    hint: str = ""
    """What to say to an author who has more."""
    rules: bool = False
    """Whether `\\hline` may stand between rows."""
    prefixes: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """Column → tokens that each of its cells begins with."""
    lines: bool = False
    r"""Whether rows are lines of a display, which `\arraystretch` leaves as they are."""
    text_from: int = 0
    """The first column, from 1 on, whose cells are text; 0: none."""


def read_grid(parser: Parser, name: str, layout: GridLayout) -> Grid:
    r"""Everything up to `\end{name}`, which is taken."""
    old, table, outer = parser.style, parser.atoms, parser.environment
    begin = parser.command
    grid = Grid([], [])
    stretch = 1.0 if layout.lines else _stretch(parser)
    while True:
        row = GridRow(stretch=stretch, is_line=layout.lines)
        _read_rules(parser, row, layout.rules)
        if _is_at_end(parser) and grid.rows:
            grid.below = row.above
            break
        grid.rows.append(row)
        _read_row(parser, row, name, layout)
        if parser.ended_by == "\\end":
            parser.stack.append(parser.ended_by)
            break
        if parser.ended_by not in ROW_BREAKS:
            raise _unended_error(parser, name, begin)
        row.gap = read_gap(parser)
    end_environment(parser, name, begin)
    parser.style, parser.atoms, parser.environment = old, table, outer
    pay_for_cells(parser, [len(row.cells) for row in grid.rows])
    return grid


def pay_for_cells(parser: Parser, rows: Sequence[int]) -> None:
    """`ParseError` if filling up rows with so many cells to the longest would make a page of nothing else."""
    parser.spend(_EMPTY_CELL * (max(rows) * len(rows) - sum(rows)))


def _stretch(parser: Parser) -> float:
    r"""What `\renewcommand{\arraystretch}{1.5}` says."""
    macro = parser.macros.get("\\arraystretch")
    if not isinstance(macro, Macro):
        return 1.0
    try:
        return max(0.5, min(10.0, float("".join(macro.body))))
    except ValueError:
        raise ParseError("math-macro", "\\arraystretch is no number", parser.command) from None


def _unended_error(parser: Parser, name: str, begin: str) -> ParseError:
    found = parser.ended_by
    if not found:
        return ParseError("math-brace", f"\\begin{{{name}}} is never closed", begin, unclosed=True)
    return ParseError("math-brace", f"{found} stands where \\begin{{{name}}} is still open", found)


def _is_at_end(parser: Parser) -> bool:
    return parser.peek() == "\\end"


def _read_rules(parser: Parser, row: GridRow, allowed: bool) -> None:
    """Rules above a row."""
    while True:
        token = parser.peek()
        if token in parser.macros:
            parser.expand(parser.pop())
        elif allowed and token.lstrip("\0") in _LINES:
            row.above.append("rule" if parser.pop().lstrip("\0") == "\\hline" else "dash")
        elif allowed and token == "\\cline":
            parser.command = parser.pop()
            row.partly_above |= _range(parser)
        else:
            return


def _range(parser: Parser) -> set[int]:
    """The columns, from 0 on, of a `\\cline{2-3}`."""
    first, _, last = "".join(parser.name_argument()).replace(" ", "").partition("-")
    numbers = [int(text) for text in (first, last) if text.isdecimal() and len(text) < 4]
    if len(numbers) < 2 or not 0 < numbers[0] <= numbers[1] <= _MAX_COLUMNS:
        raise parser.syntax_error(f"{parser.command} needs two columns", hint="write \\cline{1-2}")
    return set(range(numbers[0] - 1, numbers[1]))


def _read_row(parser: Parser, row: GridRow, name: str, layout: GridLayout) -> None:
    while True:
        column = len(row.cells)
        if column == (layout.columns or _MAX_COLUMNS):
            said = f"{name} has {column} column{'s' if column > 1 else ''}, this row has more"
            raise ParseError("math-syntax", said, parser.ended_by, hint=layout.hint)
        parser.environment = name
        parser.set_style(layout.style)
        mark = parser.mark()
        parser.between_rows = parser.shove = ""
        if column in layout.prefixes:
            parser.spend(_READ_AGAIN * len(layout.prefixes[column]))
            parser.push(layout.prefixes[column])
        if layout.text_from and column + 1 >= layout.text_from:
            _text_cell(parser)
        row.cells.append(parser.row(layout.before(column)))
        row.shove = parser.shove or row.shove
        row.between = parser.between_rows or row.between
        parser.restore(mark)
        if parser.ended_by != "&":
            return


def _text_cell(parser: Parser) -> None:
    """Put the cell that follows into a `\\text{…}`."""
    held, depth = list[str](), 0
    while parser.stack:
        token = parser.stack[-1]
        if not depth and token in ("&", "\\\\", "\\cr", "\\end"):
            break
        depth += (token in ("{", "\\begin")) - (token in ("}", "\\end"))
        held.append(parser.stack.pop())
    if any(token != " " for token in held):
        parser.push(["\\text", "{", *_strip_spaces(held), "}"])


def _strip_spaces(tokens: list[str]) -> list[str]:
    start = next(index for index, token in enumerate(tokens) if token != " ")
    return tokens[start : -1 if tokens[-1] == " " else None]


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


def read_place(parser: Parser) -> None:
    """The `[t]` or width behind a name: brackets that hold anything else are content."""
    found = parser.optional()
    if found is None:
        return
    text = "".join(found).strip()
    if text not in ("", "t", "c", "b") and ems(text) is None:
        parser.push(["[", *found, "]"])


def end_environment(parser: Parser, name: str, begin: str) -> None:
    r"""Takes `\end{name}`; `ParseError` if something else ends."""
    token = parser.pop()
    before, parser.command = parser.command, token or begin
    found = "".join(parser.name_argument()).strip() if token else ""
    if found != name:
        said = f"\\end{{{found}}} stands where \\begin{{{name}}} is still open"
        raise ParseError("math-brace", said, token)
    parser.command = before


def cell(pieces: Sequence[str], attributes: str = "") -> str:
    """One `mtd`."""
    return f"<mtd{attributes}>{''.join(pieces)}</mtd>"


def small_table(rows: str, *, in_script: bool) -> str:
    """A table in script size; in a script it is that already."""
    table = f'<mtable class="math-small">{rows}</mtable>'
    return table if in_script else f'<mstyle scriptlevel="1">{table}</mstyle>'


def align_cell(side: str, more: str = "") -> str:
    """Attributes of a cell on that side; centred is what browsers do by themselves."""
    style = f"text-align:{side};justify-items:{side}" if side in ("left", "right") else ""
    style = ";".join(filter(None, (style, more)))
    return f' style="{style}"' if style else ""


def row_style(row: GridRow) -> str:
    """Style of a row's first cell, or of all, for the space around it; a table has no negative space."""
    above, below = (row.stretch - 1) * _STRUT_HEIGHT, row.gap + (row.stretch - 1) * _STRUT_DEPTH
    styles = [
        f"padding-top:{css(above)}" if above > 0 else "",
        f"padding-bottom:{css(below)}" if below > 0 else "",
    ]
    return ";".join(filter(None, styles))


_SPACER = '<mtd style="width:50%"></mtd>'
_NUMBER_CELL = '<mtd class="eq-cell" style="width:50%;text-align:right;justify-items:end">'


def number_row(cells: str, mark: RowNumber | None) -> str:
    """A row with its number at the right edge; no link, for nothing inside a formula may take the focus."""
    if mark is None or not mark.number:
        return f"<mtr>{_SPACER}{cells}{_NUMBER_CELL}</mtd></mtr>"
    plain = escape(mark.number if mark.bare else f"({mark.number})", quote=False)
    shown = f'<mtext class="eq-number">{plain}</mtext>'
    if mark.mathml:
        shown = f'<mrow class="eq-number">{mark.mathml}</mrow>'
    anchor = f' id="{escape(mark.id)}"' if mark.id else ""
    return f"<mtr{anchor}>{_SPACER}{cells}{_NUMBER_CELL}{shown}</mtd></mtr>"


def print_rows(
    rows: Sequence[GridRow],
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
            more = row_style(row) if column == 0 or row.is_line else ""
            cells.append(cell(pieces, align_cell(sides(column), more)))
        if row.between:
            printed.append(f'<mtr><mtd class="math-intertext" columnspan="{width}">{row.between}</mtd></mtr>')
        if numbers:
            printed.append(number_row("".join(cells), numbers[index] if index < len(numbers) else None))
        else:
            printed.append(f"<mtr>{''.join(cells)}</mtr>")
    return "".join(printed)
