"""Formulas in titles as images, laid out by ziamath with the glyphs of STIX Two Math, the font that pages use
too.

ziamath returns the outlines of glyphs; this module fills them. The outlines of a glyph do not overlap in this
font, so a point is inside if an odd number of them surround it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from msgspec import Struct

from ...base.patterns import lazy_pattern
from ...tex.outlines import EM, outline_formula

if TYPE_CHECKING:
    from PIL.Image import Image

X_HEIGHT = 0.473
"""X-height of STIX Two Math, in em."""
_SAMPLES = 4
"""Number of samples per pixel along each axis."""
_CURVE_STEPS = 6
_MAX_EM = 40
_MAX_SHAPES = 400
_MOVE = lazy_pattern(r"([MLQCZ])([^MLQCZ]*)")

Point = tuple[float, float]
Shape = tuple[tuple[Point, ...], ...]
"""Closed outlines of a glyph or bar. Outlines inside others are holes."""


class Formula(Struct, frozen=True):
    """A formula laid out at a font size of 1 px. The y axis points down; the baseline is at 0."""

    shapes: tuple[Shape, ...]
    left: float
    """Left edge of the bounding box, relative to the start of the formula."""
    top: float
    width: float
    height: float

    def fill(self, size_px: float) -> Image:
        """Return an image of mode `L` that shows how much of each pixel the formula covers. size_px: font
        size."""
        from PIL import Image, ImageChops, ImageDraw

        scale = size_px * _SAMPLES
        size = (int(self.width * size_px + 2) * _SAMPLES, int(self.height * size_px + 2) * _SAMPLES)
        covered = Image.new("1", size)
        for shape in self.shapes:
            outlines = [
                [((x - self.left) * scale, (y - self.top) * scale) for x, y in outline] for outline in shape
            ]
            left, top = (int(min(point[axis] for points in outlines for point in points)) for axis in (0, 1))
            right, bottom = (
                int(max(point[axis] for points in outlines for point in points)) for axis in (0, 1)
            )
            inside = Image.new("1", (right - left + 2, bottom - top + 2))
            for points in outlines:
                one = Image.new("1", inside.size)
                ImageDraw.Draw(one).polygon([(x - left, y - top) for x, y in points], fill=1)
                inside = ImageChops.logical_xor(inside, one)
            # parts such as a root and its bar may overlap, so a part never clears pixels of another
            covered.paste(1, (left, top), inside)
        return covered.convert("L").reduce(_SAMPLES)


def lay_out_formula(mathml: str) -> Formula | None:
    """Return the layout of a formula, or None if it fails or is too large. mathml: XML of `<math>`."""
    try:
        written = ElementTree.fromstring(outline_formula(mathml))
        left, top, width, height = (float(number) / EM for number in written.attrib["viewBox"].split())
        shapes = tuple(_shapes(written))
    except Exception:
        # the outline library raises many kinds of exceptions; the title then shows the formula as text
        return None
    fits = 0 < width <= _MAX_EM and 0 < height <= _MAX_EM and len(shapes) <= _MAX_SHAPES
    return Formula(shapes, left, top, width, height) if fits else None


def _shapes(written: ElementTree.Element) -> Iterator[Shape]:
    for element in written.iter():
        name = element.tag.rpartition("}")[2]
        outlines: Iterable[Sequence[Point]] = ()
        if name == "rect":
            x, y, width, height = (float(element.attrib[key]) for key in ("x", "y", "width", "height"))
            outlines = [[(x, y), (x + width, y), (x + width, y + height), (x, y + height)]]
        elif name == "path":
            outlines = _path_contours(element.attrib["d"])
        if shape := tuple(tuple((x / EM, y / EM) for x, y in outline) for outline in outlines):
            yield shape


def _path_contours(path: str) -> Iterator[list[Point]]:
    contour: list[Point] = []
    for command, written in _MOVE.findall(path):
        numbers = [float(number) for number in written.replace(",", " ").split()]
        points = list(zip(numbers[::2], numbers[1::2], strict=True))
        if command in "MZ" and len(contour) > 2:
            yield contour
        if command == "M":
            contour = points
        elif command == "Z":
            contour = []
        else:
            step = {"L": 1, "Q": 2, "C": 3}[command]
            for start in range(0, len(points), step):
                contour += _curve([contour[-1], *points[start : start + step]])
    if len(contour) > 2:
        yield contour


def _curve(controls: Sequence[Point]) -> list[Point]:
    """Return points on a Bézier curve, without the first one, by de Casteljau's algorithm."""
    if len(controls) == 2:
        return [controls[1]]
    found = []
    for number in range(1, _CURVE_STEPS + 1):
        at, points = number / _CURVE_STEPS, controls
        while len(points) > 1:
            points = [(a[0] + (b[0] - a[0]) * at, a[1] + (b[1] - a[1]) * at) for a, b in pairwise(points)]
        found.append(points[0])
    return found
