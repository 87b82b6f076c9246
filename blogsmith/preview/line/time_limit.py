"""A limit for work on one page: a template that never ends must not take the whole preview with it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

LIMIT_S = 10.0


class TookTooLong(BaseException):
    """The limit passed. Not an Exception: templates and lexers of third parties catch those."""


@contextmanager
def time_limit(seconds: float = LIMIT_S) -> Iterator[None]:
    """Raise TookTooLong inside after `seconds`. In the main thread only; elsewhere nothing is limited.

    Limits may be nested: an inner one gives the timer back as it found it.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise TookTooLong

    handler = signal.signal(signal.SIGALRM, ring)
    # rings again if the first one is lost where exceptions go nowhere
    timer = signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, signal.SIG_DFL if handler is None else handler)
