"""Hints from the operating system that files may have changed. They are grouped into bursts, which contain
events that come close together."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Set
from dataclasses import dataclass, field
from typing import Protocol

QUIET_S = 0.010
"""Time in seconds without an event after which a burst ends."""
DONE_QUIET_S = 0.002
"""Time in seconds without an event after which a burst ends, if every file that was written in it has been
closed."""
MAX_BURST_S = 0.100
"""Maximum duration of a burst in seconds; longer ones are split."""


@dataclass(frozen=True, slots=True)
class EventBatch:
    """The events of one burst."""

    places: dict[str, bool] = field(default_factory=dict)
    """Path with links resolved → whether the file was open for writing at its last event."""
    overflow: bool = False
    """Whether the system lost events."""
    rescan: bool = False
    """Whether to compare all files."""


class HintQueue:
    """A queue of hints, filled by any thread and emptied by one thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._places: dict[str, bool] = {}
        self._overflow = False
        self._first_s = 0.0
        self._last_s = 0.0
        self._closed = False

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def add(self, place: str, *, writing: bool = False) -> None:
        """Record that something may have changed at `place`. writing: whether more events follow before the
        file is closed."""
        with self._changed:
            self._note()
            self._places[place] = writing

    def add_overflow(self) -> None:
        """Record that events were lost."""
        with self._changed:
            self._note()
            self._overflow = True

    def close(self) -> None:
        """Close the queue. `next_batch` returns immediately from now on."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def next_batch(self, wait_s: float) -> EventBatch | None:
        """Return the next burst. Return None if none starts within `wait_s` seconds, or if the queue is
        closed."""
        with self._changed:
            self._await_first(time.monotonic() + wait_s)
            self._await_quiet()
            if self._closed or not self._has_hints():
                return None
            burst = EventBatch(self._places, self._overflow)
            self._places, self._overflow = {}, False
            return burst

    def _has_hints(self) -> bool:
        return bool(self._places) or self._overflow

    def _note(self) -> None:
        self._last_s = time.monotonic()
        # the wait is once per burst: a checkout makes thousands of events, and waking a thread for each slows
        # it down
        if not self._has_hints():
            self._first_s = self._last_s
            self._changed.notify_all()

    def _await_first(self, until_s: float) -> None:
        while not self._closed and not self._has_hints():
            left_s = until_s - time.monotonic()
            if left_s <= 0:
                return
            self._changed.wait(left_s)

    def _await_quiet(self) -> None:
        while self._has_hints() and not self._closed:
            quiet_s = QUIET_S if any(self._places.values()) else DONE_QUIET_S
            left_s = min(self._last_s + quiet_s, self._first_s + MAX_BURST_S) - time.monotonic()
            if left_s <= 0:
                return
            # not every event wakes this thread, and the one that closes the file may come soon
            self._changed.wait(min(left_s, DONE_QUIET_S))


class WatchError(Exception):
    """The system cannot watch more folders, or cannot watch any. The message gives the reason."""


class Notifier(Protocol):
    """Interface of classes that add events of folders to a `HintQueue`."""

    def watch(self, folder: str, inode: int, *, alone: bool) -> None:
        """Watch `folder`, a path without links. inode: inode of the folder; if it has changed, another folder
        now has this name. alone: do not watch its subfolders. Raise WatchError if the folder cannot be
        watched."""

    def keep_only(self, folders: Set[str]) -> None:
        """Stop watching all folders except these."""

    def stop(self) -> None:
        """Release all system resources."""


OpenNotifier = Callable[[HintQueue], Notifier]
