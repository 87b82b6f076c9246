"""Two sets of weights that say opposite things and read the same value."""

from __future__ import annotations

from .canvas import Sheet

VALUES = (0, 1, 2, 3)


def _drawn(title: str, weights: tuple[float, ...]) -> str:
    sheet = Sheet(520, 300, title, opaque=True)
    for share in (0, 0.25, 0.5):
        y = 230 - 400 * share
        sheet.line((60, y), (510, y), "axis" if share == 0 else "grid")
        sheet.text(50, y + 5, f"{share:g}", anchor="end")
    for value, weight in zip(VALUES, weights, strict=True):
        x = 60 + 112 * value
        sheet.rect(x + 21, 230 - 400 * weight, 70, 400 * weight, "a")
        sheet.text(x + 56, 254, f"value {value}", anchor="middle")
    mean = sum(w * v for w, v in zip(weights, VALUES, strict=True))
    sheet.text(284, 286, f"weighted mean {mean:g}", "strong", anchor="middle")
    return sheet.svg()


def middle() -> str:
    return _drawn("Most of the weight on the two entries in the middle", (0.125, 0.375, 0.375, 0.125))


def ends() -> str:
    return _drawn("Most of the weight on the two entries at the ends", (0.375, 0.125, 0.125, 0.375))
