"""The keys that a query may attend to: one square for each pair."""

from __future__ import annotations

from .canvas import Sheet, matrix

SIDE = 22
TOKENS = 12
WINDOW = 4


def _grid(title: str, rows: list[list[float]]) -> str:
    columns = len(rows[0])
    sheet = Sheet(50 + SIDE * columns, 50 + SIDE * len(rows), title)
    matrix(sheet, 40, 40, SIDE, rows)
    sheet.text(40 + SIDE * columns / 2, 26, "keys", anchor="middle")
    sheet.upward(26, 40 + SIDE * len(rows) / 2, "queries")
    return sheet.svg()


def full() -> str:
    return _grid("Every query sees every key", [[1] * TOKENS for _ in range(TOKENS)])


def causal() -> str:
    rows = [[float(j <= i) for j in range(TOKENS)] for i in range(TOKENS)]
    return _grid("A query sees itself and earlier keys", rows)


def window() -> str:
    rows = [[float(i - WINDOW < j <= i) for j in range(TOKENS)] for i in range(TOKENS)]
    return _grid(f"A query sees itself and the {WINDOW - 1} keys before it", rows)


def cross() -> str:
    """Draw cross-attention with fewer queries than keys: the two sequences may differ in length."""
    return _grid("Every query of one text sees every key of another", [[1] * TOKENS for _ in range(8)])
