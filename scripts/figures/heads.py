"""Six ways in which a head may distribute its weight over a sentence, and how one vector is split into heads.

The weights follow from simple rules, not from a trained model: they illustrate the named patterns.
"""

from __future__ import annotations

import math

from .bars import softmax
from .canvas import Sheet, matrix

WORDS = ("the", "dog", "that", "chased", "the", "cat", "was", "tired")
SUBJECT = {3: 1, 6: 1, 7: 1}
"""Verb or adjective → the noun it belongs to: the dog chased, the dog was tired."""
SIDE = 30


def _drawn(title: str, scores: list[list[float]]) -> str:
    n = len(WORDS)
    sheet = Sheet(80 + SIDE * n, 80 + SIDE * n, title)
    for i, word in enumerate(WORDS):
        sheet.text(66, 84 + SIDE * i + SIDE / 2 - 9, word, "small", anchor="end")
        sheet.upward(74 + SIDE * i + SIDE / 2, 40, word, "small")
    matrix(sheet, 70, 70, SIDE, [softmax(row) for row in scores])
    return sheet.svg()


def _scores(near: float, rule: dict[int, int]) -> list[list[float]]:
    """Return score `near` for the key that `rule` gives for a query, 0 for all others."""
    n = len(WORDS)
    return [[near if rule.get(i) == j else 0.0 for j in range(n)] for i in range(n)]


def previous() -> str:
    return _drawn("Weight on the word before", _scores(4, {i: max(i - 1, 0) for i in range(len(WORDS))}))


def following() -> str:
    last = len(WORDS) - 1
    return _drawn("Weight on the word after", _scores(4, {i: min(i + 1, last) for i in range(len(WORDS))}))


def first() -> str:
    return _drawn("Weight on the first word", _scores(4, {i: 0 for i in range(len(WORDS))}))


def same() -> str:
    scores = [[4.0 if a == b else 0.0 for b in WORDS] for a in WORDS]
    return _drawn("Weight on the same word", scores)


def subject() -> str:
    return _drawn("Verbs put their weight on their subject", _scores(4, SUBJECT))


def nearby() -> str:
    n = len(WORDS)
    scores = [[-math.fabs(i - j) for j in range(n)] for i in range(n)]
    return _drawn("Weight that falls with the distance", scores)


def split() -> str:
    """Draw one vector of 512 numbers as eight of 64."""
    sheet = Sheet(520, 190, "A vector of 512 numbers is read as eight vectors of 64")
    sheet.text(10, 30, "one row of X W, 512 numbers", "strong")
    sheet.rect(10, 42, 500, 26, "a", 0.35)
    for head in range(8):
        x = 10 + head * 62.5
        sheet.line((x + 31.25, 72), (x + 31.25, 104), "axis")
        sheet.rect(x + 3, 108, 56.5, 26, "a", 0.35 + 0.07 * head)
        sheet.text(x + 31.25, 154, f"head {head + 1}", "small", anchor="middle")
    sheet.text(260, 182, "64 numbers for each head: the same storage, another shape", anchor="middle")
    return sheet.svg()
