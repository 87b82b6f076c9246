"""Connections with a thread each, at most so many; who has to go when another one comes.

A program on this machine may open as many as it likes and say little on each: to count by address would not
tell it from a browser. What counts is whether a request is there as a whole. Who has not said it goes first,
the one that came first before the others; so a browser, which says it at once, finds room however many wait.
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Condition, Thread
from time import monotonic

from .connection import Connection
from .limits import ClientLimits


class Admission:
    """Filled by the thread that accepts, emptied by those of the connections."""

    def __init__(self, limits: ClientLimits) -> None:
        self._limits = limits
        self._changed = Condition()
        self._threads: dict[Connection, Thread] = {}
        self._is_closed = False

    def __iter__(self) -> Iterator[Connection]:
        with self._changed:
            return iter(list(self._threads))

    def __len__(self) -> int:
        return len(self._threads)

    def enter(self, connection: Connection, thread: Thread) -> bool:
        """Whether there is room, after somebody else had to go if need be."""
        until_s = monotonic() + self._limits.admission_s
        with self._changed:
            while len(self._threads) >= self._limits.connections and not self._is_closed:
                now_s = monotonic()
                if now_s >= until_s:
                    return False
                if (oldest := self._most_dispensable(now_s)) is not None:
                    oldest.evict()
                self._changed.wait(min(self._limits.eviction_s, until_s - now_s))
            if not self._is_closed:
                self._threads[connection] = thread
            return not self._is_closed

    def leave(self, connection: Connection) -> None:
        """Its thread is about to end."""
        with self._changed:
            del self._threads[connection]
            self._changed.notify_all()

    def close(self) -> tuple[Thread, ...]:
        """Hang up everywhere, and let nobody in any more; gives the threads that will end now."""
        with self._changed:
            self._is_closed = True
            for connection in self._threads:
                connection.hang_up()
            self._changed.notify_all()
            return tuple(self._threads.values())

    def _most_dispensable(self, now_s: float) -> Connection | None:
        by_rank = {
            rank: connection
            for connection in self._threads
            if (rank := _rank(connection, now_s, self._limits.stall_s)) is not None
        }
        return by_rank[min(by_rank)] if by_rank else None


def _rank(connection: Connection, now_s: float, stall_s: float) -> tuple[int, float] | None:
    """The lower, the sooner it goes; None: it stays."""
    if connection.is_evicted:
        return None
    if connection.is_asking:
        # a browser keeps connections for what it asks next, and opens others without a word
        return int(connection.is_idle), connection.since_s
    is_stalled = connection.is_sending and now_s - connection.since_s > stall_s
    return (2, connection.since_s) if is_stalled else None
