"""A lookup that blurs: the same twelve entries read at three temperatures."""

from __future__ import annotations

import math

from .bars import softmax
from .canvas import Sheet

KEYS = (0.4, 1.1, 1.9, 2.6, 3.1, 4.2, 4.9, 5.8, 6.3, 7.4, 8.5, 9.5)
VALUES = (1.0, 1.6, 2.9, 3.3, 2.7, 1.9, 2.1, 3.4, 4.2, 4.0, 2.6, 1.8)
TEMPERATURES = ((0.01, "la", "nearest entry"), (0.3, "lb", "in between"), (60.0, "lc", "mean of all"))
"""Variance of the kernel, colour, name."""


def read(query: float, temperature: float) -> float:
    """Return the mean of the values, weighted by a Gaussian kernel between query and keys."""
    weights = softmax([-((query - key) ** 2) / (2 * temperature) for key in KEYS])
    return math.fsum(w * v for w, v in zip(weights, VALUES, strict=True))


def blur() -> str:
    sheet = Sheet(520, 330, "Twelve entries, and what a query reads from them at three temperatures")
    sheet.line((40, 280), (416, 280), "axis")
    sheet.text(228, 312, "query", anchor="middle")
    sheet.upward(24, 150, "value read")
    for temperature, kind, name in TEMPERATURES:
        points = [(_x(q / 20), _y(read(q / 20, temperature))) for q in range(201)]
        sheet.curve(points, kind)
        sheet.text(424, points[-1][1] + _shift(kind), name, "small")
    for key, value in zip(KEYS, VALUES, strict=True):
        sheet.dot(_x(key), _y(value), 4, "ink")
    return sheet.svg()


def _shift(kind: str) -> float:
    return {"la": 16, "lb": -2, "lc": 4}[kind]


def _x(position: float) -> float:
    return 40 + 37.6 * position


def _y(value: float) -> float:
    return 280 - 55 * value
