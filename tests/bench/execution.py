"""`make bench-execute`: how fast the code of posts runs, beside nbclient, and whether it repeats.

    python -m tests.bench.execution [--nbclient PYTHON] [--runs N]

PYTHON is one that has nbclient, ipykernel and NumPy: `python3 -m venv F`, then `F/bin/pip install nbclient
ipykernel numpy`. Without it that column says "not measured". Both run the same cells in the same minutes,
each in its usual way: nbclient from notebooks in memory, we from records of cells. Nothing is asserted: a
time says something only beside another one, and on a machine that does nothing else; so the load is printed
with it.
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
"""Sessions that run at the same time."""
NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    runs: int = 3
    best: bool = False
    """Of the runs the best counts, not the median."""
    posts: int = 20
    cells: int = CELLS
    trivial: int = 200
    """Cells of the session whose median is taken."""
    flood: int = 50_000_000
    """Bytes printed."""
    busy: int = 10_000_000
    """Rounds of a loop in a post that keeps a core busy."""
    busy_posts: int = 4
    figures: int = 3
    """Posts whose bytes are compared."""

    def pick(self, figures: Sequence[float]) -> float:
        """The figure that counts."""
        return min(figures) if self.best else median(figures)


@dataclass(frozen=True, slots=True)
class Goal:
    """One line of the table."""

    key: str
    """Of the figure it shows."""
    name: str
    target: float | None = None
    """None: shown for comparison."""
    least: bool = False
    """The figure must be at least the target, else at most."""
    truth: bool = False
    """The figure is 1 or 0, shown as a word; 1 is the target."""
    alone: bool = False
    """nbclient has nothing of the kind."""

    def met(self, value: float) -> str:
        """Whether a figure of ours meets the goal, as a word."""
        target = 1.0 if self.truth else self.target
        if target is None:
            return ""
        return "yes" if (value >= target if self.least or self.truth else value <= target) else "no"

    def shown(self, value: float | None) -> str:
        """A figure in its column."""
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
"""Name of a measure, and the posts it runs → what it found."""


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
    """What the command line asks for."""
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
    """How busy the machine is."""
    return "load average " + ", ".join(f"{load:.1f}" for load in os.getloadavg())


def measure_engine(sizes: Sizes, ask: Ask) -> Measures:
    """What is measured of both."""
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
    """What is measured of us only."""
    numpy_posts = [numpy_codes(number, sizes.cells) for number in range(sizes.posts)]
    busy = [busy_codes(sizes.busy)] * sizes.busy_posts
    # a thread each, however many run at once: else one session alone would use all cores
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
        # takes no time, so a hiccup counts: more runs
        **measure_unchanged(numpy_posts, 5 * sizes.runs, sizes.pick),
        **measure_sameness(sizes.figures),
    }


def ask_ours(measure: str, posts: Posts) -> Measures:
    """Our own figures. A flood runs in a new process, whose memory is that of a builder and no more."""
    if measure == "cells":
        return measure_cells(posts)
    if measure == "posts":
        return measure_posts(posts, AT_ONCE)
    return _asked([sys.executable, "-m", "tests.bench.execution_engine"], posts)


def nbclient_in(python: str) -> Ask:
    """The figures of the nbclient that `python` has."""

    def ask(measure: str, posts: Posts) -> Measures:
        request = {"measure": measure, "posts": posts, "workers": AT_ONCE}
        return _asked([python, "-m", "tests.bench.execution_nbclient"], request)

    return ask


def _asked(command: Sequence[str], request: object) -> Measures:
    """What a script answers to a request, both JSON; its last words if it fails."""
    # one thread for BLAS, as we give our own sessions
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
        # kernels repeat there what cells print
        said = errors.read()[-2000:].decode("utf-8", "replace")
    if finished.returncode:
        raise SystemExit(said.strip() or f"{command[0]} ended with exit code {finished.returncode}")
    return dict(json.loads(finished.stdout))


def _picked(sizes: Sizes, measure: Callable[[], Measures]) -> Measures:
    """The median or best of each figure over the runs; for all of them less is better."""
    found = [measure() for _ in range(sizes.runs)]
    return {key: sizes.pick([one[key] for one in found]) for key in found[0]}


def table(ours: Mapping[str, float], theirs: Mapping[str, float]) -> list[str]:
    """Lines, a goal each."""
    lines = [f"{'':44}{'ours':>14}{'nbclient':>14}{'target':>9}  met"]
    for goal in GOALS:
        value = ours.get(goal.key)
        other = "–" if goal.alone else goal.shown(theirs.get(goal.key))
        met = "" if value is None else goal.met(value)
        lines.append(f"{goal.name:44}{goal.shown(value):>14}{other:>14}{goal.wanted:>9}  {met}".rstrip())
    return lines


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
