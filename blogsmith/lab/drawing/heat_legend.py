"""Legend of a heat map: a colour ramp with ticks, and symbols for masked and missing entries."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from .inks import Inks, ramp
from .svg import WIDTH, Sheet, number, shortened, width_of
from .ticks import linear_ticks

_HATCH_PX = 6.0
_BAR_PX = (190.0, 10.0)
_STEPS = 38
_SWATCH_PX = 14.0
_ROW_PX = 22.0
_ABOVE_PX = 16.0
_TICKS_PX = 24.0


@dataclass(frozen=True, slots=True)
class Colouring:
    """Meaning of the colours in a heat map."""

    low: float
    high: float
    is_diverging: bool
    unit: str
    has_masked: bool
    has_missing: bool

    def share(self, value: float) -> float:
        """Return the position of a value on the scale, from 0 to 1."""
        return (value - self.low) / (self.high - self.low)

    def colour(self, inks: Inks, value: float) -> str:
        if math.isnan(value):
            return inks.missing
        return ramp(self.stops(inks), self.share(value))

    def stops(self, inks: Inks) -> tuple[str, ...]:
        return inks.diverging if self.is_diverging else inks.sequential


@dataclass(frozen=True, slots=True)
class _Entry:
    """Label next to the colour ramp, or in a row below the ramp if there is no room."""

    word: str
    x: float
    row: int
    width: float
    is_swatch: bool


def legend_size(left: float, colouring: Colouring) -> tuple[float, float]:
    """Return the right edge and the height of the legend, in px. left: left edge, in px."""
    entries = tuple(_entries(left, colouring))
    right = max([left + _BAR_PX[0] + 14, *(entry.x + entry.width for entry in entries)])
    rows = max((entry.row for entry in entries), default=0)
    return right, _ABOVE_PX + _BAR_PX[1] + _TICKS_PX + rows * _ROW_PX


def draw_legend(sheet: Sheet, left: float, top: float, colouring: Colouring) -> None:
    inks, (width, height) = sheet.inks, _BAR_PX
    top += _ABOVE_PX
    for step in range(_STEPS):
        # Each rectangle extends to the right end, so that no gaps are visible.
        x = left + width * step / _STEPS
        sheet.rect(x, top, left + width - x, height, ramp(colouring.stops(inks), step / (_STEPS - 1)))
    sheet.rect(left, top, width, height, "", inks.rule)
    last = -math.inf
    for tick in linear_ticks(colouring.low, colouring.high):
        x = left + width * colouring.share(tick.value)
        half = width_of(tick.label) / 2
        if x - half > last + 6:
            sheet.line(x, top + height, x, top + height + 4, inks.rule)
            sheet.text(x, top + height + 17, tick.label, anchor="middle")
            last = x + half
    for entry in _entries(left, colouring):
        y = top + (height + _TICKS_PX + (entry.row - 1) * _ROW_PX + 6 if entry.row else 0)
        if entry.is_swatch:
            _draw_swatch(sheet, entry.x, y - 2, entry.word)
        else:
            sheet.text(entry.x, y + height, entry.word)


def hatch(sheet: Sheet, left: float, top: float, width: float, height: float) -> None:
    """Fill a rectangle with thin lines that rise to the right, as one clipped path. An SVG pattern would need
    an id."""
    data = []
    for step in range(1, math.ceil((width + height) / _HATCH_PX)):
        reach = step * _HATCH_PX
        x1, y1 = max(0.0, reach - height), min(reach, height)
        x2, y2 = min(reach, width), max(0.0, reach - width)
        data.append(f"M{number(left + x1)} {number(top + y1)}L{number(left + x2)} {number(top + y2)}")
    sheet.path("".join(data), {"stroke": sheet.inks.rule, "stroke_width": 0.8})


def cross(sheet: Sheet, x: float, y: float, width: float, height: float) -> None:
    """Draw the symbol of a missing entry."""
    reach = min(width, height) * 0.2
    a, b, c, d = (number(value) for value in (x + width / 2, y + height / 2, reach, 2 * reach))
    data = f"M{a} {b}m-{c} -{c}l{d} {d}m0 -{d}l-{d} {d}"
    sheet.path(data, {"fill": "none", "stroke": sheet.inks.ink, "stroke_width": 1.2})


def _entries(left: float, colouring: Colouring) -> Iterator[_Entry]:
    unit = shortened(colouring.unit, 30)
    words = [(unit, False)] if unit else []
    words += [("masked", True)] if colouring.has_masked else []
    words += [("missing", True)] if colouring.has_missing else []
    row, x = 0, left + _BAR_PX[0] + 14
    for word, is_swatch in words:
        width = width_of(word) + (_SWATCH_PX + 6 if is_swatch else 0)
        if x + width > WIDTH:
            row, x = row + 1, left
        yield _Entry(word, x, row, width, is_swatch)
        x += width + 16


def _draw_swatch(sheet: Sheet, x: float, y: float, word: str) -> None:
    side = _SWATCH_PX
    if word == "masked":
        hatch(sheet, x, y, side, side)
    else:
        sheet.rect(x, y, side, side, sheet.inks.missing)
        cross(sheet, x, y, side, side)
    sheet.rect(x, y, side, side, "", sheet.inks.rule)
    sheet.text(x + side + 6, y + 12, word)
