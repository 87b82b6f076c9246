"""Displays of several lines: `align`, `gather`, `multline`, `split`, `eqnarray` and their inner forms.

`numcases` and `empheq` have rows with numbers inside one pair of delimiters. Sources: the LaTeX packages
cases and empheq. A delimiter that is as high as all rows cannot be in one table with them, so the numbers are
in a second table beside the block. Each row of this table contains a row of the block invisibly, so that
their heights are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from ...base.patterns import lazy_pattern
from ..mathml.atoms import NONE, ORD, Atom, join_fragments
from ..parse.errors import ParseError
from ..parse.parser import Command, Environment, Parser
from ..parse.scan import split_tokens
from ..parse.state import DISPLAY, TEXT, RowNumber
from .boxes import frame_box
from .delimiters import fence
from .grid import (
    SPACER,
    Grid,
    GridLayout,
    GridRow,
    cell,
    end_environment,
    number_row,
    print_rows,
    read_grid,
    read_lines,
    read_place,
)
from .text import text

_TOP = (
    "align",
    "alignat",
    "flalign",
    "gather",
    "eqnarray",
    "multline",
    "equation",
    "xalignat",
    "xxalignat",
    "IEEEeqnarray",
)
_INNER = ("aligned", "alignedat", "split", "gathered", "multlined", "lgathered", "rgathered")


def _class_before_cell(column: int) -> int:
    """Return the class of the atom before a cell. For odd columns it is ORD, so that a relation at the start
    of the cell gets space; otherwise NONE."""
    return ORD if column % 2 else NONE


def _alternate_side(column: int) -> str:
    return "left" if column % 2 else "right"


def _top_only(parser: Parser, name: str) -> None:
    """Raise ParseError if the environment `name`, which is display math, is used in inline math."""
    if not parser.is_display:
        inner = {"align": "aligned", "gather": "gathered", "alignat": "alignedat", "split": "aligned"}.get(
            name.rstrip("*")
        )
        hint = f"write it between `$$` or `\\[ \\]`{f', or use `{inner}`' if inner else ''}"
        begin = parser.command
        raise ParseError("math-syntax", f'"{name}" is not allowed in an inline formula', begin, hint=hint)


def _align(parser: Parser, name: str) -> Atom:
    _top_only(parser, name)
    return _aligned_rows(parser, name, "math-align")


def _aligned(parser: Parser, name: str) -> Atom:
    if name == "split":
        _top_only(parser, name)
    else:
        read_place(parser)  # [t], [b]: vertical alignment with the line around it
    return _aligned_rows(parser, name, "math-align")


def _alignat(parser: Parser, name: str) -> Atom:
    if name in ("alignat", "alignat*", "xalignat", "xalignat*", "xxalignat"):
        _top_only(parser, name)
    else:
        read_place(parser)
    count = "".join(parser.name_argument()).strip()
    if not count.isdecimal() or len(count) > 2 or not int(count):
        raise parser.syntax_error(
            f'"{name}" needs a number of column pairs from 1 to 99', hint=f"write `\\begin{{{name}}}{{2}}`"
        )
    return _aligned_rows(parser, name, "math-alignat", columns=2 * int(count))


def _aligned_rows(parser: Parser, name: str, look: str, columns: int = 0) -> Atom:
    numbers = parser.take_numbers() if name.rstrip("*") in _TOP else ()
    hint = f"increase the number in `\\begin{{{name}}}{{{columns // 2}}}`" if columns else ""
    if name == "split":
        columns, hint = 2, "use `aligned` for more columns"
    grid = read_grid(
        parser, name, GridLayout(DISPLAY, before=_class_before_cell, columns=columns, hint=hint, lines=True)
    )
    return ORD, _table(look, print_rows(grid.rows, _alternate_side, numbers), bool(numbers))


def _table(look: str, rows: str, numbered: bool) -> str:
    width = ' style="width:100%"' if numbered else ""
    return f'<mtable class="{look}" displaystyle="true"{width}>{rows}</mtable>'


def _gather(parser: Parser, name: str) -> Atom:
    if name.startswith("gather") and name != "gathered":
        _top_only(parser, name)
    else:
        read_place(parser)
    numbers = parser.take_numbers() if name == "gather" or name == "gather*" else ()
    grid = read_grid(parser, name, GridLayout(DISPLAY, columns=1, hint="use `align` for columns", lines=True))
    side = {"lgathered": "left", "rgathered": "right"}.get(name, "")
    return ORD, _table("math-align", print_rows(grid.rows, lambda _: side, numbers), bool(numbers))


def _multline(parser: Parser, name: str) -> Atom:
    """Typeset lines with the first one left, the last one right, the others centred."""
    if name.startswith("multline") and name != "multlined":
        _top_only(parser, name)
    else:
        read_place(parser)
        read_place(parser)
    grid = read_grid(parser, name, GridLayout(DISPLAY, columns=1, hint="use `align` for columns", lines=True))
    return ORD, _table("math-align math-multline", _shove_rows(grid), name != "multlined")


def _shove_rows(grid: Grid) -> str:
    last = len(grid.rows) - 1
    printed = []
    for index, row in enumerate(grid.rows):
        side = row.shove or ("left" if index == 0 else "right" if index == last else "")
        printed.append(print_rows([row], _constant(side), ()))
    return "".join(printed)


def _constant(side: str) -> Callable[[int], str]:
    return lambda _: side


_IEEE_SIDES: Mapping[str, str] = MappingProxyType(
    {
        "l": "left",
        "L": "left",
        "c": "",
        "C": "",
        "r": "right",
        "R": "right",
        "s": "left",
        "t": "",
        "u": "right",
    }
)
"""Letter of a column of `IEEEeqnarray` (IEEEtrantools) → side that its cells are aligned to."""


def _eqnarray(parser: Parser, name: str) -> Atom:
    _top_only(parser, name)
    sides: tuple[str, ...] = ("right", "", "left")
    if name.startswith("IEEE"):
        sides = tuple(
            _IEEE_SIDES[letter] for letter in "".join(parser.name_argument()) if letter in _IEEE_SIDES
        )
    if not sides:
        raise parser.syntax_error(f'missing columns of "{name}"', hint=f"write `\\begin{{{name}}}{{rCl}}`")
    numbers = parser.take_numbers()
    hint = "add a letter to its columns" if name.startswith("IEEE") else "use `align` for more columns"
    grid = read_grid(parser, name, GridLayout(DISPLAY, columns=len(sides), hint=hint, lines=True))
    return ORD, _table("math-eqnarray", print_rows(grid.rows, lambda c: sides[c], numbers), bool(numbers))


def _wrapper(parser: Parser, name: str) -> Atom:
    """Typeset the content of `equation`, `subequations` and similar environments. Several lines are typeset
    like those of a display without an environment."""
    if name == "spreadlines":
        # mathtools: the stylesheet sets the distance of rows
        parser.name_argument()
    elif name != "math":
        _top_only(parser, name)
    begin = parser.command
    old, table = parser.style, parser.atoms
    parser.set_style(DISPLAY if name != "math" else parser.style)
    mark = parser.mark()
    out = read_lines(parser)
    if parser.end_token != "\\end":
        found = parser.end_token
        if found:
            hint = "use `align`, or `split` inside of it" if found == "&" else ""
            raise ParseError("math-syntax", f'"{found}" is not allowed in "{name}"', found, hint=hint)
        raise ParseError("math-brace", f'"\\begin{{{name}}}" is never closed', begin, unclosed=True)
    parser.restore(mark)
    parser.stack.append(parser.end_token)
    end_environment(parser, name, begin)
    parser.style, parser.atoms = old, table
    return ORD, join_fragments(out)


def _intertext(parser: Parser, command: str) -> None:
    if parser.environment.rstrip("*") not in (*_TOP, *_INNER):
        raise parser.syntax_error(
            f'"{command}" is not allowed outside an alignment', hint="write it between two rows of `align`"
        )
    if parser.previous != NONE:
        parser.push(["\\\\", command])  # ends the row, as in amsmath
        return
    parser.intertext = text(parser, parser.argument())


def _shove(parser: Parser, command: str) -> Atom:
    parser.shove = command.removeprefix("\\shove")
    return ORD, join_fragments(parser.parse_group(parser.argument()))


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
"""Command → delimiter that grows to the height of all rows."""
_EMPHEQ_INNER = frozenset(
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
    table = f'<mtable class="math-cases">{print_rows(grid.rows, lambda column: "left", ())}</mtable>'
    block = f"<mrow>{''.join(before)}{fence('{', 'prefix')}{table}</mrow>"
    return ORD, _with_numbers(block, grid.rows, numbers, "math-cases")


def _empheq(parser: Parser, name: str) -> Atom:
    r"""Typeset `\begin{empheq}[left=\empheqlbrace, box=\fbox]{align} … \end{empheq}`."""
    options = dict(map(_option, split_tokens(parser.optional() or [], ",")))
    inner = "".join(parser.name_argument()).strip().partition("=")[0].rstrip("*")
    if inner not in _EMPHEQ_INNER:
        raise parser.syntax_error(f'unknown environment "{inner}" in "{name}"', hint="write `align`")
    numbers = parser.take_numbers()
    columns = {"gather": 1, "multline": 1, "equation": 1, "eqnarray": 3}.get(inner, 0)
    layout = GridLayout(DISPLAY, _class_before_cell, columns, "use `align` for columns", lines=True)
    grid = read_grid(parser, name, layout)
    sides: Callable[[int], str] = {1: lambda column: "", 3: _eqnarray_side}.get(columns, _alternate_side)
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
    """Return the markup of the formula and the delimiters beside the rows. side: `left` or `right`."""
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
    """Return the block with the number of each row at the right edge; the block itself if no row has a
    number. numbers: None for a row without a number. look: CSS class of the table of numbers."""
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


def _eqnarray_side(column: int) -> str:
    return ("right", "", "left")[min(column, 2)]


ENVIRONMENTS: Mapping[str, Environment] = MappingProxyType(
    {name: _align for name in ("align", "align*", "flalign", "flalign*")}
    | {name: _aligned for name in ("aligned", "split")}
    | {name: _alignat for name in ("alignat", "alignat*", "alignedat", "xalignat", "xalignat*", "xxalignat")}
    | {name: _gather for name in ("gather", "gather*", "gathered", "lgathered", "rgathered")}
    | {name: _multline for name in ("multline", "multline*", "multlined")}
    | {name: _eqnarray for name in ("eqnarray", "eqnarray*", "IEEEeqnarray", "IEEEeqnarray*")}
    | {
        name: _wrapper
        for name in ("equation", "equation*", "displaymath", "math", "subequations", "spreadlines")
    }
    | {"numcases": _cases, "subnumcases": _cases, "empheq": _empheq, "empheq*": _empheq}
)


COMMANDS: Mapping[str, Command] = MappingProxyType(
    {name: _intertext for name in ("\\intertext", "\\shortintertext")}
    | {name: _shove for name in ("\\shoveleft", "\\shoveright")}
)
