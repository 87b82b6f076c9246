"""Colours of drawings for light and dark pages, taken from the theme `paper`.

Lines and markers have a contrast of at least 3 : 1 to the background of the page, and text has 4.5 : 1 (WCAG
2.2, 1.4.11 and 1.4.3). The eight colours of series are distinguishable with every kind of colour blindness.
Shapes and dashes distinguish series too, so no reader depends on colour.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Inks:
    """Colours as `#rrggbb`."""

    scheme: str
    """`light` or `dark`."""
    ground: str
    """Background of the page. Drawings are transparent; halos around markers have this colour."""
    ink: str
    """Titles and names."""
    soft: str
    """Labels and ticks."""
    rule: str
    """Axes and frames."""
    hairline: str
    """Grid lines, which help reading but carry no information."""
    missing: str
    """Background of a missing entry."""
    series: tuple[str, ...]
    sequential: tuple[str, ...]
    """Colours of a ramp at equal distances, from the lowest value to the highest."""
    diverging: tuple[str, ...]
    """Colours of a ramp with 0 in the middle."""


LIGHT = Inks(
    scheme="light",
    ground="#fbf9f4",
    ink="#211e1a",
    soft="#4a453e",
    rule="#8d8477",
    hairline="#ddd5c7",
    missing="#cfc8bc",
    series=("#253f88", "#a13a23", "#64867c", "#bb6b03", "#7b46c7", "#372b2e", "#1a90d1", "#884a6e"),
    sequential=("#f2eee4", "#cbd6da", "#92b1c6", "#5585ae", "#2a5a87", "#132f50"),
    diverging=("#1b4571", "#5585ae", "#b4c8d3", "#f2eee4", "#e2b5a3", "#bb6248", "#7d2113"),
)
DARK = Inks(
    scheme="dark",
    ground="#1a1917",
    ink="#d8d3c8",
    soft="#beb8ac",
    rule="#8f877b",
    hairline="#3a3733",
    missing="#57524b",
    series=("#5ba2ba", "#f27f4f", "#7dc6b0", "#f1c434", "#9f7bfd", "#ffefc2", "#a5e7ff", "#c1617b"),
    sequential=("#262728", "#324859", "#49708f", "#719fc4", "#a9cae4", "#e6f1f9"),
    diverging=("#b5d6f0", "#6a9cc6", "#3c5568", "#262728", "#6b4034", "#c4755b", "#f6c2af"),
)
SCHEMES = (LIGHT, DARK)


def ramp(stops: tuple[str, ...], share: float) -> str:
    """Return the colour at the position `share`, from 0 to 1, between the stops."""
    place = min(max(share, 0.0), 1.0) * (len(stops) - 1)
    first = min(int(place), len(stops) - 2)
    pairs = zip(channels(stops[first]), channels(stops[first + 1]), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * (place - first)):02x}" for a, b in pairs)


def channels(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue, from 0 to 255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def luminance(colour: str) -> float:
    """Return the relative luminance as defined in WCAG 2.2, from 0 to 1."""
    red, green, blue = (_linear(channel / 255) for channel in channels(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast as defined in WCAG 2.2, from 1 to 21."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def text_on(ground: str) -> str:
    """Return a text colour that is readable on this background: near-black or near-white or, if their
    contrast is too low, pure black or white."""
    gentle = max(("#211e1a", "#fbf9f4"), key=lambda colour: contrast(colour, ground))
    # Black or white always has a contrast of at least 4.58 : 1.
    strong = max(("#000000", "#ffffff"), key=lambda colour: contrast(colour, ground))
    return gentle if contrast(gentle, ground) >= 4.5 else strong


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
