r"""Rows and cells of all environments with `&` and `\\`, and their markup."""

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

# cost of an empty cell and of a repeated token, in tokens (see `spend`)
_EMPTY_CELL_COST = _REPEATED_TOKEN_COST = 10
_LINES = ("\\hline", "\\hdashline", "\\toprule", "\\midrule", "\\bottomrule")
_SKIPS = {"\\smallskip": 0.3, "\\medskip": 0.6, "\\bigskip": 1.2}
"""Skip of plain TeX → em."""
_REGISTERS = ("skip", "box", "sep", "height")
r"""Ends of the names of lengths, as in `\dp\strutbox`."""
_PARTIAL_LINES = ("\\cline", "\\cmidrule")
_IS_FORMULA = frozenset("^_")
"""Tokens that make a cell of a text column a formula."""
_NUMBERING = ("\\label", "\\tag", "\\notag", "\\nonumber")


class WideCell(Struct, frozen=True):
    r"""A cell of `\multicolumn`."""

    columns: int
    specification: tuple[str, ...]
    """Tokens of its column specification, such as `c` or `|r|`."""


class GridRow(Struct):
    """One row while it is read."""

    cells: list[list[str]] = field(default_factory=list)
    """Pieces of markup of each cell."""
    gap: float = 0.0
    """Space below the row, in em."""
    stretch: float = 1.0
    r"""Factor for the height of the row, from `\arraystretch`."""
    is_line: bool = False
    """Whether the row is a line of display math. If so, the gap is below all of its content, not only below
    its strut."""
    above: list[str] = field(default_factory=list)
    """Rules above the row: `rule` or `dash`."""
    partly_above: set[int] = field(default_factory=set)
    r"""Columns, from 0, that have a rule above of their own, as from `\cline`."""
    spans: dict[int, WideCell] = field(default_factory=dict)
    r"""Column, from 0 → the `\multicolumn` that starts there. The cells that it covers are empty."""
    shove: str = ""
    """Side to which a row of `multline` is moved: `left`, `right` or empty."""
    between: str = ""
    r"""Line of text above the row, from `\intertext`; empty if there is none."""


class Grid(Struct):
    """The content of an environment."""

    rows: list[GridRow]
    below: list[str]
    """Rules below the last row."""


_MAX_COLUMNS = 2_000
# height of TeX's strut of a row, in em
_STRUT_HEIGHT, _STRUT_DEPTH = 0.84, 0.36
Before = Callable[[int], int]
"""Function from a column, from 0, to the class of the atom before a cell of this column."""


def _no_gap(column: int) -> int:
    return NONE


class GridLayout(Struct, frozen=True):
    """Settings for reading the cells of an environment."""

    style: int
    before: Before = _no_gap
    columns: int = 0
    """Maximum number of columns; 0: no limit."""
    hint: str = ""
    """Hint to an author who writes more than `columns` columns."""
    rules: bool = False
    r"""Whether `\hline` is allowed between rows."""
    prefixes: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """Index of a column → tokens inserted at the start of each of its cells."""
    lines: bool = False
    r"""Whether rows are lines of display math, to which `\arraystretch` does not apply."""
    text_from: int = 0
    """1-based number of the first column whose cells are text, unless they contain `^` or `_` without `$`; 0
    for none."""


def read_grid(parser: Parser, name: str, layout: GridLayout) -> Grid:
    r"""Read everything up to and including `\end{name}`. Return its rows and cells."""
    old, table, outer = parser.style, parser.atoms, parser.environment
    begin = parser.command
    grid = Grid([], [])
    stretch = 1.0 if layout.lines else _stretch(parser)
    while True:
        row = GridRow(stretch=stretch, is_line=layout.lines)
        gap = _read_rules(parser, row, layout.rules)
        if grid.rows:
            grid.rows[-1].gap += gap
        if (parser.peek() == "\\end") and grid.rows:
            grid.below = row.above
            break
        grid.rows.append(row)
        _read_row(parser, row, name, layout)
        if parser.end_token == "\\end":
            parser.stack.append(parser.end_token)
            break
        if parser.end_token not in ROW_BREAKS:
            raise _unended_error(parser, name, begin)
        row.gap = read_gap(parser)
    end_environment(parser, name, begin)
    parser.style, parser.atoms, parser.environment = old, table, outer
    spend_empty_cells(parser, [len(row.cells) for row in grid.rows])
    return grid


