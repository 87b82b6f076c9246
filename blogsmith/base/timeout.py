"""Time limits: an exception inside work that may not end by itself, such as one page of a preview.

Source: setitimer(2).
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


def has_alarm() -> bool:
    """Whether `alarm` works here: only the main thread hears signals, and not every system has this one."""
    return threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")


@contextmanager
def alarm(
    seconds: float,
    error: type[BaseException],
    *,
    working: bool = False,
    again_s: float = 1.0,
    judge: Callable[[], type[BaseException] | None] | None = None,
) -> Iterator[None]:
    """Raise `error` inside after `seconds`, also out of a regular expression: `re` looks for signals.

    Only where `has_alarm`. Alarms may be nested: an inner one gives the timer back as it found it. working:
    seconds of the processor, so that a busy machine gives the same result; what waits is not ended.
    judge: asked then, and every `again_s` after it; what it gives is raised in place of `error`.
    """
    timer, number = (signal.ITIMER_PROF, signal.SIGPROF) if working else (signal.ITIMER_REAL, signal.SIGALRM)

    rung: type[BaseException] | None = None

    def ring(number: int, frame: FrameType | None) -> None:
        nonlocal rung
        rung = judge() if judge else error
        if rung:
            raise rung

    handler = signal.signal(number, ring)
    before = (0.0, 0.0)
    try:
        try:
            # rings again if the first one is lost in a `__del__`, where exceptions go nowhere
            before = signal.setitimer(timer, seconds, again_s)
            yield
            if rung:
                # it was lost, and the work has ended before the next
                raise rung
        finally:
            signal.setitimer(timer, 0)
    finally:
        signal.signal(number, signal.SIG_DFL if handler is None else handler)
        signal.setitimer(timer, *before)


# A template that never ends must not take the whole preview with it.

LIMIT_S = 10.0
PATIENT_S = 1.0
"""So long nothing is urgent enough for a page to be given up."""
_LOOK_S = 0.1


class TookTooLong(BaseException):
    """The limit passed. Not an Exception: templates and lexers of third parties catch those."""


class PageGivenUp(BaseException):
    """Something else is more urgent than the page; not to be caught on the way."""


@contextmanager
def time_limit(
    seconds: float | None = LIMIT_S, is_urgent: Callable[[], bool] | None = None
) -> Iterator[None]:
    """Raise TookTooLong inside after `seconds`, None: never. In the main thread only, elsewhere never.

    is_urgent: whether something waits for the page to be given up, asked again and again after a while:
    PageGivenUp.
    """
    if seconds is None or not has_alarm():
        yield
        return
    if is_urgent is None:
        with alarm(seconds, TookTooLong):
            yield
        return
    end_s = time.monotonic() + seconds

    def judge() -> type[BaseException] | None:
        return TookTooLong if time.monotonic() >= end_s else PageGivenUp if is_urgent() else None

    with alarm(min(PATIENT_S, seconds), TookTooLong, again_s=_LOOK_S, judge=judge):
        yield
