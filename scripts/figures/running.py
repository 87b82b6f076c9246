"""The running maximum and the running sum of online softmax over sixty scores."""

from __future__ import annotations

import math
import random

from .canvas import Sheet

SCORES = 60
SEED = 3
LEFT, WIDTH = 46, 464


def states() -> list[tuple[float, float, float]]:
    """Return the score, the maximum so far and the sum relative to it, for each step."""
    rng = random.Random(SEED)
    top, total, found = -math.inf, 0.0, []
    for step in range(SCORES):
        score = rng.gauss(0, 1.2) + 0.03 * step
        new = max(top, score)
        total = total * math.exp(top - new) + math.exp(score - new)
        top = new
        found.append((score, top, total))
    return found


def running() -> str:
    sheet = Sheet(520, 420, "Scores with their running maximum, and the running sum below")
    rows = states()
    _scores(sheet, rows)
    _sums(sheet, rows)
    sheet.text(LEFT + WIDTH / 2, 412, "score number", anchor="middle")
    return sheet.svg()


def _x(step: int) -> float:
    return LEFT + WIDTH * (step + 0.5) / SCORES


def _scores(sheet: Sheet, rows: list[tuple[float, float, float]]) -> None:
    def y(value: float) -> float:
        return 110 - 22 * value

    for value in (-2, 0, 2, 4):
        sheet.line((LEFT, y(value)), (LEFT + WIDTH, y(value)), "grid")
        sheet.text(LEFT - 10, y(value) + 5, f"{value}".replace("-", "−"), anchor="end")
    for step, (score, _, _) in enumerate(rows):
        sheet.dot(_x(step), y(score), 3, "a")
    tops = [top for _, top, _ in rows]
    before = [tops[0], *tops]
    stairs = [(_x(step), y(top)) for step in range(SCORES) for top in (before[step], tops[step])]
    sheet.curve(stairs, "lb")
    sheet.text(LEFT + 6, y(4) - 6, "running maximum", "small")


def _sums(sheet: Sheet, rows: list[tuple[float, float, float]]) -> None:
    highest = 5 * math.ceil(max(total for _, _, total in rows) / 5)

    def y(value: float) -> float:
        return 385 - 170 * value / highest

    for value in range(0, highest + 1, 5):
        sheet.line((LEFT, y(value)), (LEFT + WIDTH, y(value)), "axis" if value == 0 else "grid")
        sheet.text(LEFT - 10, y(value) + 5, f"{value}", anchor="end")
    sheet.curve([(_x(step), y(total)) for step, (_, _, total) in enumerate(rows)], "lc")
    sheet.text(LEFT + 6, y(highest) - 6, "running sum, relative to the maximum", "small")
