"""What running cells say on the terminal: progress for the bar, and with `-v` what they print, as they do."""

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
    """Says nothing."""


class Watching:
    """Follows sessions that run at the same time; what it says goes to `say`, a whole line at a time."""

    def __init__(self, progress: Callable[[str, int, int], None], say: Say | None = None) -> None:
        self._progress = progress
        self._say = say or _silent
        self._lock = threading.Lock()
        self._total = self._done = 0
        self._open: dict[tuple[str, str], str] = {}

    def expect_cells(self, count: int) -> None:
        """So many cells are going to run."""
        self._total += count

    def on_start(self, job: SessionJob) -> None:
        """A session begins."""
        self._line(job, "starts")

    def on_resume(self, job: SessionJob, position: int) -> None:
        """A command runs each session from its first cell."""

    def on_refusal(self, job: SessionJob, position: int, reason: str) -> None:
        """Likewise it makes no checkpoints."""

    def cell_started(self, job: SessionJob, position: int) -> None:
        """A cell begins; `position` counts from 1 in its session."""
        with self._lock:
            self._progress(f"run {_post(job)}, {_cell(job, position)}", self._done, max(1, self._total))

    def output(self, job: SessionJob, position: int, output: CellOutput) -> None:
        """A cell has printed or shown something."""
        if isinstance(output, Stream):
            self._text(job, output.text)
        elif isinstance(output, Failure):
            text = locate_in_post(output.text.rstrip("\n") + "\n", job.code_starts)
            self._text(job, text, new_line=True)
        elif isinstance(output, Display):
            self._text(job, _format_display(output), new_line=True)

    def cell_ended(self, job: SessionJob, position: int, run: CellRun) -> None:
        """A cell is done."""
        with self._lock:
            self._done += 1
            self._progress(f"run {_post(job)}, {_cell(job, position)}", self._done, max(1, self._total))
        if run.status != "skipped":
            said = "" if run.status == "ok" else f", {run.problem or run.status}"
            self._line(job, f"{_cell(job, position)}: {format_duration(run.seconds)}{said}")

    def on_end(self, job: SessionJob, run: SessionRun) -> None:
        """A session is over."""
        self._line(job, run.problem or "ends")

    def _text(self, job: SessionJob, text: str, *, new_line: bool = False) -> None:
        """Whole lines at once, so that sessions do not mix within a line.

        new_line: it does not go on where the line before it was left.
        """
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
    """A value as text where it has one, as a terminal would show it; else what kinds of picture it is."""
    text = output.data.get("text/plain")
    kinds = sorted(kind for kind in output.data if not kind.endswith(DARK))
    return f"{text}\n" if isinstance(text, str) else f"[{', '.join(kinds)}]\n"


def _cell(job: SessionJob, position: int) -> str:
    """The cell as messages call it."""
    from ..execute.session.jobs import CellStep  # loaded by then; a build without cells is spared it

    cells = [step.name for step in job.steps if isinstance(step, CellStep)]
    return cells[position - 1] if 0 < position <= len(cells) else f"cell {position}"


def _post(job: SessionJob) -> str:
    """The post as it is called on one line, with its session if that is not the usual one."""
    path = str(job.post).removeprefix("content/").removesuffix(".md").removesuffix("/index")
    return path if job.session == "main" else f"{path} ({job.session})"
