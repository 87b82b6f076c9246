"""Writer of sanitized drawings: only allowed content, in the colours of the page, and compact."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape
from types import MappingProxyType
from xml.etree.ElementTree import Element

from tinycss2.color3 import RGBA, parse_color

from ...base.patterns import lazy_pattern
from ...model.names import name_set
from .styles import (
    INHERITED,
    Styles,
    inline_single_uses,
    local_name,
    merge_outlines,
    referenced_id,
    round_numbers,
)

TEXTS = name_set("text tspan")
GROUPS = name_set("a defs g svg switch use")
NAMED = name_set("clipPath linearGradient marker pattern radialGradient symbol")
"""Elements that appear only where another element refers to them."""
SHAPES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "circle": name_set("cx cy r"),
        "ellipse": name_set("cx cy rx ry"),
        "line": name_set("x1 x2 y1 y2"),
        "path": name_set("d"),
        "polygon": name_set("points"),
        "polyline": name_set("points"),
        "rect": name_set("height rx ry width x y"),
    }
)
"""Shape → attributes that define its geometry."""
ATTRIBUTES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        **SHAPES,
        **dict.fromkeys(TEXTS, name_set("dx dy rotate x y")),
        **dict.fromkeys(GROUPS, frozenset()),
        "clipPath": name_set("clipPathUnits"),
        "linearGradient": name_set("gradientTransform gradientUnits spreadMethod x1 x2 y1 y2"),
        "marker": name_set("markerHeight markerUnits markerWidth orient refX refY viewBox"),
        "pattern": name_set("height patternTransform patternUnits width x y"),
        "radialGradient": name_set("cx cy fx fy gradientTransform gradientUnits r spreadMethod"),
        "stop": name_set("offset"),
        "svg": name_set("height preserveAspectRatio viewBox width x y"),
        "symbol": name_set("preserveAspectRatio viewBox"),
        "use": name_set("height width x y"),
    }
)
"""Allowed element → its attributes, in addition to `transform` and presentation attributes."""
_OF_TEXT = name_set("dominant-baseline font-size font-style font-weight text-anchor text-decoration")
_BASELINES = name_set("alphabetic auto central hanging mathematical middle text-after-edge text-before-edge")
_INITIAL: Mapping[str, str] = MappingProxyType(
    {"clip-path": "none", "display": "inline", "visibility": "visible", "text-decoration": "none"}
    | {"font-style": "normal", "font-weight": "normal", "stroke": "none", "stroke-dasharray": "0"}
    | dict.fromkeys(("opacity", "fill-opacity", "stroke-opacity", "stop-opacity", "stroke-width"), "1")
)
_PAINTS = ("fill", "stroke", "stop-color")

_LOCAL = lazy_pattern(r"url\(\s*[\"']?#([^\s\"')]+)[\"']?\s*\)")
_VALUE = lazy_pattern(r"[\w.%#,\s+()-]*")
_SIZE = lazy_pattern(r"\d+(?:\.\d+)?")
_CURVE = lazy_pattern(r"C ?([-\d.e]+) ([-\d.e]+), ?[-\d.e]+ [-\d.e]+, ?([-\d.e]+) ([-\d.e]+)")
_MAX_DEPTH = 200
_AREA_PX = 12
_TINY = 2.5
"""Length in pixels below which a curve is drawn as a line; the difference is not visible."""


class Writer:
    """Writer of one drawing."""

    def __init__(
        self, root: Element, styles: Styles, prefix: str, source: str, *, is_exact: bool = False
    ) -> None:
        """Simplify `root`. prefix: put before every id. source: the author's source, whose colours are kept.
        is_exact: whether to keep all numbers as they are, instead of rounding to a tenth of a pixel."""
        self._root, self._prefix = root, prefix
        self._round = str.strip if is_exact else round_numbers
        inline_single_uses(root)
        self._styles = merge_outlines(root, styles)
        self._written = find_colours(source)
        self._named = {name for element in root.iter() for name in self._references(element)}

    def children(self) -> str:
        """Return the markup of all children of the root element."""
        # in SVG, shapes and letters without a colour are black; here they get the theme's ink colour
        default = {"fill": nearest_variable((0.0, 0.0, 0.0), "text"), "font-size": "16"}
        group = f"<g{_attributes(default | self._own_style(self._root, None))}>"
        inner = "".join(self._write_children(self._root, None, {}, 1))
        return f"{group}{inner}</g>"

    def _references(self, element: Element) -> Iterator[str]:
        for value in self._styles[element].values():
            yield from _LOCAL.findall(value)
        yield referenced_id(element)

    def _write_children(
        self, element: Element, ground: str | None, inherited: Mapping[str, str], depth: int
    ) -> Iterator[str]:
        """Yield the markup of the children of `element`. ground: colour for text and lines on an area around
        them; None for the theme's colours. inherited: properties set by groups around the element."""
        if depth > _MAX_DEPTH:
            raise ValueError("it is nested too deeply for a page")
        own = self._ground(element) or ground
        for child in element:
            if not self._is_drawn(child):
                continue
            # the shape of the area is not on itself but on the area before
            behind = ground if own is not ground and local_name(child) in SHAPES else own
            yield from self._element(child, behind, inherited, depth)

    def _is_drawn(self, element: Element) -> bool:
        name = local_name(element)
        if name in NAMED and element.get("id", "") not in self._named:
            return False
        if self._styles[element].get("display") == "none" or self._styles[element].get("opacity") == "0":
            return False
        if name == "rect" and not (element.get("width") and element.get("height")):
            return False
        return name in ATTRIBUTES

    def _element(
        self, element: Element, ground: str | None, inherited: Mapping[str, str], depth: int
    ) -> Iterator[str]:
        name = local_name(element)
        style = self._own_style(element, ground)
        style = {key: value for key, value in style.items() if value != _without(key, inherited)}
        attributes = self._kept_attributes(element) | style
        passed = {**inherited, **{key: value for key, value in style.items() if key in INHERITED}}
        inner = "".join(self._write_children(element, ground, passed, depth + 1))
        if name in TEXTS:
            inner = escape(element.text or "", quote=False) + inner
        tail = escape(element.tail or "", quote=False) if name == "tspan" else ""
        if name in ("g", "a", "switch", "defs"):
            if inner and name != "defs":
                name, inner = ("g", inner) if attributes else ("", inner)
            elif not inner:
                return
        yield f"<{name}{_attributes(attributes)}>{inner}</{name}>{tail}" if name else inner

    def _kept_attributes(self, element: Element) -> dict[str, str]:
        """Return the attributes to write: the geometry, the id if it is referenced, and the target of a
        `<use>`. Styles are not included."""
        known = ATTRIBUTES[local_name(element)] | {"transform"}
        kept = {
            key: self._round(value)
            for key, value in element.attrib.items()
            if key in known and (key in ("d", "points") or _VALUE.fullmatch(value))
        }
        if "d" in kept and self._round is round_numbers:
            kept["d"] = round_numbers(_CURVE.sub(_straight, element.get("d", "")))
        if element.get("id", "") in self._named and element.get("id"):
            kept["id"] = f"{self._prefix}{element.get('id')}"
        if local_name(element) == "use" and referenced_id(element):
            kept["href"] = f"#{self._prefix}{referenced_id(element)}"
        if local_name(element) == "svg":
            kept["overflow"] = "visible"  # letters may be wider than the renderer assumes
        return kept

    def _own_style(self, element: Element, ground: str | None) -> dict[str, str]:
        style = {}
        for key, value in sorted(self._styles[element].items()):
            local = _LOCAL.fullmatch(value)
            if local:
                style[key] = f"url(#{self._prefix}{local[1]})"
            elif key in _PAINTS:
                style[key] = self._paint(element, key, value, ground)
            elif _fits(local_name(element), key, value):
                style[key] = self._round(value).removesuffix("px")
        if ground is not None and local_name(element) == "text":
            style.setdefault("fill", ground)
        return style

    def _paint(self, element: Element, key: str, value: str, ground: str | None) -> str:
        if value in ("none", "transparent"):
            return "none"
        is_text = local_name(element) in TEXTS or (key == "fill" and _is_text_group(element))
        color = rgb(value)
        if color is None:
            # `currentColor`, or a colour syntax that the parser does not know
            return "var(--diagram-line,currentColor)"
        if color in self._written and not (is_plain(color) and ground is None):
            return value.lower()
        if ground is not None and (is_text or (key == "stroke" and ground != TEXT_ON_HUE)):
            return ground
        kind = "stroke" if key == "stroke" else "text" if is_text else "fill"
        return nearest_variable(color, kind)

    def _ground(self, element: Element) -> str | None:
        """Return the colour for text and lines on the background that a child of `element` draws. Return None
        if no child draws one, so that the theme's colours apply."""
        for child in element:
            found = None
            if local_name(child) in SHAPES and _is_area(child):
                color = rgb(self._styles[child].get("fill", ""))
                found = text_color_on(color, color in self._written) if color else None
            elif local_name(child) == "g" and _is_one_shape(child):
                found = self._ground(child)
            if found:
                return found
        return None