def spend_empty_cells(parser: Parser, rows: Sequence[int]) -> None:
    """Raise ParseError if padding all rows to the length of the longest would add too many empty cells. rows:
    number of cells of each row."""
    parser.spend(_EMPTY_CELL_COST * (max(rows) * len(rows) - sum(rows)))


def _stretch(parser: Parser) -> float:
    r"""Return the factor set by `\renewcommand{\arraystretch}{1.5}`."""
    macro = parser.macros.get("\\arraystretch")
    if not isinstance(macro, Macro):
        return 1.0
    try:
        return max(0.5, min(10.0, float("".join(macro.body))))
    except ValueError:
        raise ParseError(
            "math-macro",
            'invalid "\\arraystretch": expected a number',
            parser.command,
            hint="write `\\renewcommand{\\arraystretch}{1.2}`",
        ) from None


def _unended_error(parser: Parser, name: str, begin: str) -> ParseError:
    found = parser.end_token
    if not found:
        return ParseError("math-brace", f'"\\begin{{{name}}}" is never closed', begin, unclosed=True)
    hint = f"write `\\end{{{name}}}` before it"
    return ParseError(
        "math-brace", f'unexpected "{found}": "\\begin{{{name}}}" is still open', found, hint=hint
    )


def _read_rules(parser: Parser, row: GridRow, allowed: bool) -> float:
    r"""Read `\noalign` and the rules above a row. Return the gap in em that `\noalign` adds. allowed: whether
    to read rules."""
    gap = 0.0
    while True:
        token = parser.peek()
        if token in parser.macros:
            parser.expand(parser.pop())
        elif allowed and token.lstrip("\0") in _LINES:
            parser.pop()
            parser.optional()  # thickness of booktabs' rules
            row.above.append("dash" if token.lstrip("\0") == "\\hdashline" else "rule")
        elif allowed and token in _PARTIAL_LINES:
            parser.command = parser.pop()
            if token == "\\cmidrule":
                parser.optional()
                parser.read_delimited("(", ")")
            row.partly_above |= _range(parser)
        elif token == "\\noalign":
            parser.command = parser.pop()
            gap += _read_material(parser, row)
        else:
            return gap


def _read_material(parser: Parser, row: GridRow) -> float:
    r"""Read the argument of `\noalign`: a skip or `\hrule`. Return the skip in em."""
    source = [token for token in parser.argument() if token != " "]
    if source[:1] == ["\\hrule"]:
        row.above.append("rule")
        return 0.0
    text = "".join(source)
    gap = _SKIPS.get(text, ems(text.removeprefix("\\vskip")))
    if gap is None:
        hint = "write `\\\\[3pt]` for a gap, or `\\intertext{…}` for text between rows"
        raise parser.syntax_error(
            f'unsupported syntax: "{parser.command}" with other content than a skip', hint=hint
        )
    return max(-5.0, min(gap, 50.0))


def _range(parser: Parser) -> set[int]:
    r"""Return the columns, from 0, of a `\cline{2-3}`."""
    first, _, last = "".join(parser.name_argument()).replace(" ", "").partition("-")
    numbers = [int(text) for text in (first, last) if text.isdecimal() and len(text) < 4]
    if len(numbers) < 2 or not 0 < numbers[0] <= numbers[1] <= _MAX_COLUMNS:
        raise parser.syntax_error(
            f'invalid columns of "{parser.command}": expected a range', hint="write `\\cline{1-2}`"
        )
    return set(range(numbers[0] - 1, numbers[1]))


