"""Terminal output of running cells: their progress for the bar and, with `-v`, the text that they print."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..base.diagnostics.format import printable
from ..model.cell_locations import locate_in_post
from ..model.results import DARK, CellOutput, CellRun, Display, Failure, SessionRun, Stream
from ..model.units import format_duration

if TYPE_CHECKING:
    from ..execute.session.jobs import SessionJob

Say = Callable[[str], None]


def _silent(line: str) -> None:
    """Discard the line."""


class CellObserver:
    """Prints the output of sessions that run in parallel, in whole lines, with `say`."""

    def __init__(self, progress: Callable[[str, int, int], None], say: Say | None = None) -> None:
        self._progress = progress
        self._say = say or _silent
        self._lock = threading.Lock()
        self._total = self._done = 0
        self._open: dict[tuple[str, str], str] = {}

    def expect_cells(self, count: int) -> None:
        self._total += count

    def on_start(self, job: SessionJob) -> None:
        self._line(job, "starts")

    def on_resume(self, job: SessionJob, position: int) -> None:
        """Show that the session continues after a cell, from the state that an earlier run saved."""
        with self._lock:
            self._done += position
        self._line(job, f"continues after {_cell(job, position)}, with the state of an earlier run")

    def on_refusal(self, job: SessionJob, position: int, reason: str) -> None:
        """Show that the next run cannot continue after a cell, because its state was not saved."""
        self._line(job, f"the next run cannot continue after {_cell(job, position)}: {reason}")

    def cell_started(self, job: SessionJob, position: int) -> None:
        """Show that a cell starts. `position` counts from 1 within its session."""
        with self._lock:
            self._progress(f"run {_post(job)}, {_cell(job, position)}", self._done, max(1, self._total))

    def output(self, job: SessionJob, position: int, output: CellOutput) -> None:
        if isinstance(output, Stream):
            self._text(job, output.text)
        elif isinstance(output, Failure):
            text = locate_in_post(output.text.rstrip("\n") + "\n", job.code_starts)
            self._text(job, text, new_line=True)
        elif isinstance(output, Display):
            self._text(job, _format_display(output), new_line=True)

    def cell_ended(self, job: SessionJob, position: int, run: CellRun) -> None:
        """Show that a cell has ended, with its duration and status."""
        with self._lock:
            self._done += 1
            self._progress(f"run {_post(job)}, {_cell(job, position)}", self._done, max(1, self._total))
        if run.status != "skipped":
            said = "" if run.status == "ok" else f", {run.problem or run.status}"
            self._line(job, f"{_cell(job, position)}: {format_duration(run.seconds)}{said}")

    def on_end(self, job: SessionJob, run: SessionRun) -> None:
        self._line(job, run.problem or "ends")

    def _text(self, job: SessionJob, text: str, *, new_line: bool = False) -> None:
        """Print text of a session in whole lines only, so that a line contains the output of only one
        session. new_line: start a new line, even if the previous output did not end with one."""
        name = (str(job.post), job.session)
        with self._lock:
            before = self._open.pop(name, "")
            *lines, rest = (f"{before}\n{text}" if before and new_line else before + text).split("\n")
            if rest:
                self._open[name] = rest
            for line in lines:
                self._say(f"{_post(job)} | {printable(line)}")

    def _line(self, job: SessionJob, text: str) -> None:
        with self._lock:
            rest = self._open.pop((str(job.post), job.session), "")
            if rest:
                self._say(f"{_post(job)} | {printable(rest)}")
            self._say(f"{_post(job)}: {text}")


def _format_display(output: Display) -> str:
    """Return the text of an output for a terminal. If it has no text, return the names of its formats."""
    text = output.data.get("text/plain")
    kinds = sorted(kind for kind in output.data if not kind.endswith(DARK))
    return f"{text}\n" if isinstance(text, str) else f"[{', '.join(kinds)}]\n"


def _cell(job: SessionJob, position: int) -> str:
    # already imported when cells run; other builds do not need it
    from ..execute.session.jobs import CellStep

    cells = [step.name for step in job.steps if isinstance(step, CellStep)]
    return cells[position - 1] if 0 < position <= len(cells) else f"cell {position}"


def _post(job: SessionJob) -> str:
    """Return a short name of the post. Add the name of the session unless that is `main`."""
    path = str(job.post).removeprefix("content/").removesuffix(".md").removesuffix("/index")
    return path if job.session == "main" else f"{path} ({job.session})"