def _is_one_shape(group: Element) -> bool:
    """Return whether a group is a single shape, possibly drawn as area and outline. A group of more shapes is
    probably a plot."""
    return len(group) <= 2 and all(local_name(part) in SHAPES for part in group)


def _is_area(shape: Element) -> bool:
    """Return whether a shape is large enough to have text on it. Dots of a plot and patches of a legend are
    not."""
    sizes = (shape.get(name, "") for name in ("r", "width", "height"))
    return all(float(size) >= _AREA_PX for size in sizes if _SIZE.fullmatch(size))


def _without(key: str, inherited: Mapping[str, str]) -> str:
    """Return the value of the property `key` for an element that does not set it."""
    initial = _INITIAL.get(key, "")
    return inherited.get(key, initial) if key in INHERITED else initial


def _fits(name: str, key: str, value: str) -> bool:
    """Return whether an element called `name` may have the attribute `key` with this value."""
    if (key in _OF_TEXT and name in SHAPES) or (key == "dominant-baseline" and value not in _BASELINES):
        return False
    return value != "inherit" and "(" not in value and _VALUE.fullmatch(value) is not None


def _is_text_group(element: Element) -> bool:
    """Return whether a group contains only text, so that its fill is the colour of letters."""
    inside = [local_name(part) for part in element.iter() if part is not element]
    return bool(inside) and all(name in TEXTS | {"g", "a", ""} for name in inside)


