"""Colours of drawings from TeX on light and dark pages. Authors choose these colours for white paper.

Black and white become the text colour and the background of the page. On a coloured area, colours stay
unchanged, because the area keeps its colour. On dark pages, thin shapes in a dark colour become lighter, and
those in a light grey darker.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Literal, TypeAlias
from xml.etree.ElementTree import Element

from msgspec import Struct

from ...base.patterns import lazy_pattern
from .styles import Styles, local_name, referenced_id
from .writer import Writer, is_plain, luminance, nearest_variable, rgb

_MIN_SIZE, _MIN_OPACITY, _MAX_DEPTH, _INNER = 6.0, 0.5, 200, 0.97
"""Minimum width, height (both in points) and opacity of an area that labels may be on; maximum depth of
groups; factor by which an outline is scaled towards its centre before its points are compared."""
_DARK = 0.22
"""Luminance below which a line is hard to see on a dark page: its contrast is less than 4.5."""
_GREY = 0.02
"""Maximum difference between red, green and blue in a grey."""
_UNDRAWN = frozenset({"clipPath", "defs", "mask", "pattern", "symbol"})
_NUMBER = lazy_pattern(r"-?(?:\d+\.?\d*|\.\d+)")
_TRANSFORM = lazy_pattern(r"(matrix|translate|scale)\(([^()]*)\)")
_PATH = lazy_pattern(r"([A-Za-z])|(-?(?:\d+\.?\d*|\.\d+))")

Matrix: TypeAlias = tuple[float, float, float, float, float, float]
Point: TypeAlias = tuple[float, float]
Outline: TypeAlias = Sequence[Sequence[Point]]
"""Points of each part of a shape (corners and control points), in the coordinates of the whole drawing."""
Tone: TypeAlias = Literal["fixed", "adapted"]
"""Treatment of a colour on dark pages: `fixed` does not change it, `adapted` replaces it by that of
`_adapt`."""
Tones: TypeAlias = Mapping[tuple[Element, str], Tone]
"""(element, `fill` or `stroke`) → tone of this colour. Colours without a tone: black and white become the
text colour and the background of the page, others stay unchanged."""


class TexWriter(Writer):
    """Writer of a drawing from TeX."""

    def __init__(self, root: Element, styles: Styles, prefix: str, tones: Tones) -> None:
        super().__init__(root, styles, prefix, "", is_exact=True)
        self._tones = tones

    def _own_style(self, element: Element, ground: str | None) -> dict[str, str]:
        style = super()._own_style(element, None)
        adapted = [
            f"{key}:light-dark({style[key]},{_adapt(style[key])})"
            for key in ("fill", "stroke")
            if self._tones.get((element, key)) == "adapted"
        ]
        # programs that do not know `light-dark` use the attribute `fill` or `stroke`
        return {**style, "style": ";".join(adapted)} if adapted else style

    def _paint(self, element: Element, key: str, value: str, ground: str | None) -> str:
        color = rgb(value)
        is_kept = key == "stop-color" or (element, key) in self._tones
        if color is None or not is_plain(color) or is_kept:
            return value.lower() if color or value == "none" else nearest_variable((0.0, 0.0, 0.0), "stroke")
        return nearest_variable(color, "fill")


def read_tones(root: Element) -> Tones:
    """Return the tones of a drawing. A shape whose inherited colour has a tone gets the colour as an
    attribute of its own."""
    clips = {found.get("id", ""): found for found in root.iter() if local_name(found) == "clipPath"}
    tones: dict[tuple[Element, str], Tone] = {}
    areas: list[_Area] = []
    for element, look in _shapes(root, _Look(), clips, 0):
        outline = _outline(element, look.matrix)
        if not outline:
            continue
        left, top, right, bottom = box = _box(outline)
        is_over = next((area.is_colored for area in reversed(areas) if area.contains(outline, box)), False)
        is_area = look.fill != "none" and min(right - left, bottom - top) >= _MIN_SIZE
        if is_area and look.opacity >= _MIN_OPACITY:
            areas.append(_Area((outline, *look.clips), box, is_over or not _is_plain(look.fill)))
        # the outline of an area stays the same, as its fill does
        is_line = not is_area or _is_plain(look.fill)
        for key, color in (("fill", look.fill), ("stroke", look.stroke)):
            if is_over:
                tones[element, key] = "fixed"
            elif _is_adapted(color) and (not is_area if key == "fill" else is_line):
                tones[element, key] = "adapted"
            if (element, key) in tones:
                element.set(key, color)
    return tones


class _Area(Struct, frozen=True):
    """A filled area that labels may be on."""

    outlines: tuple[Outline, ...]
    """Outline of the area, followed by the outlines of the paths that clip it."""
    box: tuple[float, float, float, float]
    is_colored: bool

    def contains(self, outline: Outline, box: tuple[float, float, float, float]) -> bool:
        """Return whether a shape with this outline and box that is drawn after the area is on the area."""
        left, top, right, bottom = self.box
        if box[0] < left or box[1] < top or box[2] > right or box[3] > bottom:
            return False
        # the outline of the area has points on the border
        x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        inner = [(x + _INNER * (px - x), y + _INNER * (py - y)) for part in outline for px, py in part]
        return all(_is_inside(point, around) for around in self.outlines for point in inner)


class _Look(Struct, frozen=True):
    """Position and colours of an element, including those that it inherits from its groups."""

    matrix: Matrix = (1, 0, 0, 1, 0, 0)
    fill: str = "#000"
    stroke: str = "none"
    opacity: float = 1.0
    """Opacity of the filled area."""
    clips: tuple[Outline, ...] = ()

    def inside(self, element: Element, clips: Mapping[str, Element]) -> _Look:
        """Return the look of `element`, which is a child of the element with this look. clips: id →
        `<clipPath>`."""
        parts = [float(element.get(name, "1")) for name in ("opacity", "fill-opacity")]
        matrix = _multiply(self.matrix, _read_transform(element.get("transform", "")))
        clip = clips.get(element.get("clip-path", "")[5:-1], ())  # url(#id)
        return _Look(
            matrix,
            element.get("fill", self.fill),
            element.get("stroke", self.stroke),
            self.opacity * parts[0] * parts[1],
            (*self.clips, *(outline for path in clip if (outline := _outline(path, matrix)))),
        )


def _shapes(
    element: Element, around: _Look, clips: Mapping[str, Element], depth: int
) -> Iterator[tuple[Element, _Look]]:
    """Yield each drawn shape in `element` with its look, in the order of drawing. around: look of the parent.
    clips: as in `_Look.inside`. depth: number of elements around `element`."""
    if depth > _MAX_DEPTH:
        raise ValueError("groups are nested too deeply")
    if local_name(element) in _UNDRAWN:
        return
    look = around.inside(element, clips)
    if local_name(element) in ("path", "rect", "use"):
        yield element, look
    for child in element:
        yield from _shapes(child, look, clips, depth + 1)


def _is_plain(color: str) -> bool:
    found = rgb(color)
    return found is None or is_plain(found)


def _is_adapted(color: str) -> bool:
    found = rgb(color)
    return found is not None and not is_plain(found) and (_is_grey(found) or luminance(found) < _DARK)


def _is_grey(color: tuple[float, float, float]) -> bool:
    return max(color) - min(color) < _GREY


def _adapt(color: str) -> str:
    """Return the colour to use on dark pages: greys are inverted, other dark colours become lighter."""
    parts = rgb(color) or (0.0, 0.0, 0.0)
    changed = [1 - part if _is_grey(parts) else (1 + part) / 2 for part in parts]
    return "#" + "".join(f"{round(255 * part):02x}" for part in changed)


# Positions of shapes.


def _read_transform(written: str) -> Matrix:
    matrix: Matrix = (1, 0, 0, 1, 0, 0)
    for name, arguments in _TRANSFORM.findall(written):
        n = [float(number) for number in _NUMBER.findall(arguments)]
        if name == "matrix" and len(n) == 6:
            matrix = _multiply(matrix, (n[0], n[1], n[2], n[3], n[4], n[5]))
        elif name == "translate" and n:
            matrix = _multiply(matrix, (1, 0, 0, 1, n[0], n[1] if len(n) > 1 else 0))
        elif name == "scale" and n:
            matrix = _multiply(matrix, (n[0], 0, 0, n[-1], 0, 0))
    return matrix


def _multiply(one: Matrix, other: Matrix) -> Matrix:
    (a, b, c, d, e, f), (g, h, i, j, k, m) = one, other
    x, y = a * k + c * m + e, b * k + d * m + f
    return a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, x, y


def _outline(element: Element, matrix: Matrix) -> Outline:
    """Return the outline of a shape; for a glyph, the point of its origin. Empty if a path has no points."""
    parts = _path_outline(element.get("d", ""))
    if local_name(element) != "path":
        x, y, w, h = (float(element.get(key, "0")) for key in ("x", "y", "width", "height"))
        parts = [[(x, y)] if referenced_id(element) else [(x, y), (x + w, y), (x + w, y + h), (x, y + h)]]
    a, b, c, d, e, f = matrix
    return [[(a * x + c * y + e, b * x + d * y + f) for x, y in part] for part in parts]


def _box(outline: Outline) -> tuple[float, float, float, float]:
    """Return the left, top, right and bottom coordinates of an outline."""
    xs, ys = zip(*chain.from_iterable(outline), strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def _is_inside(point: Point, outline: Outline) -> bool:
    """Return whether a point is inside polygons, by the even-odd rule."""
    x, y = point
    is_inside = False
    for part in outline:
        x0, y0 = part[-1]
        for x1, y1 in part:
            if (y0 > y) != (y1 > y) and x < x0 + (y - y0) * (x1 - x0) / (y1 - y0):
                is_inside = not is_inside
            x0, y0 = x1, y1
    return is_inside


def _path_outline(path: str) -> list[list[Point]]:
    """Return the points of a path. It must have absolute commands, as `dvisvgm` writes them."""
    parts: list[list[Point]] = []
    command, left = "M", list[float]()
    for letter, number in _PATH.findall(path):
        if letter:
            command, left = letter, []
            continue
        left.append(float(number))
        x, y = parts[-1][-1] if parts else (0.0, 0.0)
        if command == "H":
            point = (left[0], y)
        elif command == "V":
            point = (x, left[0])
        elif len(left) == 2:
            point = (left[0], left[1])
        else:
            continue
        if command == "M" or not parts:
            parts.append([])
            command = "L"
        parts[-1].append(point)
        left = []
    return parts
