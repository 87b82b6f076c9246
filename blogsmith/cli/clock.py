"""Time, as the command line hands it to everything below."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable


_EPOCH = "SOURCE_DATE_EPOCH"


def system_now() -> dt.datetime:
    """The current moment in UTC, or that of SOURCE_DATE_EPOCH for reproducible builds."""
    import datetime as dt

    epoch = os.environ.get(_EPOCH, "")
    if not epoch:
        return dt.datetime.now(dt.UTC)
    try:
        return dt.datetime.fromtimestamp(int(epoch), dt.UTC)
    except (ValueError, OverflowError, OSError) as error:
        import click

        message = f'SOURCE_DATE_EPOCH is "{epoch}"; it must be a number of seconds since 1970'
        raise click.UsageError(message) from error


class Clocks:
    """The time of day and a stopwatch, handed in so that tests can hold them still."""

    __slots__ = ("now", "seconds", "started")

    def __init__(
        self,
        now: Callable[[], dt.datetime] = system_now,
        seconds: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.now = now
        """The moment the build counts as now, with a time zone."""
        self.seconds = seconds
        """A clock that only runs forward."""
        self.started = seconds()
        """What it showed when the command began."""

    @property
    def now_s(self) -> float:
        """The same moment in seconds since 1970."""
        # `datetime` is slow to import, and a build in which nothing has changed needs no date
        is_plain = self.now is system_now and not os.environ.get(_EPOCH)
        return time.time() if is_plain else self.now().timestamp()
