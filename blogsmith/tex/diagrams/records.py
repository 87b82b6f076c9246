"""The record of a diagram: cells in a grid, and arrows between cells or labels of other arrows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

Side = Literal["left", "right", "on", "over", "above", "below", "west", "east"]
"""Position of a label: at a side of its arrow in the direction of the arrow, in a gap of the line (`on`),
over the line without a gap, or in a fixed direction from the line."""


class SizedFormula(Struct, frozen=True):
    """Typeset MathML with its estimated size."""

    mathml: str = ""
    width: float = 0.0
    ascent: float = 0.0
    """Height above the baseline."""
    descent: float = 0.0
    """Depth below the baseline."""
    tex: str = ""
    """TeX for the text alternative."""


EMPTY = SizedFormula()


class ArrowLabel(Struct, frozen=True):
    """A label of an arrow."""

    box: SizedFormula = EMPTY
    side: Side = "left"
    position: float = 0.5
    """Fraction of the way along the arrow."""
    name: str = ""
    """Name that other arrows use to start or end at the label; empty without one."""
    shift: tuple[float, float] = (0.0, 0.0)
    is_sloped: bool = False
    """Whether the label is rotated like its arrow."""
    rotation: float = 0.0
    """Further rotation in degrees, anticlockwise."""


class End(Struct, frozen=True):
    """Start or end of an arrow."""

    row: int = 0
    column: int = 0
    name: str = ""
    """Name of a label or cell, which replaces row and column; empty without one."""
    anchor: str = ""
    """Anchor such as `east` or an angle in degrees; empty: the border towards the other end."""
    shift: tuple[float, float] = (0.0, 0.0)
    letters: str = ""
    """Direction such as `rd` that the author wrote; empty without one. For messages."""


class Arrow(Struct, frozen=True):
    """An arrow with its appearance."""

    source: End
    target: End
    labels: tuple[ArrowLabel, ...] = ()
    tail: str = ""
    """`hook`, `hook'`, `bar`, `tail`, or a tip that points back; empty if the arrow has no tail."""
    head: str = "to"
    """`to`, `two heads`, `harpoon`, `harpoon'`, `bar`, …; empty if the arrow has no head."""
    lines: int = 1
    """Number of parallel lines; 0 for an invisible arrow."""
    dash: str = ""
    """`dashed` or `dotted`; empty for a solid line."""
    is_squiggly: bool = False
    is_crossing: bool = False
    """Whether earlier arrows get a gap where this arrow crosses them."""
    bend: float = 0.0
    """Angle in degrees between the start of the arrow and the straight line, positive to the left."""
    curve: float = 0.0
    """Distance of the control points to the left of the straight line."""
    leaving: float | None = None
    """Direction of the arrow at its start, in degrees anticlockwise from the right; None: not set."""
    entering: float | None = None
    looseness: float = 1.0
    distance: float | None = None
    """Distance of the control points from the ends; None: computed from `looseness`."""
    shift: float = 0.0
    """Distance by which the whole arrow is moved to its left."""
    shorten: tuple[float, float] = (0.0, 0.0)
    color: str = ""
    thickness: float = 1.0
    token: str = ""
    """Command of the arrow, to which error messages point."""


class ArrowDiagram(Struct, frozen=True):
    """A diagram before layout."""

    cells: tuple[tuple[SizedFormula, ...], ...]
    """Rows of cells; a row may be shorter than others."""
    arrows: tuple[Arrow, ...]
    gaps: tuple[float, float]
    """Distance between the borders of neighbouring columns and rows, or between their centers."""
    padding: tuple[float, float]
    """Space between the content of a cell and its border: at the left and right, and above and below."""
    column_gaps: Mapping[int, float] = {}
    """Index of a column → additional space after the column."""
    row_gaps: Mapping[int, float] = {}
    is_between_centers: tuple[bool, bool] = (False, False)
    """Whether gaps of columns and of rows are between centers."""
    names: Mapping[str, tuple[int, int]] = {}
    """Name of a cell → its row and column."""
    sides: Mapping[int, int] = {}
    """Index of a column → 1 if cells are at the left edge of the column, -1 if they are at its right edge.
    Cells of other columns are centered."""
    has_wide_labels: bool = False
    """Whether labels between two columns widen the gap."""
    scale: float = 1.0


MAX_CELLS, MAX_ARROWS = 2_000, 600
"""Maximum numbers of cells and of arrows in one diagram."""


def step(start: End, letters: str) -> End:
    """Return the cell that letters such as `dr` (down, right) lead to from `start`."""
    count = letters.lower().count
    row, column = start.row + count("d") - count("u"), start.column + count("r") - count("l")
    return End(row, column, letters=letters)
