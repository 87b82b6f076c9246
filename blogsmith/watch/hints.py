"""Hints that something changed, whatever system gives them, handed on when a burst is over."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Set
from dataclasses import dataclass, field
from typing import Protocol

QUIET_S = 0.010
"""A burst is over when nothing has come for this long …"""
DONE_QUIET_S = 0.002
"""… or for this long, if every file that was written has been closed."""
MAX_BURST_S = 0.100
"""Bursts that do not end are cut."""


@dataclass(frozen=True, slots=True)
class EventBatch:
    """What came together."""

    places: dict[str, bool] = field(default_factory=dict)
    """Path with links resolved → whether a file there was being written when last heard of."""
    overflow: bool = False
    """Whether the system lost events."""
    rescan: bool = False
    """Whether to compare all files."""


class HintQueue:
    """Filled by any thread, emptied by one."""

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
        """Something may have changed at `place`; writing: more is to come before the file is closed."""
        with self._changed:
            self._note()
            self._places[place] = writing

    def overflow(self) -> None:
        """Events were lost."""
        with self._changed:
            self._note()
            self._overflow = True

    def close(self) -> None:
        """Let `take` return at once, now and always."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def next_batch(self, wait_s: float) -> EventBatch | None:
        """The next burst; None if none begins within `wait_s`, or after `close`."""
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
        # once per burst: a checkout makes thousands of events, and to wake a thread for each slows them down
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
            # not notified of each event; the one that closes the file may be a moment away
            self._changed.wait(min(left_s, DONE_QUIET_S))


class CannotWatch(Exception):
    """The system watches no more folders, or none at all; the text says why."""


class Notifier(Protocol):
    """Adds to `HintQueue` what happens in folders."""

    def watch(self, folder: str, inode: int, *, alone: bool) -> None:
        """Watch a folder (links resolved); raises CannotWatch. A new inode is a new folder of the same name.

        alone: what is below its own folders does not count.
        """

    def keep(self, folders: Set[str]) -> None:
        """Watch no others than these any more."""

    def stop(self) -> None:
        """Give everything back to the system."""


OpenNotifier = Callable[[HintQueue], Notifier]
