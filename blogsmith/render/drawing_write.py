"""Writes a parsed drawing again, from allow-lists, in the page's colours and as few bytes as it takes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape
from xml.etree.ElementTree import Element

from .drawing_css import PROPERTIES, Styles
from .drawing_paint import Rgb, contrasting, is_plain, rgb, variable, written_colours

SHAPES = frozenset("circle ellipse line path polygon polyline rect".split())
TEXTS = frozenset(("text", "tspan"))
GROUPS = frozenset("a defs g svg switch use".split())
NAMED = frozenset("clipPath linearGradient marker radialGradient symbol".split())
"""Elements that are drawn only where another names them."""
ELEMENTS = SHAPES | TEXTS | GROUPS | NAMED | {"stop"}
ATTRIBUTES = frozenset(
    "clipPathUnits cx cy d dx dy fx fy gradientTransform gradientUnits height markerHeight markerUnits "
    "markerWidth offset orient points preserveAspectRatio r refX refY rotate rx ry spreadMethod transform "
    "viewBox width x x1 x2 y y1 y2".split()
)
_INHERITED = PROPERTIES - {"clip-path", "display", "opacity", "stop-color", "stop-opacity", "text-decoration"}
_PAINTS = ("fill", "stroke", "stop-color")

_LOCAL = re.compile(r"url\(\s*[\"']?#([^\s\"')]+)[\"']?\s*\)")
_VALUE = re.compile(r"[\w.%#,\s+()-]*")
_NUMBER = re.compile(r"-?\d+\.\d{2,}(?:e-?\d+)?")
_CURVE = re.compile(r"C ?(\S+) (\S+), ?\S+ \S+, ?(\S+) (\S+)")
_END = re.compile(r"(-?[\d.]+)[ ,](-?[\d.]+)\s*(?=[A-Za-z]|$)")
_MAX_DEPTH = 200
_TINY = 2.5
"""A curve shorter than this, in px, is drawn as a line: the eye sees none."""


def local_name(element: Element) -> str:
    """The tag without its namespace; empty for comments and instructions."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


class Writer:
    """One drawing being written."""

    def __init__(self, root: Element, styles: Styles, prefix: str, source: str) -> None:
        self._root, self._prefix = root, prefix
        self._styles, self._dropped = _merged_outlines(root, styles)
        self._written = written_colours(source)
        self._named = {name for element in root.iter() for name in self._references(element)}

    def children(self) -> str:
        """Everything inside the root."""
        # a shape or letter without a colour of its own is black in SVG: here it is ink
        default = {"fill": variable((0.0, 0.0, 0.0), "text"), "font-size": "16px"}
        group = f"<g{_attributes(default | self._own_style(self._root, None))}>"
        inner = "".join(self._inside(self._root, None, {}, 1))
        return f"{group}{inner}</g>"

    def _references(self, element: Element) -> Iterator[str]:
        for value in self._styles[element].values():
            yield from _LOCAL.findall(value)
        yield _href(element)

    def _inside(
        self, element: Element, ground: Rgb | None, inherited: Mapping[str, str], depth: int
    ) -> Iterator[str]:
        """The children. ground: the author's colour behind them, None if they stand on the theme's."""
        if depth > _MAX_DEPTH:
            raise ValueError("the drawing is nested too deep for a page")
        own = self._ground(element) or ground
        for child in element:
            if not self._is_drawn(child):
                continue
            # the shape that makes the ground stands on the one before
            behind = ground if own is not ground and local_name(child) in SHAPES else own
            yield from self._element(child, behind, inherited, depth)

    def _is_drawn(self, element: Element) -> bool:
        name = local_name(element)
        if element in self._dropped:
            return False
        if name in NAMED and element.get("id", "") not in self._named:
            return False
        if self._styles[element].get("display") == "none" or self._styles[element].get("opacity") == "0":
            return False
        if name == "rect" and not (element.get("width") and element.get("height")):
            return False
        return name in ELEMENTS

    def _element(
        self, element: Element, ground: Rgb | None, inherited: Mapping[str, str], depth: int
    ) -> Iterator[str]:
        name = local_name(element)
        style = self._own_style(element, ground)
        style = {k: v for k, v in style.items() if k not in _INHERITED or inherited.get(k) != v}
        attributes = self._kept(element) | style
        passed = {**inherited, **{key: value for key, value in style.items() if key in _INHERITED}}
        inner = "".join(self._inside(element, ground, passed, depth + 1))
        if name in TEXTS:
            inner = escape(element.text or "", quote=False) + inner
        tail = escape(element.tail or "", quote=False) if name == "tspan" else ""
        if name in ("g", "a", "switch", "defs"):
            if inner and name != "defs":
                name, inner = ("g", inner) if attributes else ("", inner)
            elif not inner:
                return
        yield f"<{name}{_attributes(attributes)}>{inner}</{name}>{tail}" if name else inner

    def _kept(self, element: Element) -> dict[str, str]:
        """Geometry, the id if it is named somewhere, the name of what is used."""
        kept = {
            key: _short(value)
            for key, value in element.attrib.items()
            if key in ATTRIBUTES and (key in ("d", "points") or _VALUE.fullmatch(value))
        }
        if "d" in kept:
            kept["d"] = _short(_CURVE.sub(_straight, element.get("d", "")))
        if element.get("id", "") in self._named and element.get("id"):
            kept["id"] = f"{self._prefix}{element.get('id')}"
        if local_name(element) == "use" and _href(element):
            kept["href"] = f"#{self._prefix}{_href(element)}"
        return kept

    def _own_style(self, element: Element, ground: Rgb | None) -> dict[str, str]:
        style = {}
        for key, value in sorted(self._styles[element].items()):
            local = _LOCAL.fullmatch(value)
            if local:
                style[key] = f"url(#{self._prefix}{local[1]})"
            elif key in _PAINTS:
                style[key] = self._paint(element, key, value, ground)
            elif _VALUE.fullmatch(value) and "(" not in value:
                style[key] = _short(value)
        if ground is not None and local_name(element) == "text":
            style.setdefault("fill", contrasting(ground))
        return style

    def _paint(self, element: Element, key: str, value: str, ground: Rgb | None) -> str:
        if value in ("none", "transparent"):
            return "none"
        is_text = local_name(element) in TEXTS or (key == "fill" and _holds_text(element))
        color = rgb(value)
        if color is None:
            color = (0.0, 0.0, 0.0)  # currentColor, inherit, a value newer than the parser
        elif color in self._written and not (is_plain(color) and ground is None):
            return value.lower()
        if ground is not None and (is_text or key == "stroke"):
            return contrasting(ground)
        return variable(color, "text" if is_text and key == "fill" else "stroke" if key == "stroke" else "fill")

    def _ground(self, element: Element) -> Rgb | None:
        """The author's colour of the area its other children stand on."""
        for child in element:
            if local_name(child) in SHAPES:
                color = rgb(self._styles[child].get("fill", ""))
                if color in self._written and color is not None and not is_plain(color):
                    return color
            elif local_name(child) == "g" and all(local_name(part) in SHAPES for part in child):
                found = self._ground(child)
                if found:
                    return found
        return None


