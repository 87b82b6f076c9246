"""amscd's `CD` environment: rows of cells with arrows between them, and rows of vertical arrows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ..parse.errors import ParseError
from ..parse.parser import Parser
from ..parse.state import DISPLAY, SCRIPT
from .grid import DiagramGrid
from .layout import typeset
from .records import Arrow, ArrowDiagram, ArrowLabel, End, Side, SizedFormula

_GAPS, _PADDING = (2.0, 1.9), (0.28, 0.28)
_DIRECTIONS: Mapping[str, str] = MappingProxyType(
    {">": ">", ")": ">", "<": "<", "(": "<", "=": "=", "V": "V", "A": "A", "|": "|", ".": "."}
)
"""Character after an `@` → direction of the arrow."""


def read_cd(parser: Parser, body: Sequence[str]) -> ArrowDiagram:
    """Return the diagram of a `CD` environment. ParseError if its syntax is wrong."""
    rest, parser.stack = parser.stack, list(reversed(body))
    grid, held, depth = DiagramGrid(), list[str](), 0
    while parser.stack:
        token = parser.stack.pop()
        depth += (token in ("{", "\\begin")) - (token in ("}", "\\end"))
        if depth or token not in ("\\\\", "\\cr", "@", "&"):
            held.append(token)
            continue
        if token == "&":
            hint = "separate cells by an arrow such as `@>>>`, or by `@.` for none"
            raise ParseError("math-syntax", '"&" is not allowed in "CD"', token, hint=hint)
        grid.end_cell(typeset(parser, held, DISPLAY), token)
        held = []
        if token == "@":
            _read_arrow(parser, grid)
        else:
            if parser.stack and parser.stack[-1] == "[":
                parser.optional()
            _end_row(grid)
    grid.end_cell(typeset(parser, held, DISPLAY), parser.command)
    _end_row(grid)
    grid.rows.pop()
    parser.stack = rest
    return grid.diagram(gaps=_GAPS, padding=_PADDING, has_wide_labels=True)


def _end_row(grid: DiagramGrid) -> None:
    """Begin a new row. If the row just read has no cells, its vertical arrows belong to the row before it."""
    if grid.row and not any(cell.mathml for cell in grid.rows[-1]) and grid.column > 1:
        grid.rows.pop()
    grid.rows.append([])


def _read_arrow(parser: Parser, grid: DiagramGrid) -> None:
    kind = parser.pop()
    direction = _DIRECTIONS.get(kind)
    if direction is None:
        hint = "write one of `@>>>`, `@<<<`, `@VVV`, `@AAA`, `@=`, `@|`, `@.`"
        raise ParseError("math-syntax", f'unknown arrow "@{kind}"', kind or parser.command, hint=hint)
    boxes = [_label(parser, kind, count) for count in (2, 1)] if direction not in "=|." else []
    # a vertical arrow is written below its cell, a horizontal one after it
    row, column = (grid.row - 1, grid.column - 1) if direction in "VA|" else (grid.row, grid.column - 1)
    start, end = End(row, column), End(row + (direction in "VA|"), column + (direction in "><="))
    sides: tuple[Side, Side] = ("west", "east") if direction in "VA" else ("above", "below")
    labels = [ArrowLabel(box, side) for box, side in zip(boxes, sides, strict=False) if box.mathml]
    ends = (end, start) if direction in "<A" else (start, end)
    lines, head = (2, "") if direction in "=|" else (1, "to")
    if direction != ".":
        grid.add(Arrow(*ends, tuple(labels), head=head, lines=lines, token=kind))


def _label(parser: Parser, kind: str, missing: int) -> SizedFormula:
    """Read a label up to the next `kind`, the character that is also before the label. missing: how often
    `kind` must still occur in the arrow."""
    taken: list[str] = []
    depth = 0
    while parser.stack:
        token = parser.stack.pop()
        if token == kind and not depth:
            return typeset(parser, taken, SCRIPT)
        depth += (token == "{") - (token == "}")
        if token == "\\\\" or depth < 0:
            break
        taken.append(token)
    rest = kind * missing
    message = f'incomplete arrow "@{kind}": missing "{rest}"'
    hint = f"write `@{kind}{kind}{kind}`, or `@{kind}f{kind}g{kind}` with labels"
    raise ParseError("math-syntax", message, kind, hint=hint)
