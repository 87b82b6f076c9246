"""Test whether the system reports changes at all. In containers, on network drives and in virtual machines it
may not."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from ..base.storage.own_folder import OWN_FOLDER, open_own_folder
from .hints import Notifier, WatchError

PROBE_S = 3.0
"""Duration of an attempt in seconds. An event takes less than a millisecond, but on a busy machine the thread
that reads it may wait long, while a large site is read. Meanwhile changes are found by comparing files."""
PAUSE_S = 5.0
"""Time in seconds between a failed attempt and the next one. It doubles after each attempt."""
MAX_PAUSE_S = 300.0
"""Maximum time in seconds between two attempts. It is long, so that a folder without events costs nothing."""


@dataclass(slots=True)
class EventProbe:
    """A file that is written to test whether events arrive, again and again until an event arrives. An event
    is accepted however late it arrives, even between two attempts."""

    root: Path
    """Site root. The file is in its folder for local data, which is created if it is missing."""
    folder: str = field(init=False)
    """The folder of the file."""
    place: str = field(init=False)
    attempt_s: float = field(init=False)
    """Duration of an attempt in seconds."""
    is_waiting: bool = False
    """Whether the file exists and its event has not arrived yet."""
    next_s: float = 0.0
    """End of this attempt, or start of the next one, in seconds by `time.monotonic`."""
    _name: str = field(init=False)
    _pause_s: float = field(init=False)

    def __post_init__(self) -> None:
        place = self.root / OWN_FOLDER / f"watch-{os.getpid()}"
        self.folder, self.place, self._name = str(place.parent), str(place), place.name
        self.attempt_s, self._pause_s = PROBE_S, PAUSE_S

    def write(self, notifier: Notifier, now_s: float) -> bool:
        """Write the file. Return whether an event can be expected: False if the site is read-only."""
        self.remove()
        try:
            with open_own_folder(self.root) as folder:
                notifier.watch(self.folder, folder.own_status().st_ino, alone=True)
                folder.create(self._name).close()
        except (OSError, WatchError):
            return False
        self.is_waiting, self.next_s = True, now_s + self.attempt_s
        return True

    def pause(self, now_s: float) -> None:
        """End an attempt without an event. Each pause before the next attempt is longer."""
        self.remove()
        self.is_waiting, self.next_s = False, now_s + self._pause_s
        self._pause_s = min(2 * self._pause_s, MAX_PAUSE_S)

    def remove(self) -> None:
        with suppress(OSError), open_own_folder(self.root, make=False) as folder:
            folder.remove(self._name)
