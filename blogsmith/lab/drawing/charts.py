"""Line charts in the style of a paper, drawn by `curves`.

They have few ticks, faint grid lines in one direction and no frame. Labels are at the ends of the lines if
there is room, otherwise in a legend above the chart. Series differ by colour, marker shape and dash pattern.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from .chart_labels import Name, draw_legend, legend_height, placed_names
from .chart_marks import dash_of, draw_mark
from .chart_series import Point, Series, read_series, thinned
from .svg import WIDTH, Drawing, Sheet, drawn_twice, heading_size, number, shortened, width_of
from .ticks import UNITS, Tick, linear_ticks, log_ticks, told

Log = Literal["", "x", "y", "xy"]
Unit = Literal["", "s", "bytes"]

_PLOT_PX = 250
_MANY = 40
"""Maximum number of points in a series that has a marker at each point."""
_LABEL_SHARE = 0.3
"""Largest share of the chart's width that labels at the ends of lines may use."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Scale from numbers to pixel positions."""

    low: float
    high: float
    is_log: bool
    start_px: float
    """Position of `low`, in px."""
    end_px: float
    ticks: tuple[Tick, ...]

    def place(self, value: float) -> float:
        """Return the position of a value in px. Values outside the range are placed at its end."""
        if self.is_log:
            value = math.log(max(value, self.low)) - math.log(self.low)
            share = value / (math.log(self.high) - math.log(self.low))
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start_px + (self.end_px - self.start_px) * min(max(share, 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class _Chart:
    """Chart with the positions of all its parts."""

    title: str
    lines: tuple[Series, ...]
    x: Axis
    y: Axis
    x_name: str
    y_name: str
    bands: bool
    points: bool
    names: tuple[Name, ...]
    """Labels at the ends of lines. Empty if the chart has a legend above it."""
    top: float
    """Top of the legend, in px."""

    def in_px(self, points: Sequence[Point]) -> tuple[Point, ...]:
        x, y = self.x.place, self.y.place
        return tuple(Point(x(one.x), y(one.y), y(one.low), y(one.high)) for one in points)


def curves(
    series: Mapping[str, Any],
    *,
    x: str = "",
    y: str = "",
    title: str = "",
    log: Log = "",
    bands: bool = True,
    points: bool = True,
    x_unit: Unit = "",
    y_unit: Unit = "",
) -> Drawing:
    """Draw a chart with up to eight lines.

    `series` maps each label to its points `(x, y)` or `(x, y, low, high)`: a list, an array with one row per
    point, or a tuple of two or four arrays. None, NaN, infinity and, on a logarithmic axis, values not above
    0 are gaps.

    x, y: names of the axes.
    log: axes that are logarithmic.
    bands: show `low` to `high` as an area.
    points: mark the points if they are few.
    x_unit, y_unit: unit of the ticks: seconds are shown as `20 µs`, bytes as `64 MiB`.

    Raises `TypeError` or `ValueError` for invalid series, and if there is no point to draw.
    """
    for name, value, allowed in (
        ("log", log, ("", "x", "y", "xy")),
        ("x_unit", x_unit, UNITS),
        ("y_unit", y_unit, UNITS),
    ):
        if value not in allowed:
            raise ValueError(f"{name}={value!r} is none of {', '.join(map(repr, allowed))}")
    lines = read_series(series, log)
    chart = _chart(lines, (x, y), title, log, (x_unit, y_unit), bands=bands, points=points)
    heading = title.strip() or "Line chart"
    return drawn_twice(heading, _words(lines, (x, y), log, (x_unit, y_unit)), partial(_draw, chart))


def _chart(
    lines: tuple[Series, ...],
    names: tuple[str, str],
    title: str,
    log: str,
    units: tuple[str, str],
    *,
    bands: bool,
    points: bool,
) -> _Chart:
    """Lay out the chart with labels at the ends of the lines or, if there is no room, with a legend."""
    drawn = [point for line in lines for point in line.drawn]
    xs = [point.x for point in drawn]
    ys = [value for point in drawn for value in ((point.low, point.high, point.y) if bands else (point.y,))]
    across = _range(xs, is_log="x" in log, tight=True), _is_binary(xs, units[0])
    up = _range(ys, is_log="y" in log, tight=False), units[1] == "bytes"
    y_ticks = _ticks(*up[0], units[1], is_log="y" in log, binary=up[1])
    x_ticks = _ticks(*across[0], units[0], is_log="x" in log, binary=across[1])
    left = max(width_of(tick.label) for tick in y_ticks) + 12
    right = max(width_of(x_ticks[-1].label) / 2, 10.0)
    widest = max((width_of(shortened(line.label, 24)) for line in lines), default=0) + 14
    head = max(heading_size(title)[1], 4.0)

    def laid(right: float, legend: float) -> _Chart:
        top = head + legend + (24 if names[1] else 8)
        x = Axis(*across[0], "x" in log, left, WIDTH - right, x_ticks)
        y = Axis(*up[0], "y" in log, top + _PLOT_PX, top, y_ticks)
        across_name, up_name = (shortened(name, 60) for name in names)
        return _Chart(title, lines, x, y, across_name, up_name, bands, points, (), head)

    if not any(line.label for line in lines):
        return laid(right, 0)
    if widest <= WIDTH * _LABEL_SHARE:
        chart = laid(max(right, widest), 0)
        placed = placed_names(lines, [_pixels(chart, line) for line in lines], chart.y.end_px, WIDTH)
        if placed:
            return replace(chart, names=placed)
    return laid(right, legend_height(lines, WIDTH))


def _pixels(chart: _Chart, line: Series) -> list[tuple[Point, ...]]:
    return [tuple(thinned(chart.in_px(stretch), 0.5)) for stretch in line.stretches()]


def _range(values: Sequence[float], *, is_log: bool, tight: bool) -> tuple[float, float]:
    """Return the ends of an axis, slightly beyond the values. The axis includes 0 if the values are close to
    it.

    tight: use almost no margin.
    """
    if is_log:
        above = [value for value in values if value > 0]
        low, high = min(above), max(above)
        room = (high / low) ** (0.02 if tight else 0.06)
        return (low / room, high * room) if high > low * 1.0001 else (low / 2, high * 2)
    low, high = min(values), max(values)
    room = (high - low) * (0.02 if tight else 0.06)
    if high - low <= 1e-6 * max(abs(low), abs(high)):
        room = max(abs(low), abs(high)) * 0.5 or 1.0
    begins_at_zero = not tight and 0 <= low <= high / 2
    return (0.0 if begins_at_zero else low - room), high + room


def _ticks(low: float, high: float, unit: str, *, is_log: bool, binary: bool) -> tuple[Tick, ...]:
    return log_ticks(low, high, unit, binary=binary) if is_log else linear_ticks(low, high, unit)


def _is_binary(values: Sequence[float], unit: str) -> bool:
    return unit == "bytes" or all(value > 0 and math.frexp(value)[0] == 0.5 for value in values)


def _draw(chart: _Chart, sheet: Sheet) -> tuple[float, float]:
    inks = sheet.inks
    if chart.title:
        sheet.heading(chart.title)
    if not chart.names and any(line.label for line in chart.lines):
        draw_legend(sheet, chart.lines, chart.top, WIDTH)
    _draw_axes(chart, sheet)
    pixels = [_pixels(chart, line) for line in chart.lines]
    if chart.bands:
        for line, stretches, colour in zip(chart.lines, pixels, inks.series, strict=False):
            _draw_band(sheet, line, stretches, colour)
    for at, stretches in enumerate(pixels):
        _draw_line(sheet, at, stretches)
    for at, (line, stretches) in enumerate(zip(chart.lines, pixels, strict=True)):
        _draw_points(chart, sheet, at, line, stretches)
    for name in chart.names:
        sheet.text(name.x, name.y, name.text, fill=inks.ink)
    bottom = chart.y.start_px + (47 if chart.x_name else 24)
    return WIDTH, bottom


def _draw_axes(chart: _Chart, sheet: Sheet) -> None:
    inks, left, right, bottom = sheet.inks, chart.x.start_px, chart.x.end_px, chart.y.start_px
    for tick in chart.y.ticks:
        y = chart.y.place(tick.value)
        sheet.line(left, y, right, y, inks.hairline)
        sheet.text(left - 8, y + 4.5, tick.label, anchor="end")
    sheet.line(left, bottom, right, bottom, inks.rule)
    for tick in chart.x.ticks:
        x = chart.x.place(tick.value)
        sheet.line(x, bottom, x, bottom + 5, inks.rule)
        sheet.text(x, bottom + 20, tick.label, anchor="middle")
    if chart.x_name:
        sheet.text(
            (left + right) / 2, bottom + 41, shortened(chart.x_name, 60), fill=inks.ink, anchor="middle"
        )
    if chart.y_name:
        sheet.text(0, chart.y.end_px - 12, chart.y_name, fill=inks.ink)


def _draw_band(sheet: Sheet, line: Series, stretches: list[tuple[Point, ...]], colour: str) -> None:
    if not line.has_band:
        return
    for points in stretches:
        if len(points) == 1:
            (only,) = points
            sheet.line(only.x, only.low, only.x, only.high, colour, 1.5)
            continue
        edge = [(one.x, one.high) for one in points] + [(one.x, one.low) for one in reversed(points)]
        sheet.path(_joined(edge) + "Z", {"fill": colour, "fill_opacity": 0.18})


def _draw_line(sheet: Sheet, at: int, stretches: list[tuple[Point, ...]]) -> None:
    data = "".join(_joined([(one.x, one.y) for one in points]) for points in stretches if len(points) > 1)
    if data:
        look: dict[str, str | float] = {"fill": "none", "stroke": sheet.inks.series[at], "stroke_width": 2}
        if dash := dash_of(at):
            look["stroke_dasharray"] = dash
        sheet.path(data, {**look, "stroke_linejoin": "round"})


def _draw_points(
    chart: _Chart, sheet: Sheet, at: int, line: Series, stretches: list[tuple[Point, ...]]
) -> None:
    """Draw the markers of a line. Isolated points and the last point, next to its label, always have a
    marker."""
    drawn = line.drawn
    for points in stretches:
        for one in points:
            is_last = one is stretches[-1][-1]
            if is_last or len(points) == 1 or (chart.points and len(drawn) <= _MANY):
                draw_mark(sheet, at, one.x, one.y)


def _joined(places: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in places)


def _words(lines: tuple[Series, ...], names: tuple[str, str], log: str, units: tuple[str, str]) -> str:
    """Describe the first and last point of each series."""
    scale = {"": "", "x": ", horizontal axis logarithmic", "y": ", vertical axis logarithmic"}.get(
        log, ", both axes logarithmic"
    )
    count = "One line" if len(lines) == 1 else f"{len(lines)} lines"
    parts = [f"{count}{f', {names[1]}' if names[1] else ''}{f' over {names[0]}' if names[0] else ''}{scale}."]
    for line in lines:
        label = f"{line.label}: " if line.label else ""
        if not line.drawn:
            parts.append(f"{label}no values.")
            continue
        ends = [
            f"{told(one.y, units[1])} at {told(one.x, units[0])}" for one in (line.drawn[0], line.drawn[-1])
        ]
        parts.append(f"{label}from {ends[0]} to {ends[1]}." if len(line.drawn) > 1 else f"{label}{ends[0]}.")
    return " ".join(parts)