def _holds_text(element: Element) -> bool:
    """Whether a group holds nothing but text, so that its fill is the colour of letters."""
    inside = [local_name(part) for part in element.iter() if part is not element]
    return bool(inside) and all(name in TEXTS | {"g", "a", ""} for name in inside)


def _href(element: Element) -> str:
    """The id that a `<use>` names; addresses of anything else are not followed."""
    for key, value in element.attrib.items():
        if key.rpartition("}")[2] == "href" and value.startswith("#") and local_name(element) == "use":
            return value[1:]
    return ""


def _merged_outlines(root: Element, styles: Styles) -> tuple[Styles, frozenset[Element]]:
    """Shapes drawn twice, as an area without stroke and an outline without fill, made one.

    Renderers with a hand-drawn mode do so, and go twice round the outline too. Returns the styles with
    the outline's stroke moved to the area, and the outlines that are not drawn any more.
    """
    changed, dropped = dict(styles), set()
    for group in root.iter():
        parts = list(group)
        if len(parts) != 2 or any(local_name(part) != "path" for part in parts):
            continue
        area, outline = parts
        if styles[area].get("stroke") == "none" == styles[outline].get("fill") and _is_outline(area, outline):
            stroke = {key: value for key, value in styles[outline].items() if key.startswith("stroke")}
            changed[area] = {**styles[area], **stroke}
            dropped.add(outline)
    return changed, frozenset(dropped)


def _is_outline(area: Element, outline: Element) -> bool:
    """Whether all corners of `outline` are those of `area`, and it is closed if the area is made so."""
    corners = [_END.findall(_short(part.get("d", ""))) for part in (area, outline)]
    if not corners[0] or not set(corners[1]) <= set(corners[0]):
        return False
    if corners[1].count(corners[0][0]) > 1 and not area.get("d", "").rstrip().endswith(("z", "Z")):
        area.set("d", area.get("d", "") + "Z")
    return True


def _straight(curve: re.Match[str]) -> str:
    try:
        x1, y1, x, y = (float(number) for number in curve.groups())
    except ValueError:
        return curve.group()
    return f"L{x} {y}" if abs(x - x1) + abs(y - y1) < _TINY else curve.group()


def _short(value: str) -> str:
    """Numbers with at most one decimal: a tenth of a px is not seen."""
    return _NUMBER.sub(lambda found: f"{round(float(found.group()), 1):g}", value.strip())


def _attributes(values: Mapping[str, str]) -> str:
    return "".join(f' {key}="{escape(value)}"' for key, value in sorted(values.items()))
