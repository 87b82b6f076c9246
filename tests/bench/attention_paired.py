"""Times of calls that are compared: each runs once per round, so that all see the same load."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from blogsmith.lab.tables import number_with_error

Call = Callable[[], object]
WARM = 5
"""Untimed calls of each function at the start."""


@dataclass(frozen=True, slots=True)
class Paired:
    """Seconds of each call, one value per round."""

    seconds: Mapping[str, Sequence[float]]

    def median_of(self, name: str) -> float:
        """Return the median in seconds."""
        return median(self.seconds[name])

    def fastest(self, names: Sequence[str]) -> str:
        return min(names, key=self.median_of)

    def ratio(self, name: str, other: str) -> float:
        """Return the time of `name` relative to `other`, as the median over the rounds."""
        both = zip(self.seconds[name], self.seconds[other], strict=True)
        return median(mine / theirs for mine, theirs in both)

    def more(self, name: str, other: str) -> float:
        """Return the seconds that `name` takes more than `other`, as the median over the rounds."""
        both = zip(self.seconds[name], self.seconds[other], strict=True)
        return median(mine - theirs for mine, theirs in both)


def measure_paired(calls: Mapping[str, Call], budget_s: float, fewest: int, most: int) -> Paired:
    """Measure rounds until the budget is spent, at least `fewest` and at most `most`.

    Each round starts with a different call, so that no call always profits from the caches of the one
    before.
    """
    for call in calls.values():
        for _ in range(WARM):
            call()
    found: dict[str, list[float]] = {name: [] for name in calls}
    names = list(calls)
    was_on = gc.isenabled()
    gc.disable()
    try:
        begun = time.perf_counter()
        for number in range(most):
            if number >= fewest and time.perf_counter() - begun > budget_s:
                break
            turn = number % len(names)
            for name in names[turn:] + names[:turn]:
                found[name].append(_span(calls[name]))
    finally:
        if was_on:
            gc.enable()
    return Paired(found)


def _span(call: Call) -> float:
    begun = time.perf_counter()
    # Keep the result until the clock has been read: freeing it is not part of the call.
    result = call()
    ended = time.perf_counter()
    del result
    return ended - begun


def time_in_words(seconds: float) -> str:
    """Format a time as `12.3 ms`, with three digits; µs below a millisecond."""
    unit, factor = ("s", 1.0) if seconds >= 10 else ("ms", 1e3) if seconds >= 1e-3 else ("µs", 1e6)
    return f"{number_with_error(seconds * factor)} {unit}"
