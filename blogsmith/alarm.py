"""An end for work that may not end by itself: an exception in its midst after some seconds."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


def has_alarm() -> bool:
    """Whether `alarm` works here: only the main thread hears signals, and not every system has this one."""
    return threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")


@contextmanager
def alarm(seconds: float, error: type[BaseException]) -> Iterator[None]:
    """Raise `error` inside after `seconds`, also out of a regular expression: `re` looks for signals.

    Only where `has_alarm`. Alarms may be nested: an inner one gives the timer back as it found it.
    """

    def ring(number: int, frame: FrameType | None) -> None:
        raise error

    handler = signal.signal(signal.SIGALRM, ring)
    timer = (0.0, 0.0)
    try:
        try:
            # rings again if the first one is lost in a `__del__`, where exceptions go nowhere
            timer = signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_DFL if handler is None else handler)
        signal.setitimer(signal.ITIMER_REAL, *timer)
