"""Bytes of the attention matrix and of the cache of keys and values, against the length of the text."""

from __future__ import annotations

import math
from collections.abc import Callable

from .canvas import Sheet

LEFT, TOP, WIDTH, HEIGHT = 76, 20, 316, 320
LENGTHS = tuple(2**k for k in range(10, 18))
LAYERS, HEADS, KV_HEADS, D_K = 32, 32, 8, 128
LOWEST, HIGHEST = 24, 40
"""Powers of two at the ends of the vertical axis: 16 MiB and 1 TiB."""


def growth() -> str:
    sheet = Sheet(520, 400, "Memory against length, both on a logarithmic scale")
    _axes(sheet)
    lines: tuple[tuple[str, str, Callable[[int], int]], ...] = (
        ("lb", "one layer’s matrix", lambda n: 2 * HEADS * n * n),
        ("la", "cache, 32 heads", lambda n: 4 * LAYERS * HEADS * D_K * n),
        ("lc", "cache, 8 heads", lambda n: 4 * LAYERS * KV_HEADS * D_K * n),
    )
    for kind, label, size in lines:
        points = [(_x(n), _y(size(n))) for n in LENGTHS]
        sheet.curve(points, kind)
        sheet.text(LEFT + WIDTH + 10, points[-1][1] + 5, label, "small")
    return sheet.svg()


def _axes(sheet: Sheet) -> None:
    for power in range(LOWEST, HIGHEST + 1, 4):
        y = _y(2**power)
        sheet.line((LEFT, y), (LEFT + WIDTH, y), "axis" if power == LOWEST else "grid")
        sheet.text(LEFT - 10, y + 5, _bytes(power), anchor="end")
    for n in LENGTHS:
        sheet.text(_x(n), TOP + HEIGHT + 22, f"{n // 1024}k", "small", anchor="middle")
    sheet.text(LEFT + WIDTH / 2, TOP + HEIGHT + 50, "length in tokens", anchor="middle")


def _x(n: int) -> float:
    return LEFT + WIDTH * (math.log2(n) - 10) / 7


def _y(size: int) -> float:
    return TOP + HEIGHT * (1 - (math.log2(size) - LOWEST) / (HIGHEST - LOWEST))


def _bytes(power: int) -> str:
    unit = "MiB" if power < 30 else "GiB" if power < 40 else "TiB"
    return f"{2 ** (power % 10)} {unit}"
