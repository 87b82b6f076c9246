"""`make bench-execute`: how fast the code of posts runs compared with nbclient, and whether results repeat.

    python -m tests.bench.execution [--nbclient PYTHON] [--runs N]

PYTHON must have nbclient, ipykernel and NumPy: `python3 -m venv F`, then `F/bin/pip install nbclient
ipykernel numpy`. Without it that column says "not measured". Both run the same cells at the same time of
day, each in its usual way: nbclient from notebooks in memory, blogsmith from records of cells. Nothing is
asserted. Times are meaningful only compared with others, and on an otherwise idle machine, so the load is
printed with them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryFile

from blogsmith.execute.session.environment import count_cores

from .execution_engine import Posts, measure_cells, measure_posts
from .execution_nbclient import Measures
from .execution_posts import CELLS, FIRST_NUMPY, FLOODS, TRIVIAL, busy_codes, flood_codes, numpy_codes
from .execution_site import measure_command, measure_sameness, measure_unchanged

ROOT = Path(__file__).parents[2]
AT_ONCE = 2
"""Number of sessions that run in parallel."""
NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes and repetitions of the measurements."""

    runs: int = 3
    best: bool = False
    """Whether to report the best of the runs instead of the median."""
    posts: int = 20
    cells: int = CELLS
    trivial: int = 200
    """Cells of the session that gives the median time of a cell."""
    flood: int = 50_000_000
    """Number of bytes printed."""
    busy: int = 10_000_000
    """Rounds of a loop in a post that keeps a core busy."""
    busy_posts: int = 4
    figures: int = 3
    """Number of posts whose bytes are compared."""

    def pick(self, figures: Sequence[float]) -> float:
        return min(figures) if self.best else median(figures)


@dataclass(frozen=True, slots=True)
class Goal:
    """One line of the table."""

    key: str
    """Key of the value it shows."""
    name: str
    target: float | None = None
    """Target; None if the value is shown only for comparison."""
    least: bool = False
    """Whether the value must be at least the target instead of at most."""
    truth: bool = False
    """Whether the value is 1 or 0, shown as yes or no, with the target 1."""
    alone: bool = False
    """Whether nbclient has no counterpart."""

    def met(self, value: float) -> str:
        """Return "yes" or "no" for a value of ours; empty if the goal has no target."""
        target = 1.0 if self.truth else self.target
        if target is None:
            return ""
        return "yes" if (value >= target if self.least or self.truth else value <= target) else "no"

    def shown(self, value: float | None) -> str:
        """Format a value for its column."""
        if value is None:
            return NOT_MEASURED
        if self.truth:
            return "yes" if value else "no"
        return f"{value:.3f}" if 0 < value < 1 else f"{value:.4g}" if value < 1000 else f"{value:.0f}"

    @property
    def wanted(self) -> str:
        """The target in its column."""
        if self.truth:
            return "yes"
        return "" if self.target is None else f"{'≥' if self.least else '≤'} {self.target:g}"


Ask = Callable[[str, Posts], Measures]
"""A function: name of a measurement and the posts it runs → measured values."""


def _flood_goals(kind: str) -> tuple[Goal, ...]:
    return (
        Goal(f"{kind}: seconds", f"50 MB by {kind}: seconds", 1),
        Goal(f"{kind}: kept", "  MiB kept", 1),
        Goal(f"{kind}: growth", "  MB by which the builder grows", 20),
    )


GOALS = (
    Goal("ready", "worker ready, ms", 80),
    Goal("step", "trivial cell, ms", 0.6),
    Goal("first", "first NumPy result in a new worker, ms", 250),
    Goal("wall", "NumPy posts, 2 at once: seconds", 2.5),
    Goal("cpu", "  processor seconds", 3),
    Goal("forked: wall", "  seconds with the fork server", 1, alone=True),
    Goal("forked: cpu", "  processor seconds with the fork server", alone=True),
    Goal("command", "  seconds of the whole `blogsmith execute`", alone=True),
    Goal("scaling", "busy posts: 2 at once over 1 at once", 1.7, least=True, alone=True),
    Goal("unchanged", "unchanged post: ms that it adds to a build", 0.2, alone=True),
    Goal("started", "  processes a build of them starts", 0, alone=True),
    Goal("numpy", "  whether it imports NumPy (0: no)", 0, alone=True),
    *(goal for kind in FLOODS for goal in _flood_goals(kind)),
    Goal("again", "run again: `_freeze/` has the same bytes", truth=True, alone=True),
    Goal("anew", "recorded anew: the same but for times", truth=True, alone=True),
    Goal("elsewhere", "built without NumPy: the same pages", truth=True, alone=True),
)


def main(arguments: Sequence[str]) -> int:
    """Measure and print the table."""
    options = options_of(arguments)
    sizes = Sizes(runs=options.runs, best=options.best, posts=options.posts)
    taken = f"{'best' if sizes.best else 'median'} of {sizes.runs} runs"
    print(f"{sizes.posts} NumPy posts of {sizes.cells} cells; {taken}; {load()}\n")
    sys.stdout.flush()
    ours = measure_engine(sizes, ask_ours) | measure_alone(sizes)
    theirs = measure_engine(sizes, nbclient_in(options.nbclient)) if options.nbclient else {}
    print("\n".join(table(ours, theirs)))
    print(f"\n{load()}")
    return 0


