"""Marker shapes and dash patterns, which distinguish series in addition to colour."""

from __future__ import annotations

from .svg import Sheet, number

_SHAPES = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z",
    "M-3.6 -3.6h7.2v7.2h-7.2Z",
    "M0 -4.6L4.5 3.4H-4.5Z",
    "M0 -5.2L5.2 0L0 5.2L-5.2 0Z",
    "M0 4.6L4.5 -3.4H-4.5Z",
    "M-1.5 -4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3Z",
    "M-5.8 0L-1.9 -1.9L0 -5.8L1.9 -1.9L5.8 0L1.9 1.9L0 5.8L-1.9 1.9Z",
    "M-2.3 -4.3H2.3L4.7 0L2.3 4.3H-2.3L-4.7 0Z",
)
"""Disc, square, triangle up, diamond, triangle down, cross, star, hexagon; all of about the same area."""
_DASHES = ("", "7 3", "2 2.5", "9 3 2 3", "4 2", "12 3", "7 2 2 2 2 2", "1.5 4")


def dash_of(at: int) -> str:
    """Return the `stroke-dasharray` of the series with this index."""
    return _DASHES[at]


def draw_mark(sheet: Sheet, at: int, x: float, y: float) -> None:
    """Draw the marker of a series, with a halo that separates it from the lines below."""
    look: dict[str, str | float] = {"fill": sheet.inks.series[at], "stroke": sheet.inks.ground}
    sheet.path(_SHAPES[at], {"transform": f"translate({number(x)} {number(y)})", **look})
