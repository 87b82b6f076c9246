"""Weights of one query over sixteen keys, from raw and from scaled scores."""

from __future__ import annotations

import math
import random

from .canvas import Sheet

D_K = 256
KEYS = 16
SEED = 5


def softmax(scores: list[float]) -> list[float]:
    top = max(scores)
    powers = [math.exp(s - top) for s in scores]
    return [p / sum(powers) for p in powers]


def scores() -> list[float]:
    """Return dot products of a normal query with normal keys."""
    rng = random.Random(SEED)
    query = [rng.gauss(0, 1) for _ in range(D_K)]
    return [sum(q * rng.gauss(0, 1) for q in query) for _ in range(KEYS)]


def bars(title: str, weights: list[float]) -> str:
    sheet = Sheet(520, 300, title, opaque=True)
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = 260 - 235 * share
        sheet.line((48, y), (510, y), "axis" if share == 0 else "grid")
        sheet.text(40, y + 5, f"{share:g}", anchor="end")
    step = 462 / len(weights)
    for i, weight in enumerate(weights):
        sheet.rect(48 + i * step + 4, 260 - 235 * weight, step - 8, 235 * weight, "a")
    sheet.text(279, 286, f"weights of {len(weights)} keys", anchor="middle")
    return sheet.svg()


def raw() -> str:
    return bars("Weights from raw scores: one key takes nearly everything", softmax(scores()))


def scaled() -> str:
    weights = softmax([s / math.sqrt(D_K) for s in scores()])
    return bars("Weights from scaled scores: every key has a share", weights)
