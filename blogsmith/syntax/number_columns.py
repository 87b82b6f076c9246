"""Columns of numbers that are aligned at their decimal points, and at `±` if they have uncertainties.

No browser aligns text at a character. In a right-aligned column, each cell therefore gets invisible digits in
place of those that it lacks, at its end and around its `±`. These digits are in the attribute `data-pad` of
the cell and of empty spans in it; the stylesheet prints them invisibly. So they are not copied, searched or
read aloud.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from msgspec import Struct

from ..base.patterns import lazy_pattern

NUMBER = lazy_pattern(
    r"[<>≈~≤≥]?\s*[+\-−]?(?:\d[\d,_\u202f\u2009]*|(?=\.\d))"
    # fraction, exponent, uncertainty, unit
    r"((?:\.\d*)?(?:[eE][+\-−]?\d+)?(?:\s*±\s*(?:\d[\d,]*)?\.?\d*)?\s*[^\d\s.,:;()+\-−–]{0,10})"
)
"""Matches a number. Its group is the text after the integer part."""
_UNCERTAIN = lazy_pattern(r"(\.\d*)?(\s*±\s*)(\d[\d,]*)?(\.\d*)?(\s*\D*)")
"""Matches the text after the integer part of `12.5 ± 0.3 ms`: fraction, `±` with its spaces, integer part and
fraction of the uncertainty, unit."""
_MARKUP = "*_~ \t\n"
_DIGIT = lazy_pattern(r"\d")
_SIGN = "±"


class Padding(Struct, frozen=True):
    """Invisible text that aligns one cell of a column."""

    end: str = ""
    before: str = ""
    """Invisible text before the `±` and its spaces."""
    after: str = ""
    """Invisible text after the `±` and its spaces."""

    @property
    def is_inside(self) -> bool:
        """Whether there is invisible text beside the `±`."""
        return bool(self.before or self.after)


def column_paddings(cells: Sequence[str]) -> list[Padding | None]:
    """Return the invisible text of each cell of a column that aligns the numbers.

    cells: The text of the body cells, with or without Markdown emphasis. An item is None for a cell without a
    number, such as a dash. All items are None if the column is aligned already, or if the numbers have
    different units, because then no padding helps.
    """
    tails = [_tail(cell.strip(_MARKUP)) for cell in cells]
    known = {tail for tail in tails if tail is not None}
    paddings = _uncertain(known) if any(_SIGN in tail for tail in known) else _decimal(known)
    if len(known) < 2 or None in paddings.values():
        return [None] * len(cells)
    return [None if tail is None else paddings[tail] for tail in tails]


def split_at_sign(text: str) -> tuple[str, str, str] | None:
    """Return the text before ` ± `, the sign with its spaces, and the text after it; None without a sign."""
    start, sign, end = text.partition(_SIGN)
    if not sign:
        return None
    left, right = start.rstrip(), end.lstrip()
    return left, text[len(left) : len(text) - len(right)], right


def _tail(text: str) -> str | None:
    """Return the text after the integer part of a number, with each digit replaced by 0. Return None if the
    cell is not a number."""
    found = NUMBER.fullmatch(text)
    return _DIGIT.sub("0", found[1]) if found else None


def _decimal(tails: set[str]) -> dict[str, Padding | None]:
    longest = max(tails, key=lambda tail: (len(tail), tail), default="")
    ends = {tail: _end(tail, longest) for tail in tails}
    return {tail: None if end is None else Padding(end) for tail, end in ends.items()}


def _end(tail: str, longest: str) -> str | None:
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


def _uncertain(tails: set[str]) -> dict[str, Padding | None]:
    """Return the padding of each tail (see `_tail`) of a column, if some of its numbers have an uncertainty.
    All are None if the column cannot be aligned."""
    found = {tail: _UNCERTAIN.fullmatch(tail) for tail in tails if _SIGN in tail}
    parts = {tail: one.groups("") for tail, one in found.items() if one}
    units = {part[4] for part in parts.values()}
    plain = tails - parts.keys()
    is_same = len(units) == len({part[1] for part in parts.values()}) == 1
    if len(parts) < len(found) or not is_same or any(own.strip(".0") for own in plain):
        return dict.fromkeys(tails)
    fraction, whole, digits = (
        max((text for text in column if text), key=len, default="")
        for column in (
            [*(part[0] for part in parts.values()), *plain],
            [part[2] for part in parts.values()],
            [part[3] for part in parts.values()],
        )
    )
    paddings: dict[str, Padding | None] = {
        tail: Padding(digits[len(own[3]) :], fraction[len(own[0]) :], whole[: len(whole) - len(own[2])])
        for tail, own in parts.items()
    }
    sign, unit = next((part[1], part[4]) for part in parts.values())
    for own in plain:
        rest = f"{fraction[len(own) :]}{sign}{whole}{digits}{unit}"
        paddings[own] = Padding(rest)
    return paddings


def uncertainties(state: StateCore) -> None:
    """Write the invisible text beside `±` into the cells of Markdown tables (core rule)."""
    for inline in state.tokens:
        if inline.type == "inline" and (padding := inline.meta.get("padding")):
            children = inline.children or []
            index = next((n for n, t in enumerate(children) if t.type == "text" and _SIGN in t.content), None)
            if index is not None:
                inline.children = [
                    *children[:index],
                    *_with_spans(children[index], padding),
                    *children[index + 1 :],
                ]


def _with_spans(text: Token, padding: Padding) -> Iterator[Token]:
    found = split_at_sign(text.content)
    if found is None:
        return
    for part, pad in zip(found, (padding.before, padding.after, ""), strict=True):
        yield Token("text", "", 0, content=part, level=text.level)
        if pad:
            yield Token("pad_open", "span", 1, attrs={"data-pad": pad}, level=text.level)
            yield Token("pad_close", "span", -1, level=text.level)
