"""Limits of a session: its memory, and interrupts for cells that exceed their time limit."""

from __future__ import annotations

import resource
import signal
from _thread import get_ident
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

_SPARE_BYTES = 48 * 1024 * 1024


class MemoryLimit:
    """Memory limit (RLIMIT_DATA) for the author's code. The worker itself may use some memory beyond it, so
    that it can report that memory ran out."""

    def __init__(self, data_bytes: int | None) -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        self.limit = data_bytes
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        if data_bytes is None:
            return
        wanted = data_bytes + _SPARE_BYTES
        self._hard = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        self.hold()

    def hold(self) -> None:
        """Apply the limit to the author's code."""
        if self.limit is not None:
            self._set(min(self.limit, self._hard))

    def lift(self) -> None:
        """Allow the worker to use its reserve of memory."""
        if self.limit is not None:
            self._set(self._hard)

    def _set(self, count: int) -> None:
        with suppress(OSError, ValueError):  # the author's code has set a lower hard limit
            resource.setrlimit(resource.RLIMIT_DATA, (count, self._hard))


class Interrupts:
    """Handler of SIGINT, which the builder sends to a cell that takes too long. SIGINT has an effect only in
    cells. It is delayed while `hold` is active, for example while a frame is sent."""

    def __init__(self) -> None:
        self._allowed = False
        self._held = 0
        self._waiting = False
        self._thread = get_ident()

    def install(self) -> None:
        """Install the handler. Call this again before each cell, since the author's code may have replaced
        it."""
        signal.signal(signal.SIGINT, self._on_signal)

    def allow(self) -> None:
        """Make SIGINT raise `KeyboardInterrupt`."""
        self._waiting = False
        self._allowed = True

    def refuse(self) -> None:
        """Ignore SIGINT."""
        self._allowed = False

    def hold(self) -> None:
        """Delay SIGINT until `release`. Calls can be nested. Only the main thread is ever interrupted."""
        if get_ident() == self._thread:
            self._held += 1

    def release(self) -> None:
        """Raise a delayed interrupt."""
        if get_ident() == self._thread:
            self._held -= 1
            if self._waiting and not self._held:
                self._waiting = False
                raise KeyboardInterrupt

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if not self._allowed:
            return
        if self._held:
            self._waiting = True
        else:
            raise KeyboardInterrupt
