"""Goals of previews, measured values, and both as lines of a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

OURS = "blogsmith"


@dataclass(frozen=True, slots=True)
class Goal:
    """One line of the table, and its goal."""

    key: str
    name: str
    unit: str
    """`ms`, `s` or `MB`."""
    median: float | None
    """Limit of the median; None if there only has to be a value."""
    p95: float | None = None
    still: bool = False
    """Whether no edit may reload the page, scroll it or close an element that the reader opened."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The state of the page that some edits preserved."""

    edits: int
    reloads: int
    scroll: int
    """Number of edits after which the scroll position was the same."""
    details: int
    """Number of edits after which the reader's `<details>` was open as before."""

    @property
    def all(self) -> bool:
        """Whether the edits changed nothing but the text."""
        return not self.reloads and self.scroll == self.details == self.edits


@dataclass(frozen=True, slots=True)
class Taken:
    """Measured values."""

    values: tuple[float, ...]
    """Values in the goal's unit."""
    kept: Kept | None = None
    missed: int = 0
    """Number of edits that were never shown; they have no value."""


@dataclass(frozen=True, slots=True)
class Row:
    """The result of one goal for one generator."""

    goal: Goal
    who: str
    result: Taken | str
    """Values, or the reason why there are none."""


GOALS = (
    Goal("text 50", "text edit, few posts", "ms", 60, 150, still=True),
    Goal("text 1000", "text edit, many posts", "ms", 60, 150, still=True),
    Goal("css", "style sheet edit", "ms", 50, still=True),
    Goal("error", "error: until it is shown", "ms", 150),
    Goal("fixed", "error: until it is gone", "ms", 150),
    Goal("cell", "NumPy cell edit, its output", "ms", 300, still=True),
    Goal("burst", "last of 1000 saves in 10 s", "ms", None),
    Goal("cold", "start to first page, cold", "s", 1.5),
    Goal("warm", "start to first page, warm", "s", 0.25),
    Goal("cold at most", "the same cold, most posts", "s", 2.0),
    Goal("early", "edit at once after that, served", "s", None),
    Goal("memory", "memory at the end", "MB", 200),
    Goal("peak", "memory, most at any time", "MB", 200),
)


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest value that at least `percent` % of the values do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(percent / 100 * len(ordered)) - 1)]


def is_met(goal: Goal, result: Taken | str) -> bool:
    """Return whether a result meets the goal."""
    if isinstance(result, str) or result.missed:
        return False
    return (
        (goal.median is None or median(result.values) <= goal.median)
        and (goal.p95 is None or percentile(result.values, 95) <= goal.p95)
        and (not goal.still or result.kept is None or result.kept.all)
    )


HEAD = f"{'':33}{'':11}{'median':>8}{'p95':>8}{'most':>8}     {'target':>10}  {'':6}{'n':>4}  kept"


def line(row: Row, ours: Row | None = None) -> str:
    """Return one row as text.

    ours: our row for the same edits, if the row is a peer's.
    """
    goal, result = row.goal, row.result
    start = f"{goal.name:33}{row.who:11}"
    if isinstance(result, str):
        return f"{start}failed: {result.splitlines()[0]}"
    figures = (median(result.values), percentile(result.values, 95), max(result.values))
    numbers = "".join(f"{figure:8.{_digits(goal.unit)}f}" for figure in figures)
    if row.who == OURS:
        told = f"{_target(goal):>10}  {'met' if is_met(goal, result) else 'MISSED':6}"
    else:
        told = f"{_times(figures[0], ours):>10}  {'':6}"
    return f"{start}{numbers} {goal.unit:3} {told}{len(result.values):4}  {_kept(result)}".rstrip()


def _digits(unit: str) -> int:
    return 2 if unit == "s" else 0


def _target(goal: Goal) -> str:
    wanted = [f"{bound:g}" for bound in (goal.median, goal.p95) if bound is not None]
    return " / ".join(wanted) if wanted else "shown"


def _times(theirs: float, ours: Row | None) -> str:
    """Return the ratio of their time to ours."""
    if ours is None or isinstance(ours.result, str):
        return ""
    return f"{theirs / median(ours.result.values):.1f} times"


def _kept(result: Taken) -> str:
    kept = result.kept
    missed = f"{result.missed} never shown, " if result.missed else ""
    if kept is None:
        return missed.removesuffix(", ")
    if kept.all:
        return f"{missed}everything"
    lost = f"{kept.reloads} reloads, scroll {kept.scroll}/{kept.edits}, details {kept.details}/{kept.edits}"
    return missed + lost


def table(rows: Sequence[Row]) -> list[str]:
    """Return all rows in the order of the goals, with peers below our row."""
    lines = [HEAD]
    for goal in GOALS:
        same = sorted((row for row in rows if row.goal == goal), key=lambda row: row.who != OURS)
        ours = next((row for row in same if row.who == OURS), None)
        lines += [line(row, ours) for row in same]
    return lines
