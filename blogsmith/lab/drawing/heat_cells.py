"""Cells of a heat map and the numbers in them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .heat_layout import Layout
from .heat_legend import Colouring, cross, hatch
from .heat_values import Rows, block_side, pooled
from .inks import LIGHT, Inks, ramp, text_on
from .png import indexed_png
from .svg import Sheet, width_of

_MOST_FIELDS = 1200
"""Largest number of cells drawn as rectangles. More cells become pixels."""
_MOST_NUMBERS = 256
_NUMBER_PX = 12.5
_LEVELS = (128, 64, 32, 16)
"""Possible numbers of colours in a colour ramp. The largest number for which the file is small enough is
used."""
_MOST_BYTES = 135_000
"""Maximum size of all PNGs together, in bytes. In the SVG they are encoded as text, which is a third
larger."""


def numbers_of(heads: Sequence[Rows], values: bool | str, cell: tuple[float, float]) -> list[list[list[str]]]:
    """Return the text of each cell, by head, row and column. Empty if no numbers are shown. Raises
    `ValueError` for an invalid format."""
    count = len(heads) * len(heads[0]) * len(heads[0][0])
    if values is False or (values == "auto" and count > _MOST_NUMBERS):
        return []
    if count > _MOST_FIELDS:
        raise ValueError(f"{count:,} numbers cannot be read; values=False leaves them out")
    spec = values if isinstance(values, str) and values != "auto" else _spec(heads)
    texts = [[[_text(value, spec) for value in row] for row in rows] for rows in heads]
    widest = max(width_of(text, _NUMBER_PX) for rows in texts for row in rows for text in row)
    fits = widest + 3 <= cell[0] and cell[1] >= _NUMBER_PX + 2
    return texts if fits or values != "auto" else []


@dataclass(frozen=True, slots=True)
class Pixels:
    """Matrices with too many entries for rectangles, as indices of colours."""

    levels: int
    """Number of colours of the ramp. Among the pixels, the index `levels` means missing and `levels + 1`
    masked."""
    panels: tuple[tuple[bytes, ...], ...]
    """Rows of each head, with one byte per pixel."""

    def pngs(self, stops: Sequence[str], inks: Inks) -> list[bytes]:
        palette = [ramp(tuple(stops), level / (self.levels - 1)) for level in range(self.levels)]
        palette += [inks.missing, inks.ground]
        return [indexed_png(rows, palette, self.levels + 1) for rows in self.panels]


def pixels_of(heads: Sequence[Rows], layout: Layout, colouring: Colouring) -> Pixels | None:
    """Return pixels with as many colours as the file size allows.

    None if the entries are drawn as rectangles.
    """
    if math.prod(layout.shape) <= _MOST_FIELDS:
        return None
    side = block_side(layout.shape, layout.panel_px)
    small = [pooled(rows, side) for rows in heads]
    for levels in _LEVELS:
        panels = (tuple(_indices(row, levels, colouring) for row in rows) for rows in small)
        pixels = Pixels(levels, tuple(panels))
        if sum(map(len, pixels.pngs(LIGHT.sequential, LIGHT))) <= _MOST_BYTES:
            break
    return pixels


def draw_cells(
    sheet: Sheet,
    heads: Sequence[Rows],
    layout: Layout,
    colouring: Colouring,
    numbers: Sequence[Sequence[Sequence[str]]],
    pixels: Pixels | None,
) -> None:
    """Draw the panels of all heads."""
    width, height = layout.panel_px
    if colouring.has_masked:
        for at in range(len(heads)):
            hatch(sheet, *layout.panel(at), width, height)
    if pixels is not None:
        _draw_pixels(sheet, pixels, layout, colouring)
    else:
        for at, rows in enumerate(heads):
            _draw_fields(sheet, rows, layout.panel(at), layout.cell, colouring)
            if numbers:
                _draw_numbers(sheet, rows, numbers[at], layout.panel(at), layout.cell, colouring)
    for at in range(len(heads)):
        sheet.rect(*layout.panel(at), width, height, "", sheet.inks.rule)


def _draw_fields(
    sheet: Sheet, rows: Rows, corner: tuple[float, float], cell: tuple[float, float], colouring: Colouring
) -> None:
    places = [
        (value, corner[0] + j * cell[0], corner[1] + i * cell[1])
        for i, row in enumerate(rows)
        for j, value in enumerate(row)
        if value is not None
    ]
    with sheet.sharp():
        for value, x, y in places:
            sheet.rect(x, y, *cell, colouring.colour(sheet.inks, value))
    for value, x, y in places:
        if math.isnan(value):
            cross(sheet, x, y, *cell)


def _draw_numbers(
    sheet: Sheet,
    rows: Rows,
    texts: Sequence[Sequence[str]],
    corner: tuple[float, float],
    cell: tuple[float, float],
    colouring: Colouring,
) -> None:
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            if value is None or math.isnan(value):
                continue
            x, y = corner[0] + (j + 0.5) * cell[0], corner[1] + (i + 0.5) * cell[1]
            colour = text_on(colouring.colour(sheet.inks, value))
            sheet.text(x, y + 4.3, texts[i][j], size=_NUMBER_PX, fill=colour, anchor="middle")


def _draw_pixels(sheet: Sheet, pixels: Pixels, layout: Layout, colouring: Colouring) -> None:
    """Draw one PNG per head. A PNG that is scaled down must be smoothed; otherwise whole rows disappear."""
    width, height = layout.panel_px
    for at, png in enumerate(pixels.pngs(colouring.stops(sheet.inks), sheet.inks)):
        rows = pixels.panels[at]
        sharp = width >= len(rows[0]) and height >= len(rows)
        sheet.picture(*layout.panel(at), width, height, png, sharp=sharp)


def _indices(row: Sequence[float | None], levels: int, colouring: Colouring) -> bytes:
    low, factor = colouring.low, (levels - 1) / (colouring.high - colouring.low)
    # NaN is not equal to itself and means missing.
    return bytes(
        [
            levels + 1 if value is None else int((value - low) * factor + 0.5) if value == value else levels
            for value in row
        ]
    )


def _spec(heads: Sequence[Rows]) -> str:
    """Return a number format that shows two digits of the largest entry, or no decimals if all entries are
    integers."""
    sizes = [abs(v) for rows in heads for row in rows for v in row if v is not None and not math.isnan(v)]
    if not any(sizes) or all(size == int(size) for size in sizes):
        return ".0f"
    # A row of attention with a single visible key contains a 1, which must not reduce the decimals of 0.31.
    exponent = math.floor(math.log10(max(sizes) * 0.999))
    return f".{min(max(1 - exponent, 0), 4)}f"


def _text(value: float | None, spec: str) -> str:
    if value is None or math.isnan(value):
        return ""
    text = format(value, spec)
    return (text.lstrip("-") if not text.strip("-0.") else text).replace("-", "−")
