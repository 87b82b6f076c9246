r"""Matrices, `array`, `cases`, small matrices and stacks; matrices with labels outside their delimiters.

Sources of the labels: plain TeX's `\bordermatrix` (The TeXbook, chapter 18), and `first-row` and `first-col`
of the LaTeX package nicematrix. A delimiter that is as high as some rows of a table cannot be in the table.
The delimiters are therefore beside the table. Each delimiter contains the matrix invisibly, so that their
heights are equal, and is lowered by half the height of the row of labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from ...base.patterns import lazy_pattern
from ..mathml.atoms import INNER, ORD, Atom
from ..parse.errors import ParseError
from ..parse.lexer import ROW_BREAKS
from ..parse.parser import Environment, Parser
from ..parse.reader import Macro, fill_body
from ..parse.state import DISPLAY, SCRIPT, TEXT
from .boxes import raise_box
from .delimiters import fence
from .grid import (
    Grid,
    GridLayout,
    GridRow,
    WideCell,
    align_cell,
    cell,
    print_rows,
    read_grid,
    row_style,
    small_table,
)

_FENCES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "matrix": ("", ""),
        "pmatrix": ("(", ")"),
        "bmatrix": ("[", "]"),
        "Bmatrix": ("{", "}"),
        "vmatrix": ("|", "|"),
        "Vmatrix": ("‖", "‖"),
    }
)
_CASES_HINT = "write `array` for more columns"
# of markup
_CHARACTERS_A_TOKEN = 10


def _fence(opening: str, table: str, closing: str) -> str:
    if not opening and not closing:
        return table
    return f"<mrow>{fence(opening, 'prefix')}{table}{fence(closing, 'postfix')}</mrow>"


def _kind(name: str) -> int:
    return INNER if _FENCES.get(name.rstrip("*"), ("", ""))[0] else ORD


def _matrix(parser: Parser, name: str) -> Atom:
    side = _matrix_side(parser) if name.endswith("*") else ""
    grid = read_grid(parser, name, GridLayout(TEXT, rules=True))
    opening, closing = _FENCES[name.rstrip("*")]
    columns = max(len(row.cells) for row in grid.rows)
    plan = [Column(side) for _ in range(columns)]
    return _kind(name), print_fenced((opening, closing), grid, plan)


def _matrix_side(parser: Parser) -> str:
    """Read the `[r]` of `matrix*`. Return the side to which cells are aligned; empty if centred."""
    found = parser.optional()
    if found is None:
        return ""
    word = "".join(found).strip()
    if word not in ("l", "c", "r"):
        raise parser.syntax_error(
            f'invalid alignment "{word}" of the columns: expected l, c or r', hint="write `l`, `c` or `r`"
        )
    return SIDES[word]


def _small(parser: Parser, name: str) -> Atom:
    if name.endswith("*"):
        _matrix_side(parser)
    grid = read_grid(parser, name, GridLayout(SCRIPT))
    fences = _FENCES[name.rstrip("*").replace("smallmatrix", "matrix")]
    table = small_table(print_rows(grid.rows, lambda _: "", ()), in_script=parser.style >= SCRIPT)
    return _kind(name.replace("smallmatrix", "matrix")), _fence(fences[0], table, fences[1])


def _subarray(parser: Parser, name: str) -> Atom:
    side = SIDES.get("".join(parser.name_argument()).strip(), "")
    grid = read_grid(parser, name, GridLayout(SCRIPT, columns=1))
    return ORD, small_table(print_rows(grid.rows, lambda _: side, ()), in_script=parser.style >= SCRIPT)


def _cases(parser: Parser, name: str) -> Atom:
    style = DISPLAY if name.lstrip("r").startswith("d") else TEXT
    grid = read_grid(
        parser, name, GridLayout(style, columns=2, hint=_CASES_HINT, text_from=2 if name.endswith("*") else 0)
    )
    display = ' displaystyle="true"' if style == DISPLAY else ""
    table = f'<mtable class="math-cases"{display}>{print_rows(grid.rows, lambda _: "left", ())}</mtable>'
    closes = name.startswith(("rcases", "drcases"))
    return INNER, _fence("", table, "}") if closes else _fence("{", table, "")


def _array(parser: Parser, name: str) -> Atom:
    parser.optional()  # [t], [b]: vertical alignment with the line that contains it
    plan = read_columns(parser, name)
    style = DISPLAY if name == "darray" else TEXT
    prefixes = {index: column.prefix for index, column in enumerate(plan) if column.prefix}
    grid = read_grid(
        parser,
        name,
        GridLayout(
            style,
            rules=True,
            prefixes=prefixes,
            columns=len(plan),
            text_from=1 if name == "tabular" else 0,
            hint="add a letter to its columns for each cell",
        ),
    )
    repeated = sum(len(piece) for column in plan for piece in (*column.before, *column.behind))
    parser.spend(repeated // _CHARACTERS_A_TOKEN * len(grid.rows))
    display = ' displaystyle="true"' if style == DISPLAY else ""
    return ORD, _rule_table("", grid, plan, display)


def print_fenced(fences: tuple[str, str], grid: Grid, plan: Sequence[Column]) -> str:
    """Return a matrix between two delimiters, with its horizontal and vertical lines. plan: its columns."""
    return _fence(fences[0], _rule_table("math-matrix", grid, plan), fences[1])


def _rule_table(look: str, grid: Grid, plan: Sequence[Column], more: str = "") -> str:
    """Return the table with its horizontal and vertical lines, as CSS classes of the cells next to them.
    look: CSS class of the table. more: further attributes."""
    width = max(len(row.cells) for row in grid.rows)
    rows = []
    for index, row in enumerate(grid.rows):
        below = grid.below if index == len(grid.rows) - 1 else []
        rows.append(f"<mtr>{''.join(_cells(row, plan, width, below))}</mtr>")
    name = f' class="{look}"' if look else ""
    return f"<mtable{name}{more}>{''.join(rows)}</mtable>"


def _cells(row: GridRow, plan: Sequence[Column], width: int, below: Sequence[str]) -> list[str]:
    cells = []
    covered = 0
    for column in range(width):
        if covered:
            covered -= 1
            continue
        found, span = plan[column] if column < len(plan) else Column(), row.spans.get(column)
        if span:
            found, covered = _span_column(span), span.columns - 1
        classes = [
            *_rule(found.left, "left"),
            *_rule(found.right, "right"),
            *_rule(row.above or (("rule",) if column in row.partly_above else ()), "top"),
            *_rule(below, "bottom"),
        ]
        styles = [
            "padding-left:0" if found.tight_left else "",
            "padding-right:0" if found.tight_right else "",
            row_style(row) if column == 0 else "",
        ]
        attributes = f' columnspan="{span.columns}"' if span and covered else ""
        attributes += f' class="{" ".join(classes)}"' if classes else ""
        attributes += align_cell(found.side, ";".join(filter(None, styles)))
        pieces = row.cells[column] if column < len(row.cells) else ()
        cells.append(cell([*found.before, *pieces, *found.behind], attributes))
    return cells


def _span_column(span: WideCell) -> Column:
    """Return the column that `\\multicolumn` declares for its cell."""
    letters = "".join(span.specification)
    column = Column(next((SIDES[letter] for letter in letters if letter in SIDES), ""))
    column.left = ["rule"] * (len(letters) - len(letters.lstrip("|")))
    column.right = ["rule"] * (len(letters) - len(letters.rstrip("|")))
    return column


def _rule(rules: Sequence[str], edge: str) -> list[str]:
    if not rules:
        return []
    return [f"math-{'double' if len(rules) > 1 else rules[0]}-{edge}"]


# The columns of an `array`: `{l|c@{\,}r}` (LaTeX2e and the array package).


SIDES: Mapping[str, str] = MappingProxyType(
    {"l": "left", "c": "", "r": "right", "p": "left", "m": "left", "b": "left", "S": "right", "s": "right"}
)
"""Letter of a column → side that its cells are aligned to; empty: centred."""
_MAX_COLUMNS = 500


@dataclass(slots=True)
class Column:
    """One column of an array, while the specification of the columns is read."""

    side: str = ""
    left: list[str] = field(default_factory=list)
    """Rules to the left of the column: `rule` or `dash`."""
    right: list[str] = field(default_factory=list)
    tight_left: bool = False
    """Whether `@{}` removes the padding to the left of the column."""
    tight_right: bool = False
    before: list[str] = field(default_factory=list)
    """Markup printed before each cell."""
    behind: list[str] = field(default_factory=list)
    prefix: list[str] = field(default_factory=list)
    r"""Tokens inserted at the start of each cell: `>{\bf}`."""


def read_columns(parser: Parser, name: str) -> list[Column]:
    r"""Read the column specification in braces after `\begin{array}`."""
    tokens = [token for token in parser.name_argument() if token != " "]
    columns: list[Column] = []
    coming = Column()
    budget = 2 * _MAX_COLUMNS
    while tokens:
        budget -= 1
        if budget < 0:
            raise parser.syntax_error(f'"{name}" has too many columns', hint="declare fewer columns")
        token = tokens.pop(0)
        if token in SIDES:
            if token in "pmb":
                _take_group(tokens)
            elif token in "Ss" and tokens and tokens[0] == "[":
                # the format of the numbers (siunitx)
                del tokens[: tokens.index("]") + 1 if "]" in tokens else 1]
            coming.side = SIDES[token]
            columns.append(coming)
            coming = Column()
        elif token in "wW":  # `w{c}{2cm}`
            side = _take_group(tokens)
            _take_group(tokens)
            tokens = side + tokens
        elif (own := parser.macros.get(f"\\newcolumntype {token}")) is not None and isinstance(own, Macro):
            made = fill_body(own.body, [_take_group(tokens) for _ in range(own.arity)])
            parser.spend(len(made) + len(tokens))
            tokens = made + tokens
        elif token == "{":
            tokens.insert(0, token)
            tokens = _take_group(tokens) + tokens
        elif token == "*":
            tokens = _repeat_columns(parser, name, tokens) + tokens
        elif len(token) > 1 and set(token) <= set("lcr|"):
            tokens = [*token, *tokens]
        elif not _read_separator(parser, token, tokens, columns, coming):
            hint = "write `l`, `c` or `r` for each column, and `|` for a rule"
            raise ParseError("math-syntax", f'invalid column "{token}" of "{name}"', token, hint=hint)
    if columns:
        columns[-1].right += coming.left
    return columns


def _read_separator(
    parser: Parser, token: str, tokens: list[str], columns: list[Column], coming: Column
) -> bool:
    """Read `token` and its arguments if it is a separator between two columns. Return whether it is one."""
    if token in ("|", ":"):
        coming.left.append("rule" if token == "|" else "dash")
        return True
    if token not in ("@", "!", ">", "<"):
        return False
    held = _take_group(tokens)
    if held[:1] == ["\\vrule"]:
        coming.left.append("rule")
        return True
    if token == ">":
        coming.prefix += held
        return True
    target = columns[-1].behind if columns else coming.before
    target += parser.parse_group(held)
    if token == "@":
        coming.tight_left = True
        if columns:
            columns[-1].tight_right = True
    return True


def _repeat_columns(parser: Parser, name: str, tokens: list[str]) -> list[str]:
    """Return the columns of a `*{3}{c}`, whose star is consumed already."""
    count, what = "".join(_take_group(tokens)), _take_group(tokens)
    if not count.isdecimal() or len(count) > 3 or int(count) * max(1, len(what)) > _MAX_COLUMNS:
        raise parser.syntax_error(
            f'invalid repetition "{count}" of columns in "{name}": expected at most {_MAX_COLUMNS} columns',
            hint="write it as in `*{3}{c}`",
        )
    return what * int(count)


def _take_group(tokens: list[str]) -> list[str]:
    """Consume the group or token at the front of `tokens`. Return it without the braces of a group."""
    if not tokens or tokens[0] != "{":
        return [tokens.pop(0)] if tokens else []
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token == "{") - (token == "}")
        if not depth:
            inside = tokens[1:index]
            del tokens[: index + 1]
            return inside
    return []


_ID = lazy_pattern(r' id="[^"]*"')
_HALF_ROW = 0.6
"""Half the height of a row of a matrix, in em."""
_UNSUPPORTED = ("last-row", "last-col")
_BORDER_FENCES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"": ("", ""), "p": ("(", ")"), "b": ("[", "]"), "B": ("{", "}"), "v": ("|", "|"), "V": ("‖", "‖")}
)


def _bordermatrix(parser: Parser, name: str) -> Atom:
    r"""Typeset `\bordermatrix{&1&2\cr 1&a&b\cr}`: the first row and the first column are labels."""
    grid = read_grid(parser, name, GridLayout(TEXT))
    fences = "[]" if name.startswith("k") else "()"
    return INNER, _print(parser, grid.rows, (fences[0], fences[1]), _Border(1, 1))


def _nice_matrix(parser: Parser, name: str) -> Atom:
    r"""Typeset `\begin{pNiceMatrix}[first-row, first-col] … \end{pNiceMatrix}` and `pNiceArray`."""
    options = parser.optional() or []
    plan = read_columns(parser, name) if name.endswith("Array") else []
    words = {word.strip() for word in "".join([*options, ",", *(parser.optional() or ())]).split(",")}
    for word in _UNSUPPORTED:
        if word in words:
            hint = "write `first-row` or `first-col`"
            raise parser.syntax_error(f'option "{word}" of "{name}" has no effect', hint=hint)
    has_row, has_column = "first-row" in words, "first-col" in words
    columns = len(plan) + has_column if plan else 0
    grid = read_grid(parser, name, GridLayout(TEXT, rules=True, columns=columns))
    fences = _BORDER_FENCES[name[: name.index("Nice")]]
    if has_row or has_column:
        return INNER, _print(parser, grid.rows, fences, _Border(has_row, has_column))
    width = max(len(row.cells) for row in grid.rows)
    return INNER, print_fenced(fences, grid, plan or [Column() for _ in range(width)])


class _Border(NamedTuple):
    """How many rows (top, bottom) and columns (left, right) of a matrix are outside its delimiters."""

    top: int = 0
    left: int = 0
    bottom: int = 0
    right: int = 0


def _print(parser: Parser, rows: list[GridRow], fences: tuple[str, str], border: _Border) -> str:
    """Return a matrix between `fences`. border: rows and columns outside these delimiters."""
    end = max(len(row.cells) for row in rows) - border.right
    inner = [GridRow(row.cells[border.left : end]) for row in rows]
    body = _table(inner[border.top : len(inner) - border.bottom] or inner)
    # the output contains the body three times, also in each level of nested matrices
    parser.spend(2 * len(body) // _CHARACTERS_A_TOKEN)
    up = _HALF_ROW * (border.bottom - border.top)
    sides = (_beside(fence(sign, form), body, up) for sign, form in zip(fences, _FORMS, strict=True))
    opening, closing = (side if sign else "" for side, sign in zip(sides, fences, strict=True))
    before = _table([GridRow(row.cells[: border.left]) for row in rows]) + _GAP if border.left else ""
    after = _GAP + _table([GridRow(row.cells[end:]) for row in rows]) if border.right else ""
    return f"<mrow>{before}{opening}{_table(inner)}{closing}{after}</mrow>"


_FORMS = ("prefix", "postfix")
_GAP = '<mspace width="0.2em"/>'
"""Space between a delimiter and the labels outside: 2pt, as in plain TeX."""


def _table(rows: list[GridRow]) -> str:
    return f'<mtable class="math-matrix">{print_rows(rows, lambda column: "", ())}</mtable>'


def _beside(sign: str, body: str, up: float) -> str:
    """Return a delimiter that is as high as `body`, raised by `up` em."""
    hidden = f'<mpadded width="0"><mphantom>{_ID.sub("", body)}</mphantom></mpadded>'
    made = f"<mrow>{sign}{hidden}</mrow>"
    return raise_box(up, made) if up else made


def _block_array(parser: Parser, name: str) -> Atom:
    r"""Typeset `\begin{blockarray}{cc} a & b \\ \begin{block}{(cc)} 1 & 2 \\ \end{block} \end{blockarray}`:
    rows and columns outside the delimiters of the block are labels."""
    command = parser.command
    read_columns(parser, name)
    held: list[str] = []
    block: list[str] | None = None
    rows = depth = first = last = 0
    while parser.stack:
        token = parser.stack.pop()
        if token in ("\\begin", "\\end") and not depth:
            inner = "".join(parser.argument()).strip()
            if token == "\\end" and inner == "block":
                last = rows
                continue
            if token == "\\begin" and inner == "block":
                if block is not None:
                    raise parser.syntax_error(
                        f'unsupported syntax: second block in "{name}"', hint="write one `block`"
                    )
                block, first = parser.argument(), rows
                continue
            parser.push([token, "{", inner, "}"])
            if token == "\\end":
                break
            token = parser.pop()
        rows += token in ROW_BREAKS and not depth
        depth += (token in ("{", "\\begin")) - (token in ("}", "\\end"))
        held.append(token)
    parser.spend(len(held))
    parser.push(held)
    parser.command = command
    grid = read_grid(parser, name, GridLayout(TEXT))
    fences, left, columns = _read_block(parser, block or ())
    width = max(len(row.cells) for row in grid.rows)
    border = _Border(first, left, max(0, len(grid.rows) - last), max(0, width - left - columns))
    return INNER, _print(parser, grid.rows, fences, border if block else _Border())


def _read_block(parser: Parser, columns: Sequence[str]) -> tuple[tuple[str, str], int, int]:
    """Read the columns of a block such as `c(cc)`. Return the two delimiters, empty if there are none, the
    number of columns before the first delimiter, and the number between the two."""
    fences, counts = list[str](), [0, 0, 0]
    for token in columns:
        if token in _DELIMITERS and len(fences) < 2:
            fences.append(_DELIMITERS[token])
        else:
            counts[len(fences)] += sum(letter in SIDES for letter in token)
    if len(fences) < 2:
        return ("", ""), 0, sum(counts)
    return (fences[0], fences[1]), counts[0], counts[1]


_DELIMITERS: Mapping[str, str] = MappingProxyType(
    {sign.replace("{", "\\{").replace("}", "\\}"): sign for sign in "()[]{}|"}
)
"""Delimiter as written in the column specification of a `block` → character."""


ENVIRONMENTS: Mapping[str, Environment] = MappingProxyType(
    {name + star: _matrix for name in _FENCES for star in ("", "*")}
    | {name.replace("matrix", "smallmatrix") + star: _small for name in _FENCES for star in ("", "*")}
    | {
        name: _cases
        for name in ("cases", "dcases", "rcases", "drcases", "cases*", "dcases*", "rcases*", "drcases*")
    }
    | {"array": _array, "darray": _array, "subarray": _subarray, "tabular": _array}
    | {"blockarray": _block_array}
    | {"bordermatrix": _bordermatrix, "kbordermatrix": _bordermatrix}
    | {f"{kind}Nice{form}": _nice_matrix for kind in _BORDER_FENCES for form in ("Matrix", "Array")}
)
