"""Runs the cells of posts while they are shown.

One thread decides: it takes the present state of the site, ends what is no longer wanted, starts what is due
and records what has ended. Each session runs in a thread of its own, no more at a time than in a build. Who
calls never waits.
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
from .messages import Outcome, Work
from .scheduler import Calls, Schedule
from .task import SessionTask

_LONG_S = 3600.0
_CLOSE_S = 10.0


class CellRunner:
    """Called from the thread of the event loop, works in threads of its own."""

    def __init__(
        self,
        root: Path,
        publish: Publish,
        done: Callable[[Outcome], None],
        now: Callable[[], dt.datetime],
    ) -> None:
        """root: of the site, absolute. publish: takes run events, from any thread; done: told what became of
        a page, from the deciding thread; now: the time that records are dated by."""
        self._root, self._publish, self._done, self._now = root, publish, done, now
        self._wake = threading.Condition()
        self._work: Work | None = None
        """News, as the next ones: taken by the deciding thread."""
        self._ended: list[SessionTask] = []
        self._stops: list[str] = []
        self._again: list[str] = []
        self._text_waits = False
        self._closing = False
        self._schedule: Schedule | None = None
        self._thread: threading.Thread | None = None

    def update(self, work: Work) -> None:
        """The present state of the site; replaces what was wanted before."""
        with self._wake:
            if self._closing or (self._thread is None and not work.pages):
                return
            self._work = work
            if self._thread is None:
                self._thread = threading.Thread(target=self._decide, name="cells", daemon=True)
                self._thread.start()
            self._wake.notify()

    def stop(self, page: str = "") -> None:
        """End the run of a page, by its URL path; empty: of all."""
        with self._wake:
            if self._schedule:
                self._schedule.kill(page)
            self._stops.append(page)
            self._wake.notify()

    def run_again(self, page: str) -> None:
        """Run all cells of a page, by its URL path, even what is fresh."""
        with self._wake:
            self._again.append(page)
            self._wake.notify()

    def current(self) -> list[Mapping[str, object]]:
        """Run events that say what runs, for a page that has just connected."""
        schedule = self._schedule
        return schedule.current() if schedule else []

    def close(self) -> None:
        """Every process, thread and folder is gone when it returns, within 3 s; 10 s with a Dask cluster."""
        with self._wake:
            self._closing = True
            if self._schedule:
                self._schedule.kill("")
                self._schedule.break_off()
            self._wake.notify()
        if self._thread is not None and self._thread is not threading.current_thread():
            # longer than it gives the sessions
            self._thread.join(_CLOSE_S)

    def _decide(self) -> None:
        with ExitStack() as stack:
            folder = stack.enter_context(working_folder())
            calls = Calls(self._publish, self._done, self._now, self._has_ended, self._has_text)
            schedule = Schedule(self._root, folder, calls)
            stack.callback(schedule.close)
            with self._wake:
                self._schedule = schedule
            due: float | None = None
            while self._take_news(schedule, due):
                schedule.go_on()
                due = schedule.flush(time.monotonic())

    def _take_news(self, schedule: Schedule, due: float | None) -> bool:
        """Wait for something to happen and hand it on; False once all is to end. due: of waiting text."""
        with self._wake:
            wait_s = _LONG_S if due is None else max(0.0, due - time.monotonic())
            self._wake.wait_for(self._has_news, wait_s)
            if self._closing:
                return False
            self._text_waits = False
            work, self._work = self._work, None
            ended, self._ended = self._ended, []
            stops, self._stops = self._stops, []
            again, self._again = self._again, []
        for page in stops:
            schedule.stop(page)
        schedule.take_ended(ended)
        for page in again:
            schedule.run_again(page)
        if work is not None:
            schedule.update(work)
        return True

    def _has_news(self) -> bool:
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
