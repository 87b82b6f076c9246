"""The one thread that knows sites: takes what the editor tells and asks in turn, and works on sites between.

It is the main thread, since only that one can be stopped where a page takes too long to make; what is read
from the editor and sent to it is the matter of another one.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Protocol, TypeVar

Result = TypeVar("Result")

LISTEN_S = 0.25
"""While nothing happens it is looked this often whether a signal has come."""


class TimedTask(Protocol):
    """What is worked on bit by bit."""

    @property
    def due_s(self) -> float | None:
        """When there is something to do; None: nothing is left."""

    def step(self) -> None:
        """Do some of it."""


class Worker:
    """`run` belongs to one thread; the other methods may be called from any."""

    def __init__(self, clock: Callable[[], float], report_bug: Callable[[Exception], None]) -> None:
        """clock: seconds that only run forward. report_bug: told of exceptions, which are ours."""
        self._clock = clock
        self._report_bug = report_bug
        self._messages: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self.tasks: list[TimedTask] = []
        """Changed by messages alone."""

    def post(self, act: Callable[[], None]) -> None:
        """Have something done in turn."""
        self._messages.put(act)

    def submit(
        self, answer: Callable[[], Result], refusals: tuple[type[Exception], ...] = ()
    ) -> Future[Result | None]:
        """Have something answered in turn, None after a bug; who no longer waits is not answered.

        refusals: exceptions that are answers.
        """
        future: Future[Result | None] = Future()

        def act() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(answer())
            except refusals as error:
                future.set_exception(error)
            except Exception as error:
                self._report_bug(error)
                future.set_result(None)

        self._messages.put(act)
        return future

    @property
    def is_awaited(self) -> bool:
        """Whether something waits for its turn."""
        return not self._messages.empty()

    def end(self) -> None:
        """Let `run` return."""
        self._messages.put(None)

    def run(self) -> None:
        """Work until `end`."""
        while True:
            try:
                act = self._next()
                if act is None:
                    return
                act()
            except Exception as error:
                self._report_bug(error)

    def _next(self) -> Callable[[], None] | None:
        """What is to be done next."""
        while True:
            due = [(task.due_s, number) for number, task in enumerate(self.tasks) if task.due_s is not None]
            first_s, number = min(due, default=(None, 0))
            wait_s = LISTEN_S if first_s is None else min(LISTEN_S, first_s - self._clock())
            try:
                return self._messages.get(timeout=wait_s) if wait_s > 0 else self._messages.get_nowait()
            except Empty:
                if first_s is not None and first_s <= self._clock():
                    return self.tasks[number].step
