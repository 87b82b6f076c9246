"""Whose turn it is at a host: one question at a time, with a pause between two of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock

from msgspec import Struct


class Clock(Struct, frozen=True):
    """What time it is, and how it passes; another one in tests."""

    monotonic: Callable[[], float] = time.monotonic
    wait: Callable[[Event, float], object] = lambda stop, seconds: stop.wait(seconds)


class CheckStopped(Exception):
    """The whole check is to end."""


class HostGates:
    """Belongs to one check; used by many threads."""

    def __init__(self, pause_s: float, clock: Clock) -> None:
        self._pause_s = pause_s
        self._clock = clock
        self._lock = Lock()
        self._gates: dict[str, Lock] = {}
        self._free_at: dict[str, float] = {}
        self.stop = Event()
        """Set when the check is to end."""

    @contextmanager
    def turn(self, host: str) -> Iterator[None]:
        """Wait until the host may be asked; CheckStopped if the check ends meanwhile."""
        with self._lock:
            gate = self._gates.setdefault(host, Lock())
        with gate:
            self._wait(self._free_at.get(host, 0.0) - self._clock.monotonic())
            try:
                yield
            finally:
                free_at = self._clock.monotonic() + self._pause_s
                self._free_at[host] = max(free_at, self._free_at.get(host, 0.0))

    def free_at(self, host: str) -> float:
        """When the host may be asked again, by the clock."""
        return self._free_at.get(host, 0.0)

    def hold_back(self, host: str, seconds: float) -> None:
        """Let a host alone for longer: it has asked for that."""
        self._free_at[host] = self._clock.monotonic() + seconds

    def _wait(self, seconds: float) -> None:
        if seconds > 0:
            self._clock.wait(self.stop, seconds)
        if self.stop.is_set():
            raise CheckStopped
