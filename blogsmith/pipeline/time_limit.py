"""A limit for work on one page: a template that never ends must not take the whole preview with it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..base.timeout import alarm, has_alarm

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
