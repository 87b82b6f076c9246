"""Whether the system reports changes at all: mounts of containers, networks and virtual machines may not."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from .notifier import Notifier

PROBE_S = 3.0
"""An event takes less than a millisecond, but the thread that reads it may wait for long on a busy
machine, while a large site is read. Until then what changes is found by comparing."""


@dataclass(slots=True)
class Probe:
    """A file of our own that is written to see whether it is noticed."""

    folder: str
    """The site's folder for what is kept on this machine; made if it is missing."""
    until_s: float
    """When to give up, in seconds of `time.monotonic`."""
    place: str = field(init=False)

    def __post_init__(self) -> None:
        self.place = str(Path(self.folder, f"watch-{os.getpid()}"))

    def write(self, notifier: Notifier) -> bool:
        """Whether there is something to wait for: a site that cannot be written is not probed."""
        try:
            Path(self.folder).mkdir(exist_ok=True)
            notifier.watch(self.folder, Path(self.folder).stat().st_ino, alone=True)
            Path(self.place).write_bytes(b"")
        except OSError:
            return False
        return True

    def remove(self) -> None:
        """Leave no trace."""
        with suppress(OSError):
            Path(self.place).unlink()
