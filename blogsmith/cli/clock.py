"""Clocks that the command line passes to other modules, so that none of them reads the time itself."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable


_EPOCH = "SOURCE_DATE_EPOCH"


def system_now() -> dt.datetime:
    """Return the current time in UTC, or the time in SOURCE_DATE_EPOCH for reproducible builds."""
    import datetime as dt

    epoch = os.environ.get(_EPOCH, "")
    if not epoch:
        return dt.datetime.now(dt.UTC)
    try:
        return dt.datetime.fromtimestamp(int(epoch), dt.UTC)
    except (ValueError, OverflowError, OSError) as error:
        import click

        message = f'invalid SOURCE_DATE_EPOCH "{epoch}": expected a number of seconds since 1970'
        raise click.UsageError(message) from error


class CommandClock:
    """Time of day and stopwatch, passed as an argument so that tests can control them."""

    __slots__ = ("now", "seconds", "started")

    def __init__(
        self,
        now: Callable[[], dt.datetime] = system_now,
        seconds: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.now = now
        """Returns the current time for the build, with a time zone."""
        self.seconds = seconds
        """Returns a monotonic time, in seconds."""
        self.started = seconds()
        """Value of `seconds` when the command started."""

    @property
    def now_s(self) -> float:
        """Current time in seconds since 1970."""
        # `datetime` is slow to import, and a build without changes does not need it.
        is_plain = self.now is system_now and not os.environ.get(_EPOCH)
        return time.time() if is_plain else self.now().timestamp()
