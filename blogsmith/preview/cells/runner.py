"""Runner of the cells of posts while they are shown.

One thread makes all decisions: it reads the current state of the site, cancels sessions that are no longer
needed, starts those that must run, and records finished ones. Each session runs in its own thread, and as
many run in parallel as in a build. Callers never wait.
"""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from ...execute.session.working_folder import working_folder
from ..protocol import Publish
from .messages import CellWork, PageOutcome
from .scheduler import ScheduleCallbacks, Scheduler
from .task import SessionTask

_LONG_S = 3600.0
_CLOSE_S = 10.0


class CellRunner:
    """Runner of cells. The thread of the event loop calls its methods. The work is done in other threads."""

    def __init__(
        self,
        root: Path,
        publish: Publish,
        done: Callable[[PageOutcome], None],
        now: Callable[[], dt.datetime],
    ) -> None:
        """Create a runner without threads. root: absolute path of the site. publish: function that is called
        with events about runs, from any thread. done: function that is called with the outcome of a page,
        from the deciding thread. now: function that returns the current time, which is recorded as the date
        of a result."""
        self._root, self._publish, self._done, self._now = root, publish, done, now
        self._wake = threading.Condition()
        self._work: CellWork | None = None
        """Input for the deciding thread. The following fields are input, too."""
        self._ended: list[SessionTask] = []
        self._stops: list[str] = []
        self._again: list[str] = []
        self._text_waits = False
        self._closing = False
        self._schedule: Scheduler | None = None
        self._thread: threading.Thread | None = None

    def update(self, work: CellWork) -> None:
        """Set the current state of the site, which replaces the previous one."""
        with self._wake:
            if self._closing or (self._thread is None and not work.pages):
                return
            self._work = work
            if self._thread is None:
                self._thread = threading.Thread(target=self._decide, name="cells", daemon=True)
                self._thread.start()
            self._wake.notify()

    def stop(self, page: str = "") -> None:
        """Stop the run of a page. page: its URL path; empty: stop all pages."""
        with self._wake:
            if self._schedule:
                self._schedule.kill(page)
            self._stops.append(page)
            self._wake.notify()

    def run_again(self, page: str) -> None:
        """Run all cells of a page, even those with valid results. page: its URL path."""
        with self._wake:
            self._again.append(page)
            self._wake.notify()

    def current(self) -> list[Mapping[str, object]]:
        """Return events that describe the sessions that are running now, for a page that has just
        connected."""
        schedule = self._schedule
        return schedule.current() if schedule else []

    def close(self) -> None:
        """Stop all processes and threads and remove all folders, within 3 s, or 10 s with a Dask cluster."""
        with self._wake:
            self._closing = True
            if self._schedule:
                self._schedule.kill("")
                self._schedule.interrupt()
            self._wake.notify()
        if self._thread is not None and self._thread is not threading.current_thread():
            # longer than the time limit of ending sessions
            self._thread.join(_CLOSE_S)

    def _decide(self) -> None:
        with ExitStack() as stack:
            folder = stack.enter_context(working_folder())
            calls = ScheduleCallbacks(self._publish, self._done, self._now, self._has_ended, self._has_text)
            schedule = Scheduler(self._root, folder, calls)
            stack.callback(schedule.close)
            with self._wake:
                self._schedule = schedule
            due: float | None = None
            while self._handle_events(schedule, due):
                schedule.step()
                due = schedule.flush(time.monotonic())

    def _handle_events(self, schedule: Scheduler, due: float | None) -> bool:
        """Wait for events and pass them to the schedule. Return False when the runner is closed. due: time
        when waiting output must be sent; None if no output is waiting."""
        with self._wake:
            wait_s = _LONG_S if due is None else max(0.0, due - time.monotonic())
            self._wake.wait_for(self._has_events, wait_s)
            if self._closing:
                return False
            self._text_waits = False
            work, self._work = self._work, None
            ended, self._ended = self._ended, []
            stops, self._stops = self._stops, []
            again, self._again = self._again, []
        for page in stops:
            schedule.stop(page)
        schedule.handle_ended(ended)
        for page in again:
            schedule.run_again(page)
        if work is not None:
            schedule.update(work)
        return True

    def _has_events(self) -> bool:
        return bool(
            self._closing or self._work or self._ended or self._stops or self._again or self._text_waits
        )

    def _has_text(self) -> None:
        with self._wake:
            self._text_waits = True
            self._wake.notify()

    def _has_ended(self, task: SessionTask) -> None:
        with self._wake:
            self._ended.append(task)
            self._wake.notify()
