"""Time limits for work that may never end, such as rendering one page of a preview.

When the time is over, an exception is raised inside that work. Source: setitimer(2).
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


def has_alarm() -> bool:
    """Return whether `alarm` works here: in the main thread, which alone receives signals, and if setitimer
    exists."""
    return threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")


@contextmanager
def alarm(
    seconds: float,
    error: type[BaseException],
    *,
    is_cpu_time: bool = False,
    interval_s: float = 1.0,
    choose_error: Callable[[], type[BaseException] | None] | None = None,
) -> Iterator[None]:
    """Raise `error` inside the block after `seconds`, even during a regular expression: `re` checks for
    signals.

    Works only where `has_alarm` is true. Alarms may be nested: an inner one restores the timer of the outer
    one.

    is_cpu_time: measure processor time, so that a busy machine gives the same result. Waiting is then not
    interrupted. choose_error: function called after `seconds`, then every `interval_s` seconds. The error it
    returns is raised instead of `error`; None raises nothing.
    """
    timer, number = (
        (signal.ITIMER_PROF, signal.SIGPROF) if is_cpu_time else (signal.ITIMER_REAL, signal.SIGALRM)
    )

    rung: type[BaseException] | None = None

    def ring(number: int, frame: FrameType | None) -> None:
        nonlocal rung
        rung = choose_error() if choose_error else error
        if rung:
            raise rung

    handler = signal.signal(number, ring)
    before = (0.0, 0.0)
    try:
        try:
            # rings again in case the first error is lost in a `__del__`, where Python ignores exceptions
            before = signal.setitimer(timer, seconds, interval_s)
            yield
            if rung:
                # the error was lost, and the work ended before the next signal
                raise rung
        finally:
            signal.setitimer(timer, 0)
    finally:
        signal.signal(number, signal.SIG_DFL if handler is None else handler)
        signal.setitimer(timer, *before)


# A template that never ends must not block the whole preview.

LIMIT_S = 10.0
UNINTERRUPTED_S = 1.0
"""Time in seconds before which the rendering of a page is never cancelled, however urgent other work is."""
_POLL_S = 0.1


class PageTimeout(BaseException):
    """The time limit of a page has passed. Not an `Exception`, because third-party templates and lexers catch
    those."""


class PageCancelled(BaseException):
    """Rendering of a page is cancelled because other work is more urgent. Code that renders the page must not
    catch this."""


@contextmanager
def time_limit(
    seconds: float | None = LIMIT_S, is_urgent: Callable[[], bool] | None = None
) -> Iterator[None]:
    """Raise `PageTimeout` inside the block after `seconds`; None sets no limit. Works in the main thread
    only. is_urgent: whether other work waits. It is called repeatedly after `UNINTERRUPTED_S`; when it
    returns true, `PageCancelled` is raised."""
    if seconds is None or not has_alarm():
        yield
        return
    if is_urgent is None:
        with alarm(seconds, PageTimeout):
            yield
        return
    end_s = time.monotonic() + seconds

    def judge() -> type[BaseException] | None:
        return PageTimeout if time.monotonic() >= end_s else PageCancelled if is_urgent() else None

    with alarm(min(UNINTERRUPTED_S, seconds), PageTimeout, interval_s=_POLL_S, choose_error=judge):
        yield
