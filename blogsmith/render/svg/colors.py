"""Colours of a drawing: the renderer's become the theme's, the author's stay.

A renderer knows one set of colours, a page has two. So every colour the author did not write himself
is replaced by the nearest of a few CSS variables, which a theme sets for light and dark:
`--diagram-ink`, `-line`, `-border`, `-grid`, `-paper`, `-node`, `-group`, and `-tint-1` to `-tint-8` with
their strong forms `-hue-1` to `-hue-8`. Where no theme sets them the drawing is lines on the page's ground.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from tinycss2.color3 import RGBA, parse_color

from ...base.patterns import lazy_pattern

ON_HUE = "var(--diagram-paper,Canvas)"
"""Text on one of the strong colours, which are dark on light pages and light on dark ones."""

Rgb = tuple[float, float, float]

_WHITE: Rgb = (1.0, 1.0, 1.0)
_BLACK: Rgb = (0.0, 0.0, 0.0)

_WRITTEN = lazy_pattern(
    r"#[0-9a-f]{3,8}\b|(?:rgb|hsl)a?\([^()]*\)|(?<=[:=])\s*\"?[a-z]+", re.IGNORECASE
)  # a name is a colour only as a value: `fill:red`, `color = "red"`
_MAX_WRITTEN = 2000
_LIGHT = 0.9
"""Text at least this bright is meant for a dark area."""

HUES = ("#2a5a87", "#39662f", "#835300", "#a3281a", "#67408a", "#1c6563", "#5f584f", "#97301f")
TINTS = ("#d1dae2", "#d4dccd", "#e3d8c3", "#e9cfc8", "#ddd4df", "#cedbd7", "#dcd9d3", "#e7d1c9")
"""What plugins may draw with, so that each becomes its own variable: categories as line and as area."""

_GREYS: Mapping[str, str] = MappingProxyType(
    {"ink": "#211e1a", "line": "#686056", "border": "#8d8477", "grid": "#ddd5c7", "paper": "#fbf9f4"}
)
_AREAS: Mapping[str, str] = MappingProxyType({"node": "#f4f0e7", "group": "#f8f5ee"})


def rgb(text: str) -> Rgb | None:
    """A CSS colour without its alpha, each part from 0 to 1; None if it is none or a keyword."""
    color = parse_color(text.strip())
    return (color.red, color.green, color.blue) if isinstance(color, RGBA) else None


def _palette(*groups: Mapping[str, str]) -> Mapping[Rgb, str]:
    found = {rgb(color): name for group in groups for name, color in group.items()}
    return MappingProxyType({color: name for color, name in found.items() if color})


def _number_names(name: str, colors: tuple[str, ...]) -> Mapping[str, str]:
    return {f"{name}-{number}": color for number, color in enumerate(colors, 1)}


_STROKES = _palette(_GREYS, _number_names("hue", HUES), _number_names("tint", TINTS))
_FILLS = _palette(_GREYS, _AREAS, _number_names("tint", TINTS), _number_names("hue", HUES))


def find_colours(source: str) -> frozenset[Rgb]:
    """Every colour the author's source may mean."""
    texts = [found.group().strip(' "') for found in _WRITTEN.finditer(source)]
    return frozenset(color for color in map(rgb, texts[:_MAX_WRITTEN]) if color)


def contrasting(ground: Rgb) -> str:
    """Black or white, whichever reads better on `ground`."""
    light = _luminance(ground)
    # WCAG 2.2 contrast: (light + 0.05) / (dark + 0.05), for white and for black
    return "#000" if (light + 0.05) / 0.05 >= 1.05 / (light + 0.05) else "#fff"


def _luminance(color: Rgb) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def variable(color: Rgb, property: str) -> str:
    """The theme's colour nearest to `color`, as a CSS value. property: `fill`, `stroke` or `text`."""
    if property == "text":
        return ON_HUE if _luminance(color) > _LIGHT else "var(--diagram-ink,currentColor)"
    palette = _STROKES if property == "stroke" else _FILLS
    name = _extreme(color) or palette[min(palette, key=lambda known: (_distance(known, color), known))]
    is_line = name in ("ink", "line", "border", "grid") or name.startswith("hue")
    return f"var(--diagram-{name},{'currentColor' if is_line else 'none'})"


def text_color_on(color: Rgb, is_written: bool) -> str | None:
    """The colour of text and lines on an area of `color`; None if any of the theme's will do.

    is_written: whether the author chose `color`, so that it is the same in light and dark.
    """
    if is_written and not is_plain(color):
        return contrasting(color)
    return ON_HUE if variable(color, "fill").startswith("var(--diagram-hue") else None


def _extreme(color: Rgb) -> str:
    """Pure black and white are what renderers start from: ink and paper."""
    return {_BLACK: "ink", _WHITE: "paper"}.get(color, "")


def is_plain(color: Rgb) -> bool:
    """Whether `color` is black or white, which in an author's text mean ink and paper."""
    return color in (_BLACK, _WHITE)


def _distance(one: Rgb, other: Rgb) -> float:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))