def _read_row(parser: Parser, row: GridRow, name: str, layout: GridLayout) -> None:
    while True:
        column = len(row.cells)
        if column == (layout.columns or _MAX_COLUMNS):
            said = f'too many columns in this row: "{name}" has {column} column{"s" if column > 1 else ""}'
            raise ParseError("math-syntax", said, parser.end_token, hint=layout.hint)
        parser.environment = name
        parser.set_style(layout.style)
        mark = parser.mark()
        parser.intertext = parser.shove = ""
        if column in layout.prefixes:
            parser.spend(_REPEATED_TOKEN_COST * len(layout.prefixes[column]))
            parser.push(layout.prefixes[column])
        if layout.text_from and column + 1 >= layout.text_from:
            _text_cell(parser)
        if layout.rules and parser.peek() == "\\multicolumn":
            row.spans[column] = _read_span(parser, column)
        row.cells.append(parser.row(layout.before(column)))
        if column in row.spans:
            row.cells += [[] for _ in range(row.spans[column].columns - 1)]
        row.shove = parser.shove or row.shove
        row.between = parser.intertext or row.between
        parser.restore(mark)
        if parser.end_token != "&":
            return


def _read_span(parser: Parser, column: int) -> WideCell:
    r"""Read `\multicolumn{count}{column}{content}`. The content is read next."""
    parser.command = parser.pop()
    count = "".join(parser.name_argument()).strip()
    if not count.isdecimal() or not 0 < int(count) <= _MAX_COLUMNS - column:
        raise parser.syntax_error(
            f'invalid number of columns "{count}" for "\\multicolumn"',
            hint=f"write a number from 1 to {_MAX_COLUMNS - column}",
        )
    specification = tuple(str(token) for token in parser.argument() if token != " ")
    parser.push(["{", *parser.argument(), "}"])
    return WideCell(int(count), specification)


def _text_cell(parser: Parser) -> None:
    r"""Put the content of the next cell into a `\text{…}`, unless it is a formula."""
    held, depth = list[str](), 0
    while parser.stack:
        token = parser.stack[-1]
        if not depth and token in ("&", "\\\\", "\\cr", "\\end"):
            break
        if not depth and token in _NUMBERING:
            # the command belongs to the row, not to the text of the cell
            parser.command = parser.pop()
            parser.constructs.commands[token](parser, token)
            continue
        depth += (token in ("{", "\\begin")) - (token in ("}", "\\end"))
        held.append(parser.stack.pop())
    if "$" not in held and _IS_FORMULA.intersection(held):
        parser.push(held)
    elif any(token != " " for token in held):
        parser.push(["\\text", "{", *_strip_spaces(held), "}"])


def _strip_spaces(tokens: list[str]) -> list[str]:
    places = [index for index, token in enumerate(tokens) if token != " "]
    return tokens[places[0] : places[-1] + 1]


def read_lines(parser: Parser) -> Sequence[str]:
    """Read up to the token that ends a formula or its environment. Return the markup; `parser.end_token` is
    this token.

    Several lines become rows of a table.
    """
    lines = [parser.row()]
    while parser.end_token in ROW_BREAKS:
        if parser.end_token == "\\cr":
            hint = "write `\\\\` inside `\\begin{aligned}…\\end{aligned}`"
            raise ParseError(
                "math-syntax", '"\\cr" is not allowed outside a table', parser.end_token, hint=hint
            )
        read_gap(parser)
        lines.append(parser.row())
    if not lines[-1]:
        lines.pop()
    if len(lines) < 2:
        return lines[0] if lines else ()
    rows = "".join(f"<mtr><mtd>{''.join(line)}</mtd></mtr>" for line in lines)
    style = str(parser.is_display).lower()
    return (f'<mtable class="math-align" displaystyle="{style}">{rows}</mtable>',)