def _straight(curve: re.Match[str]) -> str:
    try:
        x1, y1, x, y = (float(number) for number in curve.groups())
    except ValueError:
        return curve.group()
    return f"L{x} {y}" if abs(x - x1) + abs(y - y1) < _TINY else curve.group()


def _attributes(values: Mapping[str, str]) -> str:
    return "".join(f' {key}="{escape(value)}"' for key, value in sorted(values.items()))


# Colours of a drawing: those of the renderer are replaced with those of the theme, those of the author are
# kept. A renderer has one set of colours, but a page has two schemes. Every colour that the author did not
# write is therefore replaced with the nearest of a few CSS variables, which a theme sets for light and dark:
# `--diagram-ink`, `-line`, `-border`, `-grid`, `-paper`, `-node`, `-group`, and `-tint-1` to `-tint-8` with
# their strong forms `-hue-1` to `-hue-8`. If no theme sets them, the drawing is lines on the background of
# the page.


TEXT_ON_HUE = "var(--diagram-paper,Canvas)"
"""Colour of text on one of the strong colours, which are dark on light pages and light on dark ones."""

Rgb = tuple[float, float, float]

_WHITE: Rgb = (1.0, 1.0, 1.0)
_BLACK: Rgb = (0.0, 0.0, 0.0)

