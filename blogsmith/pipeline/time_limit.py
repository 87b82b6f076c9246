"""A limit for work on one page: a template that never ends must not take the whole preview with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..render.timeout import alarm, has_alarm

LIMIT_S = 10.0


class TookTooLong(BaseException):
    """The limit passed. Not an Exception: templates and lexers of third parties catch those."""


@contextmanager
def time_limit(seconds: float | None = LIMIT_S) -> Iterator[None]:
    """Raise TookTooLong inside after `seconds`, None: never. In the main thread only, elsewhere never."""
    if seconds is None or not has_alarm():
        yield
        return
    with alarm(seconds, TookTooLong):
        yield
