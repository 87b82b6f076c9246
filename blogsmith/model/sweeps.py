"""Sweeps: cells that run once for each of several values of a variable. Readers choose which result the page
shows."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from msgspec import Struct

Scalar = bool | int | float | str

MAX_RUNS = 50
"""Maximum number of runs of one cell. The result of each is recorded and included in the page."""
MAX_AXES = 2


class SweepAxis(Struct, frozen=True):
    """A variable and the values that it gets."""

    name: str
    values: tuple[Scalar, ...]


class SweepPoint(Struct, frozen=True):
    """One combination of values. The cell runs once with each."""

    at: tuple[int, ...]
    """Index of the value on each axis."""
    names: tuple[str, ...]
    values: tuple[Scalar, ...]

    @property
    def key(self) -> str:
        """Key of the recorded result, such as `d = 16, act = 'relu'`."""
        return ", ".join(f"{name} = {value!r}" for name, value in zip(self.names, self.values, strict=True))

    @property
    def label(self) -> str:
        """Label for readers: `d = 16, act = relu`."""
        return ", ".join(f"{name} = {value}" for name, value in zip(self.names, self.values, strict=True))

    @property
    def binding(self) -> Mapping[str, Scalar]:
        """Variables that are set before the cell runs."""
        return dict(zip(self.names, self.values, strict=True))


class Sweep(Struct, frozen=True):
    """The options `sweep` and `sweep-default` of a cell."""

    axes: tuple[SweepAxis, ...]
    default: tuple[int, ...] = ()
    """Index on each axis of the default value, which other cells, feeds and print use; empty: the first of
    each axis."""

    def points(self) -> tuple[SweepPoint, ...]:
        """Return all runs; the last axis changes fastest."""
        names = tuple(axis.name for axis in self.axes)
        ranges = (range(len(axis.values)) for axis in self.axes)
        return tuple(SweepPoint(at, names, self._values(at)) for at in product(*ranges))

    @property
    def default_point(self) -> SweepPoint:
        """The point whose variables remain for later cells."""
        at = self.default or (0,) * len(self.axes)
        return SweepPoint(at, tuple(axis.name for axis in self.axes), self._values(at))

    def other_points(self) -> tuple[SweepPoint, ...]:
        """Return all runs except that of the default point."""
        default = self.default_point
        return tuple(point for point in self.points() if point.at != default.at)

    def _values(self, at: tuple[int, ...]) -> tuple[Scalar, ...]:
        return tuple(axis.values[index] for axis, index in zip(self.axes, at, strict=True))


class SweepRuns(Struct, frozen=True):
    """Points of sweeps, in addition to the default points, that must run together in one session."""

    keys: Mapping[int, frozenset[str]] | None = None
    """Number of a cell → keys of the points that must run; None: all points of all cells."""
    last: int = 0
    """Number of the last cell that has one of the points in `keys`, if only these points must run. 0: the
    whole session must run."""

    def has(self, number: int, point: SweepPoint) -> bool:
        """Return whether a point of a cell must run."""
        return self.keys is None or point.key in self.keys.get(number, ())


ALL_SWEEPS = SweepRuns()
"""Request for all points of all cells. Shared, because it is immutable."""