_WRITTEN = lazy_pattern(
    r"#[0-9a-f]{3,8}\b|(?:rgb|hsl)a?\([^()]*\)|(?<=[:=])\s*\"?[a-z]+", re.IGNORECASE
)  # the name of a colour counts only as a value: `fill:red`, `color = "red"`
_MAX_WRITTEN = 2000
_LIGHT = 0.9
"""Luminance above which a colour of text is meant for a dark area."""

HUES = ("#2a5a87", "#39662f", "#835300", "#a3281a", "#67408a", "#1c6563", "#5f584f", "#97301f")
TINTS = ("#d1dae2", "#d4dccd", "#e3d8c3", "#e9cfc8", "#ddd4df", "#cedbd7", "#dcd9d3", "#e7d1c9")
"""Colours for plugins. Each becomes a variable of the theme: `HUES` for lines of several categories, `TINTS`
for areas."""

_GREYS: Mapping[str, str] = MappingProxyType(
    {"ink": "#211e1a", "line": "#686056", "border": "#8d8477", "grid": "#ddd5c7", "paper": "#fbf9f4"}
)
_AREAS: Mapping[str, str] = MappingProxyType({"node": "#f4f0e7", "group": "#f8f5ee"})


def rgb(text: str) -> Rgb | None:
    """Return red, green and blue of a CSS colour, from 0 to 1, without alpha. None for `currentColor` and
    invalid colours."""
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
    """Return every colour that occurs in the author's source."""
    texts = [found.group().strip(' "') for found in _WRITTEN.finditer(source)]
    return frozenset(color for color in map(rgb, texts[:_MAX_WRITTEN]) if color)


def contrasting(ground: Rgb) -> str:
    """Return black or white, whichever has more contrast on `ground`."""
    light = luminance(ground)
    # contrast in WCAG 2.2: (light + 0.05) / (dark + 0.05); computed for white and for black
    return "#000" if (light + 0.05) / 0.05 >= 1.05 / (light + 0.05) else "#fff"


def luminance(color: Rgb) -> float:
    """Return the relative luminance of WCAG 2.2."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def nearest_variable(color: Rgb, property: str) -> str:
    """Return the variable of the theme whose colour is nearest to `color`, as a CSS value. property: `fill`,
    `stroke` or `text`."""
    if property == "text":
        return TEXT_ON_HUE if luminance(color) > _LIGHT else "var(--diagram-ink,currentColor)"
    palette = _STROKES if property == "stroke" else _FILLS
    name = _black_or_white(color) or palette[min(palette, key=lambda known: (_distance(known, color), known))]
    is_line = name in ("ink", "line", "border", "grid") or name.startswith("hue")
    return f"var(--diagram-{name},{'currentColor' if is_line else 'none'})"


def text_color_on(color: Rgb, is_written: bool) -> str | None:
    """Return the colour of text and lines on an area of `color`; None for the theme's colours. is_written:
    whether the author chose `color`, which is then the same in light and dark."""
    if is_written and not is_plain(color):
        return contrasting(color)
    return TEXT_ON_HUE if nearest_variable(color, "fill").startswith("var(--diagram-hue") else None


def _black_or_white(color: Rgb) -> str:
    """Return the name of the theme's variable for pure black or white, the default colours of renderers;
    empty for other colours."""
    return {_BLACK: "ink", _WHITE: "paper"}.get(color, "")


def is_plain(color: Rgb) -> bool:
    """Return whether `color` is black or white. Authors use these for text and background, so they are not
    kept."""
    return color in (_BLACK, _WHITE)


def _distance(one: Rgb, other: Rgb) -> float:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))
