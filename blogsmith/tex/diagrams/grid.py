"""Reads the cells of a diagram, and the commands for arrows in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from ...model.tex_macros import Macro
from ..parse.errors import ParseError
from ..parse.lengths import ems
from ..parse.parser import Parser
from .records import MAX_ARROWS, MAX_CELLS, Arrow, ArrowDiagram, SizedFormula

_ROW_ENDS = frozenset(("\\\\", "\\cr", "\\tabularnewline"))
_MAX_MACROS = 200


class DiagramGrid(Struct):
    """Cells and arrows while they are read."""

    rows: list[list[SizedFormula]] = field(default_factory=lambda: [[]])
    arrows: list[Arrow] = field(default_factory=list)
    column_gaps: dict[int, float] = field(default_factory=dict)
    row_gaps: dict[int, float] = field(default_factory=dict)
    names: dict[str, tuple[int, int]] = field(default_factory=dict)
    count: int = 0

    @property
    def row(self) -> int:
        """Index, from 0, of the row being read."""
        return len(self.rows) - 1

    @property
    def column(self) -> int:
        """Index, from 0, of the cell being read in its row."""
        return len(self.rows[-1])

    def add(self, arrow: Arrow) -> None:
        """Add an arrow. ParseError if there are too many."""
        if len(self.arrows) >= MAX_ARROWS:
            message = f"too many arrows: {MAX_ARROWS} are allowed in a diagram"
            raise ParseError("math-limit", message, arrow.token)
        self.arrows.append(arrow)

    def end_cell(self, cell: SizedFormula, token: str) -> None:
        """Add a cell, which `token` ends. ParseError if there are too many."""
        self.count += 1
        if self.count > MAX_CELLS:
            raise ParseError("math-limit", f"too many cells: {MAX_CELLS:,} are allowed in a diagram", token)
        self.rows[-1].append(cell)

    def diagram(self, **settings: Any) -> ArrowDiagram:
        """Return the diagram, without an empty last row. settings: Further fields of the record."""
        is_used = any(arrow.source.row == self.row for arrow in self.arrows)
        if len(self.rows) > 1 and not is_used and not any(cell.mathml for cell in self.rows[-1]):
            self.rows.pop()
        return ArrowDiagram(
            cells=tuple(map(tuple, self.rows)),
            arrows=tuple(self._named_arrows()),
            column_gaps=self.column_gaps,
            row_gaps=self.row_gaps,
            names=self.names,
            **settings,
        )

    def _named_arrows(self) -> Iterator[Arrow]:
        """Yield the arrows. The end of an arrow may be written `D`: if a label has that name, the end is this
        label, otherwise `D` is a direction."""
        names = {label.name for arrow in self.arrows for label in arrow.labels if label.name}
        for arrow in self.arrows:
            source, target = (
                replace(end, name=end.letters) if end.letters in names else end
                for end in (arrow.source, arrow.target)
            )
            yield replace(arrow, source=source, target=target)


def read_grid(
    parser: Parser,
    body: Sequence[str],
    commands: Mapping[str, Callable[[Parser, DiagramGrid, str], None]],
    typeset_cell: Callable[[Parser, DiagramGrid, list[str]], SizedFormula],
    separator: str = "&",
) -> DiagramGrid:
    """Return the cells and arrows in `body`. commands: function for each command of an arrow, called after
    the command was consumed. separator: token between cells."""
    grid = DiagramGrid()
    rest, parser.stack = parser.stack, list(reversed(body))
    structural = {separator, *_ROW_ENDS, *commands}
    held: list[str] = []
    depth = 0
    while parser.stack:
        token = parser.stack.pop()
        if not depth and token in parser.macros and _is_structural(parser, token, structural):
            parser.expand(token)
            continue
        depth += (token in ("{", "\\begin")) - (token in ("}", "\\end"))
        if depth or token not in structural:
            held += [token] if held or token != " " else []
        elif token in commands:
            commands[token](parser, grid, token)
        else:
            grid.end_cell(typeset_cell(parser, grid, held), token)
            held = []
            gap = _gap(parser)
            if token == separator:
                column = grid.column - 1
                grid.column_gaps[column] = max(gap, grid.column_gaps.get(column, 0.0))
            else:
                grid.row_gaps[grid.row] = gap
                grid.rows.append([])
    grid.end_cell(typeset_cell(parser, grid, held), parser.command)
    parser.stack = rest
    return grid


def _gap(parser: Parser) -> float:
    """Read the `[1em]` directly after the end of a cell or row. Return it in em; 0 if there is none."""
    inside = parser.optional() if parser.stack and parser.stack[-1] == "[" else None
    gap = None if inside is None else ems("".join(inside))
    if gap is None and inside is not None:
        parser.push(["[", *inside, "]"])
    return max(-5.0, min(50.0, gap or 0.0))


def _is_structural(parser: Parser, name: str, commands: set[str]) -> bool:
    """Return whether a macro produces cells or arrows, directly or through other macros."""
    seen, pending = {name}, [name]
    while pending and len(seen) < _MAX_MACROS:
        macro = parser.macros[pending.pop()]
        body = macro.body if isinstance(macro, Macro) else ()
        if not commands.isdisjoint(body):
            return True
        new = {token for token in body if token in parser.macros} - seen
        seen |= new
        pending += new
    return False
