"""Goals of builds, measured values, and both as lines of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from .build_rounds import STEPS, Measured, Step, runs_by_step
from .build_runs import Run
from .build_subjects import ELEVENTY, HUGO, OURS

GOAL_POSTS = 1000
"""Number of posts that the goals are about, unless a line names another."""
BYTES_POSTS = 100
"""Number of posts of the site whose output sizes are compared."""
Unit = Literal["×", "ms", "s", "MB"]
_MEMORY = {1_000: (150.0, 120.0), 10_000: (450.0, 250.0)}
_SCALE: Mapping[Unit, float] = {"×": 1, "ms": 1e3, "s": 1, "MB": 1e-6}
_DIGITS: Mapping[Unit, int] = {"×": 2, "ms": 0, "s": 2, "MB": 0}


@dataclass(frozen=True, slots=True)
class Goal:
    """The limit and the aim of one line, in its unit."""

    must: float
    aim: float


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    name: str
    unit: Unit
    wall: float | None
    """Wall-clock time, memory or bytes in the unit; None if there is nothing to compare with."""
    cpu: float | None = None
    """CPU time in the unit, if it was measured."""
    goal: Goal | None = None
    """Goal of the line; None if there is none for a site of this size."""

    @property
    def verdict(self) -> str:
        """The goal that the value reaches, or `MISSED`; empty if there is no goal or no value."""
        if self.goal is None or self.wall is None:
            return ""
        if self.wall <= self.goal.aim:
            return "aim"
        return "must" if self.wall <= self.goal.must else "MISSED"


def goal_rows(measured: Sequence[Measured], sizes: Mapping[str, int], posts: int) -> list[Row]:
    """Return the table of goals.

    sizes: generator → bytes of its site of `BYTES_POSTS` posts. posts: number of posts of the site built in
    rounds.
    """
    runs = runs_by_step(measured)

    def goal(must: float, aim: float) -> Goal | None:
        return Goal(must, aim) if posts == GOAL_POSTS else None

    memory = Goal(*_MEMORY[posts]) if posts in _MEMORY else None
    peak = max(run.peak_bytes for run in runs[OURS, "cold"])
    weight = sizes[OURS] / sizes[ELEVENTY] if ELEVENTY in sizes else None
    return [
        _ratio("cold, to Eleventy", runs, "cold", ELEVENTY, goal(1.5, 1.2)),
        _ratio("cold, to Hugo", runs, "cold", HUGO, goal(0.18, 0.1)),
        _time("nothing changed", "ms", runs[OURS, "unchanged"], goal(300, 150)),
        _time("text of one post edited", "s", runs[OURS, "post"], goal(0.8, 0.5)),
        _time("title of one post edited", "s", runs[OURS, "title"], goal(0.9, 0.6)),
        _time("check after a build", "s", runs[OURS, "check"], goal(1.0, 0.6)),
        _ratio("template edited, to Eleventy cold", runs, "template", ELEVENTY, goal(0.25, 0.15)),
        Row(f"peak memory of a process, {posts} posts", "MB", peak * _SCALE["MB"], goal=memory),
        _time("empty build", "s", runs[OURS, "empty"], Goal(0.4, 0.25)),
        _time("--version", "s", runs[OURS, "version"], Goal(0.08, 0.06)),
        Row(f"bytes of {BYTES_POSTS} posts, to Eleventy", "×", weight, goal=Goal(1.3, 1.0)),
    ]


def _ratio(
    name: str, runs: Mapping[tuple[str, Step], Sequence[Run]], step: Step, rival: str, goal: Goal | None
) -> Row:
    """Return the ratio of a step of ours to the rival's cold build of the same round."""
    theirs = runs.get((rival, "cold"), ())
    if not theirs:
        return Row(name, "×", None, goal=goal)
    pairs = list(zip(runs[OURS, step], theirs, strict=True))
    wall = median(ours.wall_s / their.wall_s for ours, their in pairs)
    return Row(name, "×", wall, median(ours.cpu_s / their.cpu_s for ours, their in pairs), goal)


def _time(name: str, unit: Unit, runs: Sequence[Run], goal: Goal | None) -> Row:
    scale = _SCALE[unit]
    return Row(
        name,
        unit,
        median(run.wall_s for run in runs) * scale,
        median(run.cpu_s for run in runs) * scale,
        goal,
    )


def goal_lines(rows: Sequence[Row]) -> list[str]:
    """Return the rows as text; the verdict is about the column `wall`."""
    lines = [f"{'':38}{'wall':>8}{'CPU':>8}    {'must':>8}{'aim':>8}"]
    for row in rows:
        bounds = (row.goal.must, row.goal.aim) if row.goal else (None, None)
        figures = [_figure(value, row.unit) for value in (row.wall, row.cpu)]
        goals = [f"{value:>8g}" if value is not None else " " * 8 for value in bounds]
        lines.append(f"{row.name:38}{''.join(figures)} {row.unit:3}{''.join(goals)}  {row.verdict}".rstrip())
    return lines


def _figure(value: float | None, unit: Unit) -> str:
    return f"{value:8.{_DIGITS[unit]}f}" if value is not None else f"{'–':>8}"


def step_lines(measured: Sequence[Measured]) -> list[str]:
    """Return a line for every step of every generator: medians of the rounds, and the peak memory."""
    lines = [f"{'':22}{'wall s':>10}{'CPU s':>10}{'peak MB':>10}"]
    runs = runs_by_step(measured)
    for step in STEPS:
        for name in dict.fromkeys(one.name for one in measured if one.step == step):
            found = runs[name, step]
            wall, cpu = median(run.wall_s for run in found), median(run.cpu_s for run in found)
            peak = max(run.peak_bytes for run in found) * _SCALE["MB"]
            lines.append(f"{step:11}{name:11}{wall:10.3f}{cpu:10.3f}{peak:10.0f}")
    return lines
