"""Layout of a heat map: panels in rows, row names on the left, column names above."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from .svg import WIDTH, shortened, width_of
from .ticks import linear_ticks

_CELL_PX = 38.0
_TALL_PX = 560.0
_LINE_PX = 14.0
"""Height of a label with its margin, in px."""
_GAP_PX = 18.0
_AXES_PX = 22.0
_WHOLE_PX = 8.0
"""Minimum size in px for rounding the size of cells to whole numbers, so that all are equal."""
_ACROSS: Mapping[int, int] = MappingProxyType({1: 1, 2: 2, 3: 3, 4: 2, 5: 3, 6: 3, 9: 3})
"""Number of heads → number of panels side by side. For other numbers of heads, it is four."""

Turn = Literal["flat", "slanted", "upright"]


@dataclass(frozen=True, slots=True)
class Labels:
    """All labels around the cells. Labels that the author did not set are empty."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    heads: tuple[str, ...]
    x: str
    y: str

    @property
    def axes(self) -> str:
        """Meaning of rows and columns, in one line."""
        names = ((shortened(self.y, 28), "↓"), (shortened(self.x, 28), "→"))
        return "\u2003".join(f"{name} {arrow}" for name, arrow in names if name)


@dataclass(frozen=True, slots=True)
class Layout:
    """Positions and sizes of a heat map, in px."""

    shape: tuple[int, int, int]
    cell: tuple[float, float]
    """Width and height of a cell."""
    across: int
    """Number of panels side by side."""
    left: float
    """Left edge of the first panel, where row names end."""
    axes_top: float
    """Top of the line of text that gives the meaning of rows and columns."""
    top: float
    """Top of the first panel."""
    column_px: float
    """Height of the column names."""
    turn: Turn
    """Direction of the column names."""
    row_every: int
    """Every n-th row name is shown; this is n. The next field is the same for column names."""
    column_every: int
    head_px: float
    """Height of the name of a head."""
    width: float
    """Width of the whole drawing; the next field is its height."""
    height: float

    @property
    def panel_px(self) -> tuple[float, float]:
        return self.cell[0] * self.shape[2], self.cell[1] * self.shape[1]

    @property
    def bottom(self) -> float:
        """Bottom of the last panel."""
        return self.panel(self.shape[0] - 1)[1] + self.panel_px[1]

    def panel(self, number: int) -> tuple[float, float]:
        """Return left and top of the cells of one head."""
        row, column = divmod(number, self.across)
        width, height = self.panel_px
        return self.left + column * (width + _GAP_PX), self.top + row * (height + _GAP_PX + self.head_px)


def laid_out(
    shape: tuple[int, int, int],
    labels: Labels,
    title: tuple[float, float],
    legend: Callable[[float], tuple[float, float]],
) -> Layout:
    """Lay out cells as large as the width allows, square unless the matrix is very tall or very wide.

    title: width and height of the title.
    legend: function from the left edge to the right edge and height of the legend.
    """
    heads, n, m = shape
    across = _ACROSS.get(heads, 4)
    rows = [shortened(name) for name in labels.rows] or [name for _, name in index_labels(n, _LINE_PX)]
    columns = [shortened(name) for name in labels.columns]
    left = float(math.ceil(max(map(width_of, rows)) + 9))
    right = 1.0
    for _ in range(2):
        # The overhang of names on the right depends on the size of the cells, so compute it twice.
        cell = _cell(n, m, (WIDTH - left - right - (across - 1) * _GAP_PX) / across)
        turn = _turn(columns, cell[0])
        right = max(1.0, _overhang(columns, turn, m, cell[0]))
    column_px = _height(columns, turn)
    head_px = 22.0 if labels.heads else 0.0
    top = math.ceil(title[1] + (_AXES_PX if labels.axes else 0.0) + head_px + column_px)
    width = left + across * cell[0] * m + (across - 1) * _GAP_PX + right
    layout = Layout(
        shape=shape,
        cell=cell,
        across=across,
        left=left,
        axes_top=title[1],
        top=float(top),
        column_px=column_px,
        turn=turn,
        row_every=math.ceil(_LINE_PX / cell[1]),
        column_every=math.ceil(_LINE_PX / cell[0]) if turn == "upright" else 1,
        head_px=head_px,
        width=max(width, title[0], width_of(labels.axes), legend(left)[0]),
        height=0.0,
    )
    return replace(layout, height=layout.bottom + legend(left)[1])


def index_labels(count: int, cell: float) -> list[tuple[int, str]]:
    """Return the indices of rows or columns to label, each with its text. Only as many are included as are
    easy to read."""
    widest = width_of(str(count - 1)) + 6
    if count <= 8 and cell >= widest:
        return [(at, str(at)) for at in range(count)]
    if count < 3:
        return [(at, str(at)) for at in range(count)]
    ticks = (tick.value for tick in linear_ticks(0, count - 1))
    return [(round(value), f"{value:.0f}") for value in ticks if value == round(value)]


def _cell(n: int, m: int, room: float) -> tuple[float, float]:
    width = min(_CELL_PX, room / m)
    if m * width < 60:
        width = min(60 / m, _CELL_PX)
    height = min(max(width, 96 / n), _CELL_PX, _TALL_PX / n)
    return _whole(width), _whole(height)


def _whole(size: float) -> float:
    return float(math.floor(size)) if size >= _WHOLE_PX else size


def _turn(columns: list[str], cell: float) -> Turn:
    if not columns or max(map(width_of, columns)) + 6 <= cell:
        return "flat"
    return "slanted" if cell * math.sqrt(0.5) >= _LINE_PX else "upright"


def _overhang(columns: list[str], turn: Turn, count: int, cell: float) -> float:
    """Return how far the column names extend beyond the last column."""
    names = list(enumerate(columns)) or index_labels(count, cell)
    share = {"flat": 0.5, "slanted": math.sqrt(0.5), "upright": 0.0}[turn]
    beyond = 8 if turn == "slanted" else 0
    return max(width_of(name) * share + beyond - (count - at - 0.5) * cell for at, name in names)


def _height(columns: list[str], turn: Turn) -> float:
    if turn == "flat":
        return 20.0
    longest = max(map(width_of, columns))
    return longest * math.sqrt(0.5) + 16 if turn == "slanted" else longest + 10
