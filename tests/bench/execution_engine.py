"""How fast cells run without a site around them, from records of cells to their results."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from blogsmith.config.schema import Execution
from blogsmith.execute.session.engine import WORKER
from blogsmith.execute.session.jobs import SessionJob, session_job, setting_of
from blogsmith.execute.session.pool import run_sessions
from blogsmith.execute.session.session import run_session
from blogsmith.model.results import CellOutput, CellRun, SessionRun, Stream

from .execution_nbclient import Measures, peak_bytes, processor_seconds
from .execution_posts import page_of

Posts = Sequence[Sequence[str]]
"""Posts as lists of the code of their cells."""


@dataclass(slots=True)
class Marks:
    """Start and end times of the cells of one session, from `time.perf_counter()`."""

    begun: list[float] = field(default_factory=list)
    done: list[float] = field(default_factory=list)

    def expect_cells(self, count: int) -> None:
        """Ignore the number of cells."""

    def on_start(self, job: SessionJob) -> None:
        """Ignore the start of the session."""

    def cell_started(self, job: SessionJob, position: int) -> None:
        """Note when the worker is ready for this cell."""
        self.begun.append(time.perf_counter())

    def output(self, job: SessionJob, position: int, output: CellOutput) -> None:
        """Ignore output."""

    def on_resume(self, job: SessionJob, position: int) -> None: ...
    def on_refusal(self, job: SessionJob, position: int, reason: str) -> None: ...
    def cell_ended(self, job: SessionJob, position: int, run: CellRun) -> None:
        """Note when all output of the cell has arrived."""
        self.done.append(time.perf_counter())

    def on_end(self, job: SessionJob, run: SessionRun) -> None:
        """Ignore the end of the session."""


def measure_cells(posts: Posts) -> Measures:
    """Measure seconds from nothing to a ready worker, to the end of the first cell, and between cells."""
    marks = Marks()
    with jobs_of(posts[:1], at_once=1) as (job,):
        began = time.perf_counter()
        _checked(run_session(job, marks))
    # From the start of one cell to the start of the next, so that the builder's work in between counts too.
    steps = [later - earlier for earlier, later in pairwise(marks.begun)]
    found = {"ready": marks.begun[0] - began, "first": marks.done[0] - began}
    return found | ({"step": median(steps)} if steps else {})


def measure_posts(posts: Posts, at_once: int, preload: tuple[str, ...] = (), sharing: int = 0) -> Measures:
    """Return seconds and CPU seconds for all posts, including the start and end of all processes.

    sharing: number of sessions that share the cores; 0 for `at_once`.
    """
    with jobs_of(posts, sharing or at_once) as jobs:
        used, began = processor_seconds(), time.perf_counter()
        with closing(run_sessions(jobs, workers=at_once, preload=preload)) as runs:
            for run in runs:
                _checked(run)
        return {"wall": time.perf_counter() - began, "cpu": processor_seconds() - used}


def measure_flood(posts: Posts) -> Measures:
    """Return seconds, bytes of stored text and memory growth of this process for a post that prints a lot."""
    with jobs_of([["1"], *posts], at_once=1) as (small, job):
        # Memory that a first session leaves allocated does not count as growth.
        _checked(run_session(small))
        before, began = peak_bytes(), time.perf_counter()
        run = _checked(run_session(job))
        seconds = time.perf_counter() - began
    outputs = [output for cell in run.cells for output in cell.outputs]
    kept = sum(len(output.text.encode()) for output in outputs if isinstance(output, Stream))
    return {"seconds": seconds, "kept": float(kept), "growth": float(peak_bytes() - before)}


@contextmanager
def jobs_of(posts: Posts, at_once: int) -> Iterator[list[SessionJob]]:
    """Return jobs of the posts in temporary folders; `at_once` of them share the cores."""
    with TemporaryDirectory() as root, TemporaryDirectory() as temporary:
        pages = [page_of(codes, number) for number, codes in enumerate(posts)]
        setting = setting_of(Execution(jobs=at_once), Path(root), os.environ, temporary=Path(temporary))
        for page in pages:
            (Path(root) / page.path.parent).mkdir(parents=True, exist_ok=True)
        yield [session_job(page, "main", setting, {}, engine=WORKER) for page in pages]


def _checked(run: SessionRun) -> SessionRun:
    """Return the run, or raise SystemExit if it failed, because its times would be meaningless."""
    bad = [cell for cell in run.cells if cell.status != "ok"]
    if run.problem or bad:
        raise SystemExit(f"the cells do not run: {run.problem or bad[0]}")
    return run


def main() -> int:
    """Measure the flood of the posts on stdin, in a process that does nothing else."""
    json.dump(measure_flood(json.load(sys.stdin)), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
