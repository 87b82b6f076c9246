"""Dot products of position encodings made of sines and cosines, against the distance of the positions."""

from __future__ import annotations

import math

from .canvas import Sheet

WIDTH = 128
BASE = 10_000
REACH = 80


def likeness(distance: int) -> float:
    """Return the dot product of two encodings at this distance, relative to an encoding with itself."""
    pairs = WIDTH // 2
    return math.fsum(math.cos(distance * BASE ** (-i / pairs)) for i in range(pairs)) / pairs


def fading() -> str:
    sheet = Sheet(520, 320, "The dot product of two positions depends on their distance only")
    for share in (0, 0.25, 0.5, 0.75, 1):
        sheet.line((50, _y(share)), (510, _y(share)), "axis" if share == 0 else "grid")
        sheet.text(42, _y(share) + 5, f"{share:g}", anchor="end")
    for distance in (-80, -40, 0, 40, 80):
        sheet.text(_x(distance), 288, f"{distance}".replace("-", "−"), anchor="middle")
    sheet.curve([(_x(d), _y(likeness(d))) for d in range(-REACH, REACH + 1)], "la")
    sheet.text(279, 312, "distance between the positions", anchor="middle")
    return sheet.svg()


def _x(distance: int) -> float:
    return 279 + 228 * distance / REACH


def _y(share: float) -> float:
    return 265 - 235 * share
