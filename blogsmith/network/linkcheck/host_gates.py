"""Rate limit for requests to hosts: one request to a host at a time, with a pause before the next."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock

from msgspec import Struct


class GateClock(Struct, frozen=True):
    """Functions for the current time and for waiting, which tests replace."""

    monotonic: Callable[[], float] = time.monotonic
    wait: Callable[[Event, float], object] = lambda stop, seconds: stop.wait(seconds)


class CheckCancelledError(Exception):
    """The whole check must end."""


class HostGates:
    """Lets the threads of a link check send one request at a time to each host, with pauses."""

    def __init__(self, pause_s: float, clock: GateClock) -> None:
        self._pause_s = pause_s
        self._clock = clock
        self._lock = Lock()
        self._gates: dict[str, Lock] = {}
        self._free_at: dict[str, float] = {}
        self.stop = Event()
        """Set when the check must end."""

    @contextmanager
    def turn(self, host: str) -> Iterator[None]:
        """Wait until a request to the host is allowed. CheckCancelledError if the check ends before."""
        with self._lock:
            gate = self._gates.setdefault(host, Lock())
        with gate:
            self._wait(self._free_at.get(host, 0.0) - self._clock.monotonic())
            try:
                yield
            finally:
                free_at = self._clock.monotonic() + self._pause_s
                self._free_at[host] = max(free_at, self._free_at.get(host, 0.0))

    def next_request_s(self, host: str) -> float:
        """Return the time, by the clock of the gates, when the next request to the host is allowed."""
        return self._free_at.get(host, 0.0)

    def delay(self, host: str, seconds: float) -> None:
        """Send no request to a host for some seconds, because it requested that."""
        self._free_at[host] = self._clock.monotonic() + seconds

    def _wait(self, seconds: float) -> None:
        if seconds > 0:
            self._clock.wait(self.stop, seconds)
        if self.stop.is_set():
            raise CheckCancelledError