def options_of(arguments: Sequence[str]) -> argparse.Namespace:
    usual = Sizes()
    parser = argparse.ArgumentParser(prog="python -m tests.bench.execution", description=__doc__)
    parser.add_argument("--nbclient", metavar="PYTHON", default="", help="a Python that has nbclient")
    parser.add_argument("--runs", type=int, default=usual.runs, help="of each measure; by default 3")
    parser.add_argument(
        "--best",
        action="store_true",
        help="take the best run, where a machine has other work; by default the median",
    )
    parser.add_argument("--posts", type=int, default=usual.posts, help="NumPy posts; by default 20")
    return parser.parse_args(arguments)


def load() -> str:
    return "load average " + ", ".join(f"{load:.1f}" for load in os.getloadavg())


def measure_engine(sizes: Sizes, ask: Ask) -> Measures:
    """Measure everything that both engines can do."""
    numpy_posts = [numpy_codes(number, sizes.cells) for number in range(sizes.posts)]
    trivial = _picked(sizes, lambda: ask("cells", [[TRIVIAL] * sizes.trivial]))
    first = _picked(sizes, lambda: ask("cells", [[FIRST_NUMPY]]))
    posts = _picked(sizes, lambda: ask("posts", numpy_posts))
    found = {
        "ready": 1000 * trivial["ready"],
        "step": 1000 * trivial["step"],
        "first": 1000 * first["first"],
        "wall": posts["wall"],
        "cpu": posts["cpu"],
    }
    for kind in FLOODS:
        codes = flood_codes(kind, sizes.flood)
        flood = _picked(sizes, partial(ask, "flood", [codes]))
        found[f"{kind}: seconds"] = flood["seconds"]
        found[f"{kind}: kept"] = flood["kept"] / 2**20
        found[f"{kind}: growth"] = flood["growth"] / 1e6
    return found


def measure_alone(sizes: Sizes) -> Measures:
    """Measure everything that only blogsmith can do."""
    numpy_posts = [numpy_codes(number, sizes.cells) for number in range(sizes.posts)]
    busy = [busy_codes(sizes.busy)] * sizes.busy_posts
    # One thread each in both cases, because otherwise a single session would use all cores.
    alone, both = (
        _picked(sizes, partial(measure_posts, busy, at_once, sharing=count_cores()))
        for at_once in (1, AT_ONCE)
    )
    forked = _picked(sizes, lambda: measure_posts(numpy_posts, AT_ONCE, preload=("numpy",)))
    command = sizes.pick([measure_command(numpy_posts, AT_ONCE) for _ in range(sizes.runs)])
    return {
        "forked: wall": forked["wall"],
        "forked: cpu": forked["cpu"],
        "command": command,
        "scaling": alone["wall"] / both["wall"],
        # It takes so little time that a hiccup matters, so there are more runs.
        **measure_unchanged(numpy_posts, 5 * sizes.runs, sizes.pick),
        **measure_sameness(sizes.figures),
    }


def ask_ours(measure: str, posts: Posts) -> Measures:
    """Measure blogsmith. A flood runs in a new process, so that its memory is only that of a builder."""
    if measure == "cells":
        return measure_cells(posts)
    if measure == "posts":
        return measure_posts(posts, AT_ONCE)
    return _asked([sys.executable, "-m", "tests.bench.execution_engine"], posts)


def nbclient_in(python: str) -> Ask:
    """Return a function that measures the nbclient of `python`."""

    def ask(measure: str, posts: Posts) -> Measures:
        request = {"measure": measure, "posts": posts, "workers": AT_ONCE}
        return _asked([python, "-m", "tests.bench.execution_nbclient"], request)

    return ask


def _asked(command: Sequence[str], request: object) -> Measures:
    """Send a JSON request to a script and return its JSON response. Raises SystemExit if it fails."""
    # One thread for BLAS, as in our own sessions.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    with TemporaryFile() as errors:
        finished = subprocess.run(
            command,
            input=json.dumps(request).encode(),
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        errors.seek(0)
        # Kernels repeat the output of cells there.
        said = errors.read()[-2000:].decode("utf-8", "replace")
    if finished.returncode:
        raise SystemExit(said.strip() or f"{command[0]} ended with exit code {finished.returncode}")
    return dict(json.loads(finished.stdout))


def _picked(sizes: Sizes, measure: Callable[[], Measures]) -> Measures:
    """Return the median or best of each value over the runs; smaller is better for all of them."""
    found = [measure() for _ in range(sizes.runs)]
    return {key: sizes.pick([one[key] for one in found]) for key in found[0]}


def table(ours: Mapping[str, float], theirs: Mapping[str, float]) -> list[str]:
    """Return the table, one line for each goal."""
    lines = [f"{'':44}{'ours':>14}{'nbclient':>14}{'target':>9}  met"]
    for goal in GOALS:
        value = ours.get(goal.key)
        other = "–" if goal.alone else goal.shown(theirs.get(goal.key))
        met = "" if value is None else goal.met(value)
        lines.append(f"{goal.name:44}{goal.shown(value):>14}{other:>14}{goal.wanted:>9}  {met}".rstrip())
    return lines


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
