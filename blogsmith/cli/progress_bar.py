"""Progress bar for builds that take longer than a second. A log gets a line every half minute instead.

rich is imported when the bar first appears, so that short builds and builds without a terminal do not import
it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

BAR_DELAY_S = 1.0
"""Seconds before the bar appears."""
LOG_INTERVAL_S = 30.0
"""Seconds between two lines of progress on a stream that is not a terminal."""


class ProgressBar:
    """Progress bar on `stream`, called with `(stage, done, total)`. Use it as a context manager."""

    def __init__(
        self,
        stream: TextIO,
        clock: Callable[[], float] = time.monotonic,
        *,
        is_quiet: bool = False,
    ) -> None:
        self._stream = stream
        self._clock = clock
        self._started = clock()
        self._enabled = not is_quiet
        self._is_terminal = stream.isatty()
        self._next_line = self._started + LOG_INTERVAL_S
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show that `done` of `total` steps of `stage` are finished."""
        now = self._clock()
        if not self._enabled or now - self._started < BAR_DELAY_S:
            return
        if not self._is_terminal:
            if now >= self._next_line:
                self._next_line = now + LOG_INTERVAL_S
                print(f"{stage}: {done} of {total}", file=self._stream, flush=True)
            return
        if self._bar is None:
            self._bar = _start_bar(self._stream)
        if self._task is None:
            self._task = self._bar.add_task(stage, total=total)
        self._bar.update(self._task, description=stage, completed=done, total=total)


def _start_bar(stream: TextIO) -> Progress:
    """Return a bar that is erased when it stops, so that only the summary remains."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    bar = Progress(*columns, console=Console(file=stream), transient=True)
    bar.start()
    return bar
