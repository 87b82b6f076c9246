r"""Rows with numbers of their own inside one pair of delimiters: `numcases` and `empheq`.

Sources: the LaTeX packages cases (`numcases`, `subnumcases`) and empheq. A delimiter that is as high as all
rows cannot be in one table with them, so the numbers are in a second table beside the block. Each row of this
table contains a row of the block invisibly, so that their heights are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from ...base.patterns import lazy_pattern
from ..mathml.atoms import NONE, ORD, Atom
from ..parse.parser import Environment, Parser
from ..parse.scan import split_tokens
from ..parse.state import DISPLAY, TEXT, RowNumber
from .boxes import frame_box
from .delimiters import fence
from .grid import SPACER, GridLayout, GridRow, cell, number_row, print_rows, read_grid

_ID = lazy_pattern(r' id="[^"]*"')
_DELIMITERS: Mapping[str, str] = MappingProxyType(
    {
        f"\\empheq{size}{side}{name}": sign
        for size in ("", "big")
        for side, signs in (("l", "{[(|‖⟨⌊⌈"), ("r", "}])|‖⟩⌋⌉"))
        for name, sign in zip(
            ("brace", "brack", "paren", "vert", "Vert", "angle", "floor", "ceil"), signs, strict=True
        )
    }
)
"""Command → delimiter that is as high as the rows."""
_INNER = frozenset(
    ("align", "alignat", "flalign", "gather", "multline", "equation", "eqnarray", "IEEEeqnarray")
)


def _cases(parser: Parser, name: str) -> Atom:
    r"""Typeset `\begin{numcases}{f(x)=} 1 & x>0 \\ 0 & x<0 \end{numcases}`."""
    # an empty group, so that a relation at the end has the space after it
    before = parser.parse_group([*parser.argument(), "{", "}"])
    numbers = parser.take_numbers()
    hint = "write `empheq` for more columns"
    # the second column is text, as in the package
    grid = read_grid(parser, name, GridLayout(TEXT, columns=2, hint=hint, text_from=2))
    table = f'<mtable class="math-cases">{print_rows(grid.rows, _left, ())}</mtable>'
    block = f"<mrow>{''.join(before)}{fence('{', 'prefix')}{table}</mrow>"
    return ORD, _with_numbers(block, grid.rows, numbers, "math-cases")


def _empheq(parser: Parser, name: str) -> Atom:
    r"""Typeset `\begin{empheq}[left=\empheqlbrace, box=\fbox]{align} … \end{empheq}`."""
    options = dict(map(_option, split_tokens(parser.optional() or [], ",")))
    inner = "".join(parser.name_argument()).strip().partition("=")[0].rstrip("*")
    if inner not in _INNER:
        raise parser.syntax_error(f'unknown environment "{inner}" in "{name}"', hint="write `align`")
    numbers = parser.take_numbers()
    columns = {"gather": 1, "multline": 1, "equation": 1, "eqnarray": 3}.get(inner, 0)
    layout = GridLayout(DISPLAY, _class_before_cell, columns, "use `align` for columns", lines=True)
    grid = read_grid(parser, name, layout)
    sides: Callable[[int], str] = {1: _centre, 3: _eqnarray_side}.get(columns, _alternate)
    table = f'<mtable class="math-align" displaystyle="true">{print_rows(grid.rows, sides, ())}</mtable>'
    block = "".join((*_beside(parser, options, "left"), table, *_beside(parser, options, "right")))
    block = frame_box("math-fbox", [block]) if "box" in options else f"<mrow>{block}</mrow>"
    return ORD, _with_numbers(block, grid.rows, numbers, "math-align")


def _option(written: Sequence[str]) -> tuple[str, list[str]]:
    """Return the name and the value of an option such as `left=\\empheqlbrace`."""
    found = [token for token in written if token != " "]
    at = found.index("=") if "=" in found else len(found)
    return "".join(found[:at]), found[at + 1 :]


def _beside(parser: Parser, options: Mapping[str, list[str]], side: str) -> list[str]:
    """Return the formula and the delimiters to the left or right of the rows."""
    made: list[str] = []
    waiting: list[str] = []
    for token in options.get(side, ()):
        if token not in _DELIMITERS:
            waiting.append(token)
            continue
        made += [
            *parser.parse_group([*waiting, "{", "}"] if waiting else []),
            fence(_DELIMITERS[token], f"{'pre' if side == 'left' else 'post'}fix"),
        ]
        waiting = []
    return [*made, *parser.parse_group(waiting)]


def _with_numbers(block: str, rows: Sequence[GridRow], numbers: Sequence[RowNumber | None], look: str) -> str:
    """Return the block with the number of each row at the right edge. numbers: None for a row without a
    number; without any number, return the block unchanged."""
    if not any(numbers):
        return block
    printed = []
    for index, row in enumerate(rows):
        hidden = "".join(piece for pieces in row.cells for piece in pieces)
        numbered = number_row("", numbers[index] if index < len(numbers) else None)
        copy = cell([f"<mphantom>{_ID.sub('', hidden)}</mphantom>"])
        printed.append(numbered.replace(SPACER, copy).replace("width:50%;", ""))
    table = f'<mtable class="{look} math-heights">{"".join(printed)}</mtable>'
    edge = cell([table], ' style="width:50%;text-align:right;justify-items:end"')
    line = f"<mtr>{SPACER}{cell([block])}{edge}</mtr>"
    return f'<mtable class="math-align" displaystyle="true" style="width:100%">{line}</mtable>'


def _class_before_cell(column: int) -> int:
    return ORD if column % 2 else NONE


def _left(column: int) -> str:
    return "left"


def _centre(column: int) -> str:
    return ""


def _alternate(column: int) -> str:
    return "left" if column % 2 else "right"


def _eqnarray_side(column: int) -> str:
    return ("right", "", "left")[min(column, 2)]


ENVIRONMENTS: Mapping[str, Environment] = MappingProxyType(
    {"numcases": _cases, "subnumcases": _cases, "empheq": _empheq, "empheq*": _empheq}
)
