"""Columns of numbers whose decimal points are aligned.

No browser aligns text at a character. A right-aligned column of numbers is aligned at the decimal point if
each cell ends with as many invisible digits as it lacks. These digits are in the attribute `data-pad`, and
the stylesheet prints them invisibly. So they are not copied, searched or read aloud.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..base.patterns import lazy_pattern

_NUMBER = lazy_pattern(
    r"[<>≈~≤≥]?\s*[+\-−]?(?:\d[\d,_\u202f\u2009]*|(?=\.\d))"
    # fraction, exponent, uncertainty, unit
    r"((?:\.\d*)?(?:[eE][+\-−]?\d+)?(?:\s*±\s*\d*\.?\d+)?\s*[^\d\s.,:;()+\-−–]{0,10})"
)
"""Matches a number. Its group is the text after the integer part."""
_MARKUP = "*_~ \t\n"
_DIGIT = lazy_pattern(r"\d")


def decimal_paddings(cells: Sequence[str]) -> list[str | None]:
    """Return the invisible text after each cell of a column that aligns the decimal points.

    cells: The text of the body cells, with or without Markdown emphasis. The result is None for a cell
    without a number, such as a dash. All results are None if the column is aligned already, or if the
    numbers have different units, because then no padding helps.
    """
    tails = [_tail(cell.strip(_MARKUP)) for cell in cells]
    known = {tail for tail in tails if tail is not None}
    longest = max(known, key=lambda tail: (len(tail), tail), default="")
    paddings = {tail: _padding(tail, longest) for tail in known}
    if len(known) < 2 or None in paddings.values():
        return [None] * len(cells)
    return [None if tail is None else paddings[tail] for tail in tails]


def _tail(text: str) -> str | None:
    """Return the text after the integer part of a number, with each digit replaced by 0. Return None if the
    cell is not a number."""
    found = _NUMBER.fullmatch(text)
    return _DIGIT.sub("0", found[1]) if found else None


def _padding(tail: str, longest: str) -> str | None:
    """Return the text that `tail` lacks compared with the longest tail, or None if more than final digits
    differ."""
    if longest.startswith(tail):
        return longest[len(tail) :]
    if tail.replace("0", "") == longest.replace("0", ""):
        return "0" * (len(longest) - len(tail))
    point, _, rest = longest.partition("0")
    after = rest.lstrip("0")
    if point == "." and after == tail:
        # an integer before the same unit: `4 %` beside `4.25 %`
        return longest[: len(longest) - len(after)]
    return None
