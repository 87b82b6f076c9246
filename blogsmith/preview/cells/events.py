"""Output of running cells, as events for the pages that show them.

Frequent output is collected into larger events, up to a limit for each cell. Output above the limit is not
sent: the page shows it when the result is recorded.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from ...execute.session.jobs import SessionJob
from ...model.cell_locations import locate_in_post
from ...model.cells import PageCells
from ...model.results import DARK, CellOutput, CellRun, Failure, SessionRun, Stream
from ..protocol import Event, Publish

GAP_S = 0.05
"""Minimum time in seconds between two events with output of a cell."""
MAX_CHARS = 200_000
"""Maximum number of characters of a cell's output that are sent."""
_MORE = "\n[output truncated while the cell runs]\n"


@dataclass(slots=True)
class _Text:
    """Output of the running cell of a session: the part to send, and a copy of the part already sent."""

    cell: int
    waiting: list[str] = field(default_factory=list)
    sent_pieces: list[str] = field(default_factory=list)
    left: int = MAX_CHARS
    due: float = 0.0
    """Earliest time when the output may be sent, in seconds of the monotonic clock."""


class RunEventPublisher:
    """Observer of the sessions of one page, called from the threads that run them. The argument `position` of
    its methods is the number of a cell in its session, from 1."""

    def __init__(self, url: str, page: PageCells, publish: Publish, waits: Callable[[], None]) -> None:
        """Create an observer. url: URL of the page. waits: function that is called when output starts to wait
        for `flush`."""
        self.url = url
        self._waits = waits
        self._page = page
        self._publish = publish
        self._lock = threading.RLock()
        self._jobs: dict[str, SessionJob] = {}
        """Name of a session → its current job. Events of earlier jobs are ignored."""
        self._done: dict[str, int] = {}
        """Name of a session → number of cells that have finished."""
        self._texts: dict[str, _Text] = {}
        """Name of a session → output of its running cell."""
        self._ended: set[str] = set()
        self._resumed: dict[str, int] = {}
        """Name of a session that resumed from a checkpoint → number of cells that it skipped. The entry is
        removed when the next cell of the session starts."""
        self._refused: dict[str, str] = {}
        """Name of a session → reason why there will be no checkpoint after the cell that is running."""

    def replace_page(self, page: PageCells) -> None:
        """Replace the page by a version with the same cells, which may be numbered differently."""
        with self._lock:
            self._page = page

    def queue(self, job: SessionJob) -> None:
        """Report that a session is queued."""
        with self._lock:
            self.discard(job.session)
            self._jobs[job.session] = job
            self._done[job.session] = 0
            self._publish_state(job.session, "queued")

    def discard(self, session: str) -> None:
        """Drop the data of a session that will not run, or that was cancelled."""
        with self._lock:
            self._jobs.pop(session, None)
            self._done.pop(session, None)
            self._texts.pop(session, None)
            self._ended.discard(session)
            self._resumed.pop(session, None)
            self._refused.pop(session, None)

    def finish(self, state: str) -> None:
        """Report that the run of the page has ended. state: how it ended, `finished` or `stopped`."""
        with self._lock:
            self._publish_state("main", state)
            for known in (self._jobs, self._done, self._texts, self._ended, self._resumed, self._refused):
                known.clear()

    def current(self) -> list[Event]:
        """Return the events about the current run, for a page that connects now."""
        with self._lock:
            found = []
            for session in self._jobs.keys() - self._ended:
                text = self._texts.get(session)
                if text is None:
                    found.append(self._event(session, "queued"))
                    continue
                found.append(self._event(session, "started", cell=text.cell))
                if text.sent_pieces:
                    found.append(
                        self._event(session, "output", cell=text.cell, text="".join(text.sent_pieces))
                    )
            return found

    def flush(self, now: float) -> float | None:
        """Send output that is due at `now`. Return the time when the next output is due, or None if no output
        is waiting. Times are in seconds of the monotonic clock."""
        with self._lock:
            for session, text in self._texts.items():
                if text.waiting and text.due <= now:
                    self._publish_text(session, text)
            return min((text.due for text in self._texts.values() if text.waiting), default=None)

    def expect_cells(self, count: int) -> None:
        """Do nothing, because pages show the progress of each cell instead of a count of cells."""

    def on_start(self, job: SessionJob) -> None:
        """Do nothing, because `cell_started` reports the first cell."""

    def on_resume(self, job: SessionJob, position: int) -> None:
        """Record that a session has resumed from a checkpoint. position: number of the last cell before the
        checkpoint, from 1."""
        with self._lock:
            if self._is_current_job(job):
                self._done[job.session] = self._resumed[job.session] = position

    def on_refusal(self, job: SessionJob, position: int, reason: str) -> None:
        """Record the reason why there will be no checkpoint after a cell that is about to end."""
        with self._lock:
            if self._is_current_job(job):
                self._refused[job.session] = reason

    def cell_started(self, job: SessionJob, position: int) -> None:
        """Report that a cell starts."""
        with self._lock:
            if self._is_current_job(job):
                text = _Text(self._number(job.session, position))
                self._texts[job.session] = text
                after = self._resumed.pop(job.session, 0)
                more = {"after": after, "of": len(job.code_starts)} if after else {}
                self._publish_state(job.session, "started", cell=text.cell, **more)

    def output(self, job: SessionJob, position: int, output: CellOutput) -> None:
        """Send an output, or let it wait until `GAP_S` seconds after the previous one."""
        with self._lock:
            text = self._texts.get(job.session)
            if text is None or not text.left or not self._is_current_job(job):
                return
            said = _format_output(output, job)[: text.left]
            text.left -= len(said)
            text.waiting.append(said if text.left else said + _MORE)
            if text.due <= time.monotonic():
                self._publish_text(job.session, text)
            elif len(text.waiting) == 1:
                self._waits()

    def cell_ended(self, job: SessionJob, position: int, run: CellRun) -> None:
        """Report that a cell has ended or was skipped. run: its result."""
        with self._lock:
            if not self._is_current_job(job):
                return
            text = self._texts.pop(job.session, None)
            if text is not None and text.waiting:
                self._publish_text(job.session, text)
            self._done[job.session] += 1
            number = self._number(job.session, position)
            problem = "" if run.status == "ok" else run.problem or run.status
            refused = self._refused.pop(job.session, "")
            more = {"refused": refused} if refused else {}
            self._publish_state(
                job.session, "ended", cell=number, seconds=round(run.seconds, 4), problem=problem, **more
            )

    def on_end(self, job: SessionJob, run: SessionRun) -> None:
        """Record that the session has ended. Other code handles its result."""
        with self._lock:
            if self._is_current_job(job):
                self._ended.add(job.session)

    def _is_current_job(self, job: SessionJob) -> bool:
        return self._jobs.get(job.session) is job

    def _number(self, session: str, position: int) -> int:
        cells = self._page.session_cells(session)
        return cells[position - 1].number if 0 < position <= len(cells) else 0

    def _publish_text(self, session: str, text: _Text) -> None:
        said = "".join(text.waiting)
        text.waiting.clear()
        text.sent_pieces.append(said)
        text.due = time.monotonic() + GAP_S
        self._publish_state(session, "output", cell=text.cell, text=said)

    def _publish_state(self, session: str, state: str, **more: object) -> None:
        self._publish(self._event(session, state, **more))

    def _event(self, session: str, state: str, **more: object) -> Event:
        done, total = sum(self._done.values()), sum(len(job.code_starts) for job in self._jobs.values())
        return {
            "kind": "run",
            "page": self.url,
            "session": session,
            "state": state,
            "done": done,
            "total": total,
            **more,
        }


def _format_output(output: CellOutput, job: SessionJob) -> str:
    if isinstance(output, Stream):
        return output.text
    if isinstance(output, Failure):
        return locate_in_post(output.text.rstrip("\n") + "\n", job.code_starts)
    # the text of the value or, if it has none, the names of its MIME types
    text = output.data.get("text/plain")
    kinds = sorted(kind for kind in output.data if not kind.endswith(DARK))
    return f"{text}\n" if isinstance(text, str) else f"[{', '.join(kinds)}]\n"
