"""What a session may not exceed: memory, and the time the builder allows a cell."""

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
    """RLIMIT_DATA, and a little more of it for us: to report that memory ran out takes memory."""

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
        """Let the limit count."""
        if self.limit is not None:
            self._set(min(self.limit, self._hard))

    def lift(self) -> None:
        """Allow the spare memory too."""
        if self.limit is not None:
            self._set(self._hard)

    def _set(self, count: int) -> None:
        with suppress(OSError, ValueError):  # an author's code has set a lower one for good
            resource.setrlimit(resource.RLIMIT_DATA, (count, self._hard))


class Interrupts:
    """SIGINT is how the builder ends a cell that takes too long: it counts in cells only.

    While it is held, as around a frame that must not be torn, it waits.
    """

    def __init__(self) -> None:
        self._allowed = False
        self._held = 0
        self._waiting = False
        self._thread = get_ident()

    def install(self) -> None:
        """Take SIGINT over; again before each cell, since an author's code may have taken it."""
        signal.signal(signal.SIGINT, self._on_signal)

    def allow(self) -> None:
        """From here on SIGINT raises KeyboardInterrupt."""
        self._waiting = False
        self._allowed = True

    def refuse(self) -> None:
        """From here on SIGINT is ignored."""
        self._allowed = False

    def hold(self) -> None:
        """Let SIGINT wait until `release`; nests. Only the main thread is ever interrupted."""
        if get_ident() == self._thread:
            self._held += 1

    def release(self) -> None:
        """Raise what has waited."""
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
