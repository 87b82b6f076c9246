"""Commutative diagrams: amscd's `CD` environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from types import MappingProxyType

from ..mathml.atoms import ORD, Atom
from ..mathml.fragments import join_fragments
from ..parse.errors import ParseError
from ..parse.parser import Environment, Parser
from ..parse.state import DISPLAY, SCRIPT
from .boxes import lap_box
from .grid import cell, end_environment, read_gap, spend_empty_cells
from .stacks import label_arrow

# after an @
_HORIZONTAL_ARROWS: Mapping[str, str] = MappingProxyType({">": "→", "<": "←", "=": "=", ")": "→", "(": "←"})
_VERTICAL_ARROWS: Mapping[str, str] = MappingProxyType({"V": "↓", "A": "↑", "|": "∥"})


def _cd(parser: Parser, name: str) -> Atom:
    begin = parser.command
    old, table = parser.style, parser.atoms
    rows: list[_Row] = [_Row()]
    held: list[str] = []
    depth = 0
    while True:
        if not parser.stack:
            raise ParseError("math-brace", f'"\\begin{{{name}}}" is never closed', begin, unclosed=True)
        token = parser.stack.pop()
        if token == "\\end" and not depth:
            parser.stack.append(token)
            break
        depth += (token in ("{", "\\begin")) - (token in ("}", "\\end"))
        if token in ("\\\\", "\\cr") and not depth:
            _take_cell(parser, rows[-1], held)
            read_gap(parser)
            rows.append(_Row())
        elif token == "@" and not depth:
            _take_cell(parser, rows[-1], held)
            rows[-1].arrows.append(_arrow(parser))
        elif token == "&" and not depth:
            hint = "separate cells by an arrow such as `@>>>`, or by `@.` for none"
            raise ParseError("math-syntax", '"&" is not allowed in "CD"', token, hint=hint)
        else:
            held.append(token)
    _take_cell(parser, rows[-1], held)
    end_environment(parser, name, begin)
    parser.style, parser.atoms = old, table
    return ORD, _table(parser, [row.cells_xml() for row in rows])


@dataclass(slots=True)
class _Row:
    """Cells with arrows between them, or vertical arrows alone."""

    cells: list[str] = field(default_factory=list)
    """One more cell than arrows; a cell without content is ""."""
    arrows: list[str] = field(default_factory=list)

    def cells_xml(self) -> list[str]:
        """Return the cells of the table: a vertical arrow is below a cell, a horizontal one between two."""
        if any(self.cells):
            return [cell for pair in zip_longest(self.cells, self.arrows, fillvalue="") for cell in pair][:-1]
        return [cell for arrow in self.arrows for cell in (arrow, "")][:-1]


def _take_cell(parser: Parser, row: _Row, held: list[str]) -> None:
    """Typeset the cell before an arrow or the end of the row."""
    parser.spend(len(held))
    filled = any(token != " " for token in held)
    row.cells.append(join_fragments(parser.parse_group(list(held), DISPLAY)) if filled else "")
    held.clear()


def _table(parser: Parser, rows: list[list[str]]) -> str:
    if len(rows) > 1 and not rows[-1]:
        rows.pop()
    spend_empty_cells(parser, [len(row) for row in rows])
    for row in rows:
        while row and not row[-1]:
            row.pop()
    width = max(len(row) for row in rows)
    printed = ("".join(map(cell, [*row, *[""] * (width - len(row))])) for row in rows)
    body = "".join(f"<mtr>{row}</mtr>" for row in printed)
    return f'<mtable class="math-cd" displaystyle="true">{body}</mtable>'


def _arrow(parser: Parser) -> str:
    kind = parser.pop()
    if kind == ".":
        return ""
    if kind in "=|":
        return _horizontal_arrow("=", "", "") if kind == "=" else _down("∥", "", "")
    if kind not in _HORIZONTAL_ARROWS and kind not in _VERTICAL_ARROWS:
        raise ParseError(
            "math-syntax",
            f'unknown arrow "@{kind}"',
            kind or parser.command,
            hint="known: @>>>, @<<<, @VVV, @AAA, @=, @|, @.",
        )
    first, second = _label(parser, kind), _label(parser, kind)
    return (
        _horizontal_arrow(_HORIZONTAL_ARROWS[kind], first, second)
        if kind in _HORIZONTAL_ARROWS
        else _down(_VERTICAL_ARROWS[kind], first, second)
    )


def _label(parser: Parser, kind: str) -> str:
    """Read a label up to the next `kind`."""
    taken: list[str] = []
    depth = 0
    while parser.stack:
        token = parser.stack.pop()
        if token == kind and not depth:
            return join_fragments(parser.parse_group(taken, SCRIPT)) if [t for t in taken if t != " "] else ""
        depth += (token == "{") - (token == "}")
        if token in ("\\end", "\\\\") or depth < 0:
            break
        taken.append(token)
    raise ParseError(
        "math-syntax",
        f'incomplete arrow "@{kind}": expected "{kind}" twice more',
        kind,
        hint=f"write `@{kind} above {kind} below {kind}`",
    )


def _horizontal_arrow(sign: str, above: str, below: str) -> str:
    return label_arrow(sign, above or "<mrow></mrow>", below)


def _down(sign: str, left: str, right: str) -> str:
    size = 'stretchy="true" symmetric="true" minsize="1.8em" maxsize="1.8em"'
    arrow = f'<mo {size} lspace="0" rspace="0">{sign}</mo>'
    before = lap_box(_small(left), "llap") if left else ""
    behind = lap_box(_small(right), "rlap") if right else ""
    return f'<mrow class="math-cd-down">{before}{arrow}{behind}</mrow>'


def _small(xml: str) -> str:
    return f'<mstyle displaystyle="false" scriptlevel="1">{xml}</mstyle>'


ENVIRONMENTS: Mapping[str, Environment] = MappingProxyType({"CD": _cd})
