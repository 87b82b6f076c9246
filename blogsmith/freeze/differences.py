"""Differences between two results of the same cell, such as `42 → 43`, for reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from ..model.results import Blob, CellOutput, CellRun, Display
from .repetition import NUMBER, numbers_agree, texts_agree

_MOST = 2
"""Number of differences that a message lists."""
_MAX_TEXT = 20
"""Number of characters of a text that a message shows."""
_PLAIN = "text/plain"


def run_differences(old: CellRun, new: CellRun, tolerance: float) -> list[str]:
    """Return how the result of a cell differs from an earlier one; none if they agree.

    tolerance: largest difference of numbers that agree, as a fraction of the larger one.
    """
    found = list(text_differences(old.claim, new.claim, tolerance))
    if old.status != new.status:
        found.append(f"{old.status} → {new.status}")
    for one, other in zip_longest(old.outputs, new.outputs):
        found += _output_differences(one, other, tolerance)
    for point in old.others.keys() & new.others.keys():
        found += [
            f"{point}: {part}" for part in run_differences(old.others[point], new.others[point], tolerance)
        ]
    return list(dict.fromkeys(found))


def summary(differences: Sequence[str]) -> str:
    """Return differences in one line, the first ones only."""
    more = len(differences) - _MOST
    return ", ".join(differences[:_MOST]) + (f" and {more} more" if more > 0 else "")


def text_differences(old: str, new: str, tolerance: float) -> Iterator[str]:
    """Yield each number that differs, or the first line if other text differs too."""
    if texts_agree(old, new, tolerance):
        return
    if [part.split() for part in NUMBER.split(old)] == [part.split() for part in NUMBER.split(new)]:
        for one, other in zip(NUMBER.findall(old), NUMBER.findall(new), strict=True):
            if not numbers_agree(one, other, tolerance):
                yield f"{one} → {other}"
        return
    for one, other in zip_longest(old.splitlines(), new.splitlines(), fillvalue=""):
        if not texts_agree(one, other, tolerance):
            yield f"{_quoted(one)} → {_quoted(other)}"
            return


def _output_differences(old: CellOutput | None, new: CellOutput | None, tolerance: float) -> Iterator[str]:
    if old is None or new is None or type(old) is not type(new):
        yield f"{_kind(old)} → {_kind(new)}"
    elif isinstance(old, Display) and isinstance(new, Display):
        # HTML and LaTeX repeat the numbers of the plain text
        both = (
            [_PLAIN]
            if _PLAIN in old.data and _PLAIN in new.data
            else sorted(old.data.keys() | new.data.keys())
        )
        found = [
            part
            for mime in both
            for part in _part_differences(old.data.get(mime), new.data.get(mime), tolerance)
        ]
        yield from found
    elif isinstance(old, Display) or isinstance(new, Display):
        return
    else:
        yield from text_differences(old.text, new.text, tolerance)


def _part_differences(old: str | Blob | None, new: str | Blob | None, tolerance: float) -> Iterator[str]:
    if isinstance(old, str) and isinstance(new, str):
        yield from text_differences(old, new, tolerance)
    elif isinstance(old, Blob) and isinstance(new, Blob):
        if old.digest != new.digest:
            yield "another image"
    else:
        yield "another kind of value"


def _kind(output: CellOutput | None) -> str:
    return "no output" if output is None else type(output).__name__.lower()


def _quoted(text: str) -> str:
    text = text.strip()
    return f'"{text[:_MAX_TEXT]}…"' if len(text) > _MAX_TEXT else f'"{text}"'
