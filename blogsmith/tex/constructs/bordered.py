r"""Matrices with labels outside their delimiters, and the environments of nicematrix.

Sources: plain TeX's `\bordermatrix` (The TeXbook, chapter 18), and `first-row` and `first-col` of the LaTeX
package nicematrix. A delimiter that is as high as some rows of a table cannot be in the table. The
delimiters are therefore beside the table. Each delimiter contains the matrix invisibly, so that their heights
are equal, and is lowered by half the height of the row of labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...base.patterns import lazy_pattern
from ..mathml.atoms import INNER, Atom
from ..parse.parser import Environment, Parser
from ..parse.state import TEXT
from .arrays import Column, print_fenced, read_columns
from .boxes import raise_box
from .delimiters import fence
from .grid import GridLayout, GridRow, print_rows, read_grid

_ID = lazy_pattern(r' id="[^"]*"')
_HALF_ROW = 0.6
"""Half the height of a row of a matrix, in em."""
_UNSUPPORTED = ("last-row", "last-col")
_FENCES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"": ("", ""), "p": ("(", ")"), "b": ("[", "]"), "B": ("{", "}"), "v": ("|", "|"), "V": ("‖", "‖")}
)


def _bordermatrix(parser: Parser, name: str) -> Atom:
    r"""Typeset `\bordermatrix{&1&2\cr 1&a&b\cr}`: the first row and the first column are labels."""
    grid = read_grid(parser, name, GridLayout(TEXT))
    fences = "[]" if name.startswith("k") else "()"
    return INNER, _print(parser, grid.rows, (fences[0], fences[1]), has_row=True, has_column=True)


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
    fences = _FENCES[name[: name.index("Nice")]]
    if has_row or has_column:
        return INNER, _print(parser, grid.rows, fences, has_row=has_row, has_column=has_column)
    width = max(len(row.cells) for row in grid.rows)
    return INNER, print_fenced(fences, grid, plan or [Column() for _ in range(width)])


def _print(
    parser: Parser, rows: list[GridRow], fences: tuple[str, str], *, has_row: bool, has_column: bool
) -> str:
    """Return a matrix whose first row and first column are outside its delimiters."""
    labels = [GridRow(row.cells[:1]) for row in rows] if has_column else []
    inner = [GridRow(row.cells[has_column:]) for row in rows]
    body = _table(inner[has_row:] or inner)
    # the output contains the body three times
    parser.spend(2 * sum(len(cells) for row in inner for cells in row.cells))
    sides = (
        _beside(fence(sign, form), body, lowered=has_row) for sign, form in zip(fences, _FORMS, strict=True)
    )
    left, right = (side if sign else "" for side, sign in zip(sides, fences, strict=True))
    before = _table(labels) if labels else ""
    return f"<mrow>{before}{left}{_table(inner)}{right}</mrow>"


_FORMS = ("prefix", "postfix")


def _table(rows: list[GridRow]) -> str:
    return f'<mtable class="math-matrix">{print_rows(rows, _centre, ())}</mtable>'


def _centre(column: int) -> str:
    return ""


def _beside(sign: str, body: str, *, lowered: bool) -> str:
    """Return a delimiter that is as high as `body`."""
    hidden = f'<mpadded width="0"><mphantom>{_ID.sub("", body)}</mphantom></mpadded>'
    made = f"<mrow>{sign}{hidden}</mrow>"
    return raise_box(-_HALF_ROW, made) if lowered else made


ENVIRONMENTS: Mapping[str, Environment] = MappingProxyType(
    {"bordermatrix": _bordermatrix, "kbordermatrix": _bordermatrix}
    | {f"{kind}Nice{form}": _nice_matrix for kind in _FENCES for form in ("Matrix", "Array")}
)
