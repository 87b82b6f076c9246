"""Matrices for heat maps: nested lists, NumPy arrays and torch tensors as numbers and as pixels."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .ticks import without_dust

MASKED = None
MOST_ENTRIES = 4_194_304
"""Maximum number of entries, as in 16 heads of 512 × 512. More entries would be slow to read as lists and too
small to be visible."""
MOST_HEADS = 64
_MOST_PIXELS = 262_144

Rows = Sequence[Sequence[float | None]]
"""Matrix as a list of rows. An entry is NaN if it is not a finite number, and None if it is masked."""


@dataclass(frozen=True, slots=True)
class Extreme:
    """Largest entry of all heads and its position, counted from 0."""

    value: float
    head: int
    row: int
    column: int


def read_heads(weights: Any, mask: Any = None) -> tuple[Rows, ...]:
    """Return every head as rows.

    Raises `TypeError` if `weights` is not an array of numbers, and `ValueError` unless its shape is (n, m)
    or (h, n, m).

    mask: booleans, False where entries are masked; broadcasts as in NumPy.
    """
    given = _nested(weights)
    shape = _shape(given, "weights")
    if len(shape) not in (2, 3) or 0 in shape:
        raise ValueError(f"weights have the shape {shape}; a heat map shows (n, m) or (heads, n, m)")
    heads = given if len(shape) == 3 else [given]
    if len(heads) > MOST_HEADS or math.prod(shape) > MOST_ENTRIES:
        limit = f"{MOST_HEADS} heads and {MOST_ENTRIES:,} entries"
        raise ValueError(f"weights have the shape {shape}; a heat map shows at most {limit}")
    shown = _looked_up(mask, (len(heads), shape[-2], shape[-1]))
    return tuple(
        [
            [_entry(value) if shown(h, i, j) else MASKED for j, value in enumerate(row)]
            for i, row in enumerate(head)
        ]
        for h, head in enumerate(heads)
    )


def extreme_of(heads: Sequence[Rows]) -> Extreme | None:
    """Return the first of the largest entries. None if there is no number."""
    best: Extreme | None = None
    for h, rows in enumerate(heads):
        for i, row in enumerate(rows):
            for j, value in enumerate(row):
                if value is not None and not math.isnan(value) and (best is None or value > best.value):
                    best = Extreme(value, h, i, j)
    return best


def counts_of(heads: Sequence[Rows]) -> tuple[int, int]:
    """Return the number of masked entries and the number of missing ones."""
    entries = [value for rows in heads for row in rows for value in row]
    return entries.count(MASKED), sum(1 for value in entries if value is not None and math.isnan(value))


def block_side(shape: tuple[int, int, int], panel: tuple[float, float]) -> int:
    """Return the side length of the square blocks of entries that become one pixel each.

    panel: width and height of a panel, in px.
    """
    heads, n, m = shape
    by_number = math.sqrt(heads * n * m / _MOST_PIXELS)
    # Screens show at most two pixels for each px of the page.
    by_size = min(n / (2 * panel[1]), m / (2 * panel[0]))
    return max(1, math.ceil(by_number - 1e-9), math.ceil(by_size - 1e-9))


def pooled(rows: Rows, side: int) -> Rows:
    """Return means over blocks of `side` × `side` entries.

    A block is masked or missing only if all its entries are.
    """
    if side == 1:
        return rows
    n, m = len(rows), len(rows[0])
    return [
        [_mean([v for row in rows[i : i + side] for v in row[j : j + side]]) for j in range(0, m, side)]
        for i in range(0, n, side)
    ]


def _mean(values: Sequence[float | None]) -> float | None:
    seen = [value for value in values if value is not None]
    numbers = [value for value in seen if not math.isnan(value)]
    if numbers:
        return math.fsum(numbers) / len(numbers)
    return math.nan if seen else MASKED


def _nested(given: Any) -> Any:
    if hasattr(given, "tolist"):
        return given.tolist()
    if isinstance(given, list | tuple):
        return [_nested(member) for member in given]
    return given


def _shape(given: Any, name: str) -> tuple[int, ...]:
    """Return the shape of nested lists.

    Raises `ValueError` if they are ragged, `TypeError` if they contain no numbers.
    """
    if not isinstance(given, list):
        if isinstance(given, int | float):
            return ()
        raise TypeError(f"{name} hold {given!r}, which is not a real number")
    shapes = {_shape(member, name) for member in given}
    if len(shapes) > 1:
        raise ValueError(f"{name} have rows of different lengths")
    return (len(given), *(shapes.pop() if shapes else ()))


def _looked_up(mask: Any, shape: tuple[int, int, int]) -> Callable[[int, int, int], bool]:
    """Return a function that returns whether an entry is shown, given head, row and column.

    The mask may have fewer axes than the matrices, or axes of length 1.
    """
    if mask is None:
        return lambda h, i, j: True
    given = _nested(mask)
    own = _shape(given, "mask")
    fits = all(size in (1, whole) for size, whole in zip(reversed(own), reversed(shape), strict=False))
    if len(own) > 3 or not fits:
        raise ValueError(f"the mask has the shape {own}, which does not broadcast to {shape}")
    for _ in range(3 - len(own)):
        given = [given]
    _check_is_bool(given)
    heads, rows, columns = len(given), len(given[0]), len(given[0][0])
    return lambda h, i, j: bool(given[h if heads > 1 else 0][i if rows > 1 else 0][j if columns > 1 else 0])


def _check_is_bool(given: Any) -> None:
    if isinstance(given, list):
        for member in given:
            _check_is_bool(member)
    elif given not in (0, 1):
        raise TypeError(f"the mask holds {given!r}; it is True where an entry counts and False elsewhere")


def _entry(value: float) -> float:
    number = without_dust(float(value))
    return number if math.isfinite(number) else math.nan
