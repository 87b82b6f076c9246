"""Colours of drawings from TeX on light and dark pages. Authors choose these colours for white paper.

Black and white become the text colour and the background of the page. On a coloured area, colours stay
unchanged, because the area keeps its colour. On dark pages, thin shapes in a dark colour become lighter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias
from xml.etree.ElementTree import Element

from msgspec import Struct

from ...base.patterns import lazy_pattern
from .styles import Styles, local_name, referenced_id
from .writer import Writer, is_plain, luminance, nearest_variable, rgb

_MIN_SIZE, _MIN_OPACITY, _MAX_DEPTH = 6.0, 0.5, 200
"""Minimum width and height in points, and minimum opacity, of an area that labels may be on; maximum depth of
groups."""
_DARK = 0.22
"""Luminance below which a line is hard to see on a dark page: its contrast is less than 4.5."""
_UNDRAWN = frozenset({"clipPath", "defs", "mask", "pattern", "symbol"})
_NUMBER = lazy_pattern(r"-?(?:\d+\.?\d*|\.\d+)")
_TRANSFORM = lazy_pattern(r"(matrix|translate|scale)\(([^()]*)\)")
_PATH = lazy_pattern(r"([A-Za-z])|(-?(?:\d+\.?\d*|\.\d+))")

Matrix: TypeAlias = tuple[float, float, float, float, float, float]
Box: TypeAlias = tuple[float, float, float, float]
"""Left, top, right, bottom in the coordinates of the whole drawing."""
Tone: TypeAlias = Literal["fixed", "lighter"]
"""Change of a colour on dark pages. `fixed`: none; `lighter`: lighter."""
Tones: TypeAlias = Mapping[tuple[Element, str], Tone]
"""Element and its property, `fill` or `stroke` → tone of this colour. Without a tone, black and white become
the text colour and the background of the page, and other colours stay unchanged."""


class TexWriter(Writer):
    """Writer of a drawing from TeX."""

    def __init__(self, root: Element, styles: Styles, prefix: str, tones: Tones) -> None:
        super().__init__(root, styles, prefix, "", is_exact=True)
        self._tones = tones

    def _own_style(self, element: Element, ground: str | None) -> dict[str, str]:
        style = super()._own_style(element, None)
        lighter = [
            f"{key}:light-dark({style[key]},{_lighten(style[key])})"
            for key in ("fill", "stroke")
            if self._tones.get((element, key)) == "lighter"
        ]
        # programs that do not know `light-dark` use the attribute `fill` or `stroke`
        return {**style, "style": ";".join(lighter)} if lighter else style

    def _paint(self, element: Element, key: str, value: str, ground: str | None) -> str:
        color = rgb(value)
        is_kept = key == "stop-color" or (element, key) in self._tones
        if color is None or not is_plain(color) or is_kept:
            return value.lower() if color or value == "none" else nearest_variable((0.0, 0.0, 0.0), "stroke")
        return nearest_variable(color, "fill")


def read_tones(root: Element) -> Tones:
    """Return the tones of a drawing. Set inherited colours that have a tone on the shapes themselves."""
    tones: dict[tuple[Element, str], Tone] = {}
    areas: list[tuple[Box, bool]] = []
    for element, look in _shapes(root, _Look(), 0):
        box = _box(element, look.matrix)
        if box is None:
            continue
        is_over = next((is_colored for area, is_colored in reversed(areas) if _contains(area, box)), False)
        is_area = look.fill != "none" and min(box[2] - box[0], box[3] - box[1]) >= _MIN_SIZE
        if is_area and look.opacity >= _MIN_OPACITY:
            areas.append((box, is_over or not _is_plain(look.fill)))
        for key, color in (("fill", look.fill), ("stroke", look.stroke)):
            if is_over:
                tones[element, key] = "fixed"
            elif _is_dark(color) and not (is_area and key == "fill"):
                tones[element, key] = "lighter"
            if (element, key) in tones:
                element.set(key, color)
    return tones


class _Look(Struct, frozen=True):
    """Position and colours of an element, with those of its groups applied."""

    matrix: Matrix = (1, 0, 0, 1, 0, 0)
    fill: str = "#000"
    stroke: str = "none"
    opacity: float = 1.0
    """Opacity of the filled area."""

    def inside(self, element: Element) -> _Look:
        """Return the look of `element` in a group with this look."""
        parts = [float(element.get(name, "1")) for name in ("opacity", "fill-opacity")]
        return _Look(
            _multiply(self.matrix, _read_transform(element.get("transform", ""))),
            element.get("fill", self.fill),
            element.get("stroke", self.stroke),
            self.opacity * parts[0] * parts[1],
        )


def _shapes(element: Element, around: _Look, depth: int) -> Iterator[tuple[Element, _Look]]:
    """Yield each drawn shape with its look, in the order of drawing."""
    if depth > _MAX_DEPTH:
        raise ValueError("groups are nested too deeply")
    if local_name(element) in _UNDRAWN:
        return
    look = around.inside(element)
    if local_name(element) in ("path", "rect", "use"):
        yield element, look
    for child in element:
        yield from _shapes(child, look, depth + 1)


def _is_plain(color: str) -> bool:
    found = rgb(color)
    return found is None or is_plain(found)


def _is_dark(color: str) -> bool:
    found = rgb(color)
    return found is not None and not is_plain(found) and luminance(found) < _DARK


def _lighten(color: str) -> str:
    parts = rgb(color) or (0.0, 0.0, 0.0)
    return "#" + "".join(f"{round(255 * (1 + part) / 2):02x}" for part in parts)


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


def _box(element: Element, matrix: Matrix) -> Box | None:
    """Return the box around the corners of a shape. For a glyph: only its origin. None without a position."""
    points = _path_points(element.get("d", ""))
    if local_name(element) != "path":
        x, y, w, h = (float(element.get(key, "0")) for key in ("x", "y", "width", "height"))
        points = [(x, y)] if referenced_id(element) else [(x, y), (x + w, y), (x, y + h), (x + w, y + h)]
    if not points:
        return None
    a, b, c, d, e, f = matrix
    xs, ys = [a * x + c * y + e for x, y in points], [b * x + d * y + f for x, y in points]
    return min(xs), min(ys), max(xs), max(ys)


def _path_points(path: str) -> list[tuple[float, float]]:
    """Return the corners and control points of a path with absolute commands, as `dvisvgm` writes them."""
    points: list[tuple[float, float]] = []
    command, left = "M", list[float]()
    for letter, number in _PATH.findall(path):
        if letter:
            command, left = letter, []
            continue
        left.append(float(number))
        x, y = points[-1] if points else (0.0, 0.0)
        if command == "H":
            points.append((left.pop(), y))
        elif command == "V":
            points.append((x, left.pop()))
        elif len(left) == 2:
            points.append((left[0], left[1]))
            left = []
    return points


def _contains(area: Box, box: Box) -> bool:
    return area[0] <= box[0] and area[1] <= box[1] and box[2] <= area[2] and box[3] <= area[3]
