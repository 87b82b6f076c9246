"""Series of a chart as authors pass them: lists of points or several arrays, with gaps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from .ticks import without_dust

MOST = 8
"""Largest number of series that can be distinguished."""
_DENSE = 2000
"""Maximum number of points in a segment that is drawn with all its points. In longer segments, points that do
not affect the line are dropped."""


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    y: float
    """y value; NaN leaves a gap in the line."""
    low: float
    """Lower end of the error band; the next field is the upper end. Both are `y` if there is no band."""
    high: float


@dataclass(frozen=True, slots=True)
class Series:
    label: str
    points: tuple[Point, ...]
    """Points as the author passed them. Points that cannot be drawn have NaN as `y`."""

    @property
    def drawn(self) -> tuple[Point, ...]:
        """Points that can be drawn."""
        return tuple(point for point in self.points if not math.isnan(point.y))

    @property
    def has_band(self) -> bool:
        return any(point.low != point.high for point in self.drawn)

    def stretches(self) -> Iterator[tuple[Point, ...]]:
        """Yield the segments of the line between gaps, in order."""
        for is_gap, points in groupby(self.points, lambda point: math.isnan(point.y)):
            if not is_gap:
                yield tuple(points)


def read_series(series: Mapping[str, Any], log: str) -> tuple[Series, ...]:
    """Read the series of a chart. Raises `TypeError` or `ValueError` with a message if they are invalid.

    log: axes that allow only values above 0.
    """
    if not isinstance(series, Mapping):
        raise TypeError("series is a mapping from a label to points, such as {'naive': [(128, 0.01)]}")
    if len(series) > MOST:
        raise ValueError(f"{len(series)} series in one chart; more than {MOST} cannot be told apart")
    read = tuple(Series(str(label), tuple(_points(label, given, log))) for label, given in series.items())
    if not any(one.drawn for one in read):
        raise ValueError("there is nothing to draw: no series has a point whose x and y are finite")
    return read


def thinned(points: Sequence[Point], column: float) -> Sequence[Point]:
    """If there are many points, return the first, lowest, highest and last point of each interval of x.
    Otherwise return all points.

    A line through the returned points looks like a line through all points.

    column: width of an interval, in units of x.
    """
    if len(points) <= _DENSE:
        return points
    kept: list[Point] = []
    for _, group in groupby(points, lambda point: math.floor(point.x / column)):
        members = tuple(group)
        ends = {0, len(members) - 1}
        extremes = {pick(range(len(members)), key=lambda at: members[at].y) for pick in (min, max)}
        kept += (members[at] for at in sorted(ends | extremes))
    return kept


def _points(label: str, given: Any, log: str) -> Iterator[Point]:
    # A tuple of arrays has one array per coordinate; a list or a single array contains points.
    given = tuple(_plain(part) for part in given) if isinstance(given, tuple) else _plain(given)
    if isinstance(given, tuple) and len(given) in (2, 4) and all(isinstance(part, list) for part in given):
        lengths = [len(part) for part in given]
        if len(set(lengths)) > 1:
            raise ValueError(f"series {label!r}: its arrays have different lengths, {lengths}")
        given = list(zip(*given, strict=True))
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise TypeError(f"series {label!r} is not a list of points, but {type(given).__name__}")
    for member in given:
        yield _point(label, member, log)


def _point(label: str, member: Any, log: str) -> Point:
    member = _plain(member)
    if not isinstance(member, Sequence) or isinstance(member, str) or len(member) not in (2, 4):
        raise TypeError(f"series {label!r}: a point is (x, y) or (x, y, low, high), not {member!r}")
    numbers = [_number(label, value) for value in member]
    x, y = numbers[:2]
    is_below = ("x" in log and x <= 0) or ("y" in log and y <= 0)
    if is_below or not (math.isfinite(x) and math.isfinite(y)):
        return Point(x, math.nan, math.nan, math.nan)
    ends = [end for end in numbers[2:] if math.isfinite(end)]
    return Point(x, y, min(ends), max(ends)) if len(ends) == 2 else Point(x, y, y, y)


def _plain(given: Any) -> Any:
    """Convert arrays, tensors and iterators to lists."""
    if hasattr(given, "tolist"):
        return given.tolist()
    return list(given) if isinstance(given, Iterator | range) or _is_items(given) else given


def _is_items(given: Any) -> bool:
    return not isinstance(given, Sequence) and hasattr(given, "__iter__") and not isinstance(given, Mapping)


def _number(label: str, value: Any) -> float:
    if value is None:
        return math.nan
    try:
        return without_dust(float(value))
    except (TypeError, ValueError):
        raise TypeError(f"series {label!r}: {value!r} is not a number") from None
