"""Sweeps: values with which a cell runs, one after another, and of which readers choose."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from msgspec import Struct

Scalar = bool | int | float | str

MOST_RUNS = 50
"""Of one cell: each is recorded, and stands in the page."""
MOST_AXES = 2


class SweepAxis(Struct, frozen=True):
    """A name and its values."""

    name: str
    values: tuple[Scalar, ...]


class SweepPoint(Struct, frozen=True):
    """One run of the cell."""

    at: tuple[int, ...]
    """Index of its value on each axis."""
    names: tuple[str, ...]
    values: tuple[Scalar, ...]

    @property
    def key(self) -> str:
        """`d = 16, act = 'relu'`: what results are recorded under."""
        return ", ".join(f"{name} = {value!r}" for name, value in zip(self.names, self.values, strict=True))

    @property
    def label(self) -> str:
        """`d = 16, act = relu`: what readers see."""
        return ", ".join(f"{name} = {value}" for name, value in zip(self.names, self.values, strict=True))

    @property
    def binding(self) -> Mapping[str, Scalar]:
        """The variables that the cell finds."""
        return dict(zip(self.names, self.values, strict=True))


class Sweep(Struct, frozen=True):
    """What `sweep` and `sweep-default` of a cell say."""

    axes: tuple[SweepAxis, ...]
    default: tuple[int, ...] = ()
    """Index of the value on each axis that other cells, feeds and print see; empty: the first of each."""

    def points(self) -> tuple[SweepPoint, ...]:
        """All runs, the last axis changing fastest."""
        names = tuple(axis.name for axis in self.axes)
        ranges = (range(len(axis.values)) for axis in self.axes)
        return tuple(SweepPoint(at, names, self._values(at)) for at in product(*ranges))

    @property
    def default_point(self) -> SweepPoint:
        """The run whose variables stay."""
        at = self.default or (0,) * len(self.axes)
        return SweepPoint(at, tuple(axis.name for axis in self.axes), self._values(at))

    def other_points(self) -> tuple[SweepPoint, ...]:
        """All runs but that."""
        default = self.default_point
        return tuple(point for point in self.points() if point.at != default.at)

    def _values(self, at: tuple[int, ...]) -> tuple[Scalar, ...]:
        return tuple(axis.values[index] for axis, index in zip(self.axes, at, strict=True))


class SweepRuns(Struct, frozen=True):
    """What is to run of the cells of one session that have a sweep, beside their defaults."""

    keys: Mapping[int, frozenset[str]] | None = None
    """Number of a cell → keys of the points that are due; None: all of all cells."""
    last: int = 0
    """Nothing else is due: number of the last cell of which a point is; 0: the whole session is."""

    def has(self, number: int, point: SweepPoint) -> bool:
        """Whether a point of a cell is due."""
        return self.keys is None or point.key in self.keys.get(number, ())


ALL_SWEEPS = SweepRuns()
"""It holds nothing, so one is enough."""