def read_gap(parser: Parser) -> float:
    r"""Read `*` and `[5pt]` directly after `\\`. Return the gap in em; 0 if there is none or if it is a
    register of TeX. ParseError if the brackets contain anything else."""
    if parser.stack and parser.stack[-1] == "*":
        parser.stack.pop()
    if not parser.stack or parser.stack[-1] != "[":
        return 0.0
    inside = parser.optional()
    if inside is None:
        return 0.0
    text = "".join(inside)
    gap = ems(text)
    if gap is None:
        if inside and inside[-1][0] == "\\" and inside[-1].endswith(_REGISTERS):
            return 0.0
        is_number = text.strip().replace(".", "", 1).isdecimal()
        message = f'missing unit of the gap "[{text}]"' if is_number else f'invalid gap "[{text}]"'
        length = f"{text.strip()}pt" if is_number else "5pt"
        hint = f"write `\\\\[{length}]`, or `\\\\{{}}[{text.strip()}]` to print the brackets"
        raise ParseError("math-syntax", message, inside[0] if inside else "[", hint=hint)
    return max(-5.0, min(gap, 50.0))


def read_place(parser: Parser) -> None:
    """Skip `[t]`, or a width in brackets, after the name of an environment. Other brackets are content."""
    found = parser.optional()
    if found is None:
        return
    text = "".join(found).strip()
    if text not in ("", "t", "c", "b") and ems(text) is None:
        parser.push(["[", *found, "]"])


def end_environment(parser: Parser, name: str, begin: str) -> None:
    r"""Consume `\end{name}`. ParseError if the environment is ended in another way."""
    token = parser.pop()
    before, parser.command = parser.command, token or begin
    found = "".join(parser.name_argument()).strip() if token else ""
    if found != name:
        said = f'unexpected "\\end{{{found}}}": "\\begin{{{name}}}" is still open'
        raise ParseError("math-brace", said, token, hint=f"write `\\end{{{name}}}` before it")
    parser.command = before


def cell(pieces: Sequence[str], attributes: str = "") -> str:
    """Return one `mtd` element with these pieces."""
    return f"<mtd{attributes}>{''.join(pieces)}</mtd>"


def small_table(rows: str, *, in_script: bool) -> str:
    """Return a table in script size. in_script: whether the surrounding formula has that size already."""
    table = f'<mtable class="math-small">{rows}</mtable>'
    return table if in_script else f'<mstyle scriptlevel="1">{table}</mstyle>'


def align_cell(side: str, more: str = "") -> str:
    """Return the attributes of a cell aligned to a side; browsers centre by default. more: further CSS."""
    style = f"text-align:{side};justify-items:{side}" if side in ("left", "right") else ""
    style = ";".join(filter(None, (style, more)))
    return f' style="{style}"' if style else ""


def row_style(row: GridRow) -> str:
    """Return the CSS of a row's first cell, or of all its cells, for the space above and below the row. Space
    is never negative."""
    above, below = (row.stretch - 1) * _STRUT_HEIGHT, row.gap + (row.stretch - 1) * _STRUT_DEPTH
    styles = [
        f"padding-top:{css(above)}" if above > 0 else "",
        f"padding-bottom:{css(below)}" if below > 0 else "",
    ]
    return ";".join(filter(None, styles))


SPACER = '<mtd style="width:50%"></mtd>'
_NUMBER_CELL = '<mtd class="eq-cell" style="width:50%;text-align:right;justify-items:end">'


def number_row(cells: str, mark: RowNumber | None) -> str:
    """Return a row with its formula number at the right edge. The number is not a link, because nothing
    inside a formula may be focusable."""
    if mark is None or not mark.number:
        return f"<mtr>{SPACER}{cells}{_NUMBER_CELL}</mtd></mtr>"
    plain = escape(mark.number if mark.is_bare else f"({mark.number})", quote=False)
    shown = f'<mtext class="eq-number">{plain}</mtext>'
    if mark.mathml:
        shown = f'<mrow class="eq-number">{mark.mathml}</mrow>'
    anchor = f' id="{escape(mark.id)}"' if mark.id else ""
    return f"<mtr{anchor}>{SPACER}{cells}{_NUMBER_CELL}{shown}</mtd></mtr>"


def print_rows(
    rows: Sequence[GridRow], sides: Callable[[int], str], numbers: Sequence[RowNumber | None]
) -> str:
    """Return all rows, each as wide as the widest. sides: column → `left`, `right` or empty."""
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
