"""Labels of lines in a chart: next to the ends of the lines if there is room, otherwise in a legend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .chart_marks import dash_of, draw_mark
from .chart_series import Point, Series
from .svg import Sheet, shortened, width_of

_LINE = 16.0
"""Distance between the base lines of two labels, in px."""
_MOVED = 9.0
"""Largest vertical distance of a label from the end of its line, in px."""
_BESIDE = 9.0
_SAMPLE = 34.0
"""Length of the line sample in a legend, in px."""
_ROW = 20.0
_GAP = 18.0


@dataclass(frozen=True, slots=True)
class Name:
    """Label and the start of its base line, in px."""

    text: str
    x: float
    y: float


def placed_names(
    lines: Sequence[Series], pixels: Sequence[Sequence[Sequence[Point]]], top: float, width: float
) -> tuple[Name, ...]:
    """Return a label next to the end of each line.

    Empty if a label would touch another label, a different line or the edge.

    pixels: segments of each line, in px. top: top edge of the plot, in px. width: width of the drawing, in
    px.
    """
    ends = [(at, stretches[-1][-1]) for at, stretches in enumerate(pixels) if stretches]
    if len(ends) < len(lines) or not all(line.label for line in lines):
        return ()
    ends.sort(key=lambda end: end[1].y)
    heights = _spread([end.y for _, end in ends])
    if any(abs(y - end.y) > _MOVED or y < top for y, (_, end) in zip(heights, ends, strict=True)):
        return ()
    names = {
        at: Name(shortened(lines[at].label, 24), end.x + _BESIDE, y + 4.5)
        for y, (at, end) in zip(heights, ends, strict=True)
    }
    for at, name in names.items():
        others = (point for other, line in enumerate(pixels) if other != at for point in _sampled(line))
        right = name.x + width_of(name.text)
        if right > width or any(
            name.x - 3 < x < right + 3 and name.y - 13 < y < name.y + 4 for x, y in others
        ):
            return ()
    return tuple(names[at] for at in range(len(lines)))


def legend_height(lines: Sequence[Series], width: float) -> float:
    return (max(row for row, _, _ in _legend_places(lines, width)) + 1) * _ROW + 8


def draw_legend(sheet: Sheet, lines: Sequence[Series], top: float, width: float) -> None:
    """Draw samples of the lines with their markers and labels, in rows."""
    for at, (row, x, name) in enumerate(_legend_places(lines, width)):
        y = top + row * _ROW + 10
        look: dict[str, str | float] = {"stroke": sheet.inks.series[at], "stroke_width": 2}
        if dash := dash_of(at):
            look["stroke_dasharray"] = dash
        sheet.path(f"M{x:.1f} {y:.1f}h{_SAMPLE:.0f}", look)
        draw_mark(sheet, at, x + _SAMPLE / 2, y)
        sheet.text(x + _SAMPLE + 7, y + 4.5, name, fill=sheet.inks.ink)


def _spread(heights: Sequence[float]) -> list[float]:
    """Return increasing vertical positions that are at least one line height apart.

    Positions that are too close are moved away from their common centre.
    """
    groups: list[tuple[float, int]] = []
    for height in heights:
        first, count = height, 1
        while groups and groups[-1][0] + groups[-1][1] * _LINE > first:
            above, size = groups.pop()
            first = (above * size + (first - size * _LINE) * count) / (size + count)
            count += size
        groups.append((first, count))
    return [first + _LINE * step for first, count in groups for step in range(count)]


def _sampled(stretches: Sequence[Sequence[Point]]) -> Iterator[tuple[float, float]]:
    """Yield points along a line, 3 px apart."""
    for points in stretches:
        for one, other in pairwise(points):
            count = int(max(abs(other.x - one.x), abs(other.y - one.y)) / 3) + 1
            for step in range(count + 1):
                share = step / count
                yield one.x + (other.x - one.x) * share, one.y + (other.y - one.y) * share


def _legend_places(lines: Sequence[Series], width: float) -> list[tuple[int, float, str]]:
    """Return row, left edge in px and label of each entry of the legend."""
    places = []
    row, x = 0, 0.0
    for line in lines:
        name = shortened(line.label, 44)
        entry = _SAMPLE + 7 + width_of(name)
        if x and x + entry > width:
            row, x = row + 1, 0.0
        places.append((row, x, name))
        x += entry + _GAP
    return places
