"""Geometry of arrows: cubic curves between the borders of boxes.

A point is a complex number: x to the right, and y down as the imaginary part.
"""

from __future__ import annotations

from cmath import phase, rect
from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import degrees, radians

from msgspec import Struct

_SAMPLES = 24
_LEFT = -1j
"""Factor that turns a direction by a right angle to its left."""


class Rectangle(Struct, frozen=True):
    """The border of a cell or label."""

    center: complex
    """Center of the box. For a cell, its height is that of the math axis."""
    half: float
    """Half of the width of the box."""
    up: float
    down: float

    def border(self, direction: complex, origin: complex | None = None) -> complex:
        """Return the point where a ray leaves the rectangle. origin: start of the ray; None: the center."""
        start = self.center if origin is None else origin
        offset, reach = start - self.center, float("inf")
        if abs(direction.real) > 1e-9:
            side = self.half if direction.real > 0 else -self.half
            reach = (side - offset.real) / direction.real
        if abs(direction.imag) > 1e-9:
            side = self.down if direction.imag > 0 else -self.up
            reach = min(reach, (side - offset.imag) / direction.imag)
        return start + direction * max(0.0, reach)

    def anchor(self, name: str) -> complex:
        """Return the point of an anchor such as `north east`, or of an angle in degrees such as `45`."""
        if name.lstrip("-").replace(".", "").isdigit():
            return self.border(along(float(name)))
        x = self.half * (("east" in name) - ("west" in name))
        return self.center + complex(x, self.down * ("south" in name) - self.up * ("north" in name))

    def grow(self, space: float) -> Rectangle:
        """Return the rectangle, larger by `space` at all sides."""
        return Rectangle(self.center, self.half + space, self.up + space, self.down + space)

    def contains(self, point: complex) -> bool:
        """Return whether a point is inside the rectangle."""
        offset = point - self.center
        return abs(offset.real) < self.half and -self.up < offset.imag < self.down


class Curve(Struct, frozen=True):
    """A cubic Bézier curve."""

    a: complex
    b: complex
    c: complex
    d: complex
    is_straight: bool = False

    def at(self, t: float) -> complex:
        """Return the point at the parameter `t`."""
        s = 1 - t
        return s**3 * self.a + 3 * s * s * t * self.b + 3 * s * t * t * self.c + t**3 * self.d

    def direction(self, t: float) -> complex:
        """Return the unit vector along the curve at `t`."""
        return unit(self.at(min(1.0, t + 0.01)) - self.at(max(0.0, t - 0.01)))

    def points(self, count: int = _SAMPLES) -> list[complex]:
        """Return `count` + 1 points of the curve at equal distances of the parameter, including both ends."""
        return [self.at(index / count) for index in range(count + 1)]

    def length(self) -> float:
        """Return the approximate length of the curve."""
        return sum(abs(q - p) for p, q in pairwise(self.points()))

    def move(self, first: complex, last: complex) -> Curve:
        """Return the curve with its first two control points moved by `first`, and its last two by `last`."""
        return Curve(self.a + first, self.b + first, self.c + last, self.d + last, self.is_straight)

    def offset(self, distance: float) -> Curve:
        """Return the curve at a distance to the left of this one; approximate unless it is straight."""
        return self.move(*(distance * _LEFT * self.direction(t) for t in (0.0, 1.0))) if distance else self

    def part(self, start: float, end: float) -> Curve:
        """Return the part of the curve between two parameters from 0 to 1."""
        a, b, c, d = self.a, self.b, self.c, self.d
        for t, is_first in ((end, True), (start / end if end else 0.0, False)):
            # de Casteljau
            ab, bc, cd = a + (b - a) * t, b + (c - b) * t, c + (d - c) * t
            abc, bcd = ab + (bc - ab) * t, bc + (cd - bc) * t
            middle = abc + (bcd - abc) * t
            a, b, c, d = (a, ab, abc, middle) if is_first else (middle, bcd, cd, d)
        return Curve(a, b, c, d, self.is_straight)

    def trim(self, start: float, end: float) -> Curve:
        """Return the curve without a length at each end; the whole curve if it is too short."""
        gone = [0.0, *accumulate(abs(q - p) for p, q in pairwise(self.points()))]
        low, high = start, gone[-1] - end
        if low >= high - 0.01 or not (start or end):
            return self
        return self.part(_parameter(gone, low), _parameter(gone, high))


def _parameter(gone: Sequence[float], distance: float) -> float:
    """Return the parameter at a distance along the curve. gone: distance from the start to each sample."""
    for index, (before, after) in enumerate(pairwise(gone)):
        if after >= distance and after > before:
            return max(0.0, index + (distance - before) / (after - before)) / _SAMPLES
    return 1.0


def line(start: complex, end: complex) -> Curve:
    """Return a straight line as a curve."""
    third = (end - start) / 3
    return Curve(start, start + third, end - third, end, True)


def along(angle: float) -> complex:
    """Return the unit vector at an angle in degrees, anticlockwise from the right."""
    return rect(1.0, -radians(angle))


def angle(vector: complex) -> float:
    """Return the angle of a vector in degrees, anticlockwise from the right."""
    return degrees(phase(vector.conjugate()))


def unit(vector: complex) -> complex:
    """Return the vector scaled to length 1; the unit vector to the right if its length is 0."""
    return vector / abs(vector) if abs(vector) > 1e-9 else 1 + 0j


def left(direction: complex) -> complex:
    """Return the direction turned by a right angle to its left."""
    return _LEFT * direction


def visible_parts(curve: Curve, gaps: Sequence[tuple[float, float]]) -> list[Curve]:
    """Return the parts of a curve outside `gaps`, each from one parameter to another."""
    parts, start = [], 0.0
    for low, high in (*sorted(gaps), (1.0, 1.0)):
        if low > start:
            parts.append(curve.part(start, low) if (start, low) != (0.0, 1.0) else curve)
        start = max(start, high)
    return parts


def hidden_range(curve: Curve, box: Rectangle) -> tuple[float, float] | None:
    """Return the parameters between which a curve is inside a rectangle; None if no point of it is inside."""
    count = 4 * _SAMPLES
    inside = [index for index, point in enumerate(curve.points(count)) if box.contains(point)]
    return (max(0.0, (inside[0] - 0.5) / count), min(1.0, (inside[-1] + 0.5) / count)) if inside else None


def crossings(curve: Curve, other: Curve) -> list[float]:
    """Return the parameters of `curve` where the curve `other` crosses it."""
    ours, theirs = ([one.a, one.d] if one.is_straight else one.points() for one in (curve, other))
    found = []
    for index, (p, q) in enumerate(pairwise(ours)):
        for r, s in pairwise(theirs):
            step, across = q - p, s - r
            cross = (step.conjugate() * across).imag
            if abs(cross) > 1e-9:
                t, u = (((r - p).conjugate() * vector).imag / cross for vector in (across, step))
                if 0 <= t <= 1 and 0 <= u <= 1:
                    found.append((index + t) / (len(ours) - 1))
    return found
