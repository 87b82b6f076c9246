"""What cells say while they run, as events for the pages that show them.

Text that is printed fast is told in larger pieces, and only so much of one cell: the page shows the rest when
the result is recorded.
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
"""Between two pieces of text of one cell."""
MOST_CHARS = 200_000
"""Of the text of one cell that is told."""
_MORE = "\n[more is printed than is shown while it runs]\n"


@dataclass(slots=True)
class _Text:
    """What the present cell of a session prints."""

    cell: int
    waiting: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    left: int = MOST_CHARS
    due: float = 0.0
    """When the next piece may be told, in seconds of the monotonic clock."""


class RunEvents:
    """Follows the sessions of one page; a `Watch`, called from the threads that run them."""

    def __init__(self, url: str, page: PageCells, publish: Publish, waits: Callable[[], None]) -> None:
        """url: of the page; waits: called when text begins to wait for `flush`."""
        self.url = url
        self._waits = waits
        self._page = page
        self._publish = publish
        self._lock = threading.RLock()
        self._jobs: dict[str, SessionJob] = {}
        """Session → its job, by which its news are known; those of a job before it come too late."""
        self._done: dict[str, int] = {}
        """Session → cells that have ended."""
        self._texts: dict[str, _Text] = {}
        """Session → what its cell prints that runs."""
        self._ended: set[str] = set()
        self._resumed: dict[str, int] = {}
        """Session → how many cells did not run again, until the next one has begun."""
        self._refused: dict[str, str] = {}
        """Session → why there is no checkpoint after the present cell."""

    def replace_page(self, page: PageCells) -> None:
        """The same cells, perhaps with other numbers."""
        with self._lock:
            self._page = page

    def queue(self, job: SessionJob) -> None:
        """A session waits for its turn."""
        with self._lock:
            self.discard(job.session)
            self._jobs[job.session] = job
            self._done[job.session] = 0
            self._publish_state(job.session, "queued")

    def discard(self, session: str) -> None:
        """A session does not run, or not to its end."""
        with self._lock:
            self._jobs.pop(session, None)
            self._done.pop(session, None)
            self._texts.pop(session, None)
            self._ended.discard(session)
            self._resumed.pop(session, None)
            self._refused.pop(session, None)

    def finish(self, state: str) -> None:
        """The page's run is over. state: `finished` or `stopped`."""
        with self._lock:
            self._publish_state("main", state)
            for known in (self._jobs, self._done, self._texts, self._ended, self._resumed, self._refused):
                known.clear()

    def current(self) -> list[Event]:
        """What a page has to know that was not there from the start."""
        with self._lock:
            found = []
            for session in self._jobs.keys() - self._ended:
                text = self._texts.get(session)
                if text is None:
                    found.append(self._event(session, "queued"))
                    continue
                found.append(self._event(session, "started", cell=text.cell))
                if text.told:
                    found.append(self._event(session, "output", cell=text.cell, text="".join(text.told)))
            return found

    def flush(self, now: float) -> float | None:
        """Tell what has waited long enough; when there will be more, None: nothing waits."""
        with self._lock:
            for session, text in self._texts.items():
                if text.waiting and text.due <= now:
                    self._publish_text(session, text)
            return min((text.due for text in self._texts.values() if text.waiting), default=None)

    def expect_cells(self, count: int) -> None:
        """Pages show each cell, and no count."""

    def on_start(self, job: SessionJob) -> None:
        """The session begins; its first cell says so."""

    def on_resume(self, job: SessionJob, position: int) -> None:
        """It goes on from a checkpoint after a cell."""
        with self._lock:
            if self._is_meant(job):
                self._done[job.session] = self._resumed[job.session] = position

    def on_refusal(self, job: SessionJob, position: int, reason: str) -> None:
        """There is no checkpoint after a cell, which is about to end."""
        with self._lock:
            if self._is_meant(job):
                self._refused[job.session] = reason

    def cell_started(self, job: SessionJob, position: int) -> None:
        """A cell begins."""
        with self._lock:
            if self._is_meant(job):
                text = _Text(self._number(job.session, position))
                self._texts[job.session] = text
                after = self._resumed.pop(job.session, 0)
                more = {"after": after, "of": len(job.code_starts)} if after else {}
                self._publish_state(job.session, "started", cell=text.cell, **more)

    def output(self, job: SessionJob, position: int, output: CellOutput) -> None:
        """A piece of output, as it came."""
        with self._lock:
            text = self._texts.get(job.session)
            if text is None or not text.left or not self._is_meant(job):
                return
            said = _format_output(output, job)[: text.left]
            text.left -= len(said)
            text.waiting.append(said if text.left else said + _MORE)
            if text.due <= time.monotonic():
                self._publish_text(job.session, text)
            elif len(text.waiting) == 1:
                self._waits()

    def cell_ended(self, job: SessionJob, position: int, run: CellRun) -> None:
        """A cell has ended or was skipped."""
        with self._lock:
            if not self._is_meant(job):
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
        """The session is over; what becomes of it is decided elsewhere."""
        with self._lock:
            if self._is_meant(job):
                self._ended.add(job.session)

    def _is_meant(self, job: SessionJob) -> bool:
        return self._jobs.get(job.session) is job

    def _number(self, session: str, position: int) -> int:
        cells = self._page.session_cells(session)
        return cells[position - 1].number if 0 < position <= len(cells) else 0

    def _publish_text(self, session: str, text: _Text) -> None:
        said = "".join(text.waiting)
        text.waiting.clear()
        text.told.append(said)
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
    # a value is text where it has one, else it is said what kinds of picture it is
    text = output.data.get("text/plain")
    kinds = sorted(kind for kind in output.data if not kind.endswith(DARK))
    return f"{text}\n" if isinstance(text, str) else f"[{', '.join(kinds)}]\n"
