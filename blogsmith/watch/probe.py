"""Whether the system reports changes at all: mounts of containers, networks and virtual machines may not."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from ..base.storage.own_folder import OWN_FOLDER, open_own_folder
from .hints import CannotWatch, Notifier

PROBE_S = 3.0
"""An event takes less than a millisecond, but the thread that reads it may wait for long on a busy
machine, while a large site is read. Until then what changes is found by comparing."""
PAUSE_S = 5.0
"""How long after an attempt without an answer there is another …"""
MAX_PAUSE_S = 300.0
"""… and at most, after pauses that double: a folder that never reports is to cost nothing."""


@dataclass(slots=True)
class EventProbe:
    """A file of our own that is written to see whether it is noticed, again and again until it is.

    An answer is an answer however late it comes, also between two attempts.
    """

    root: Path
    """The site; its folder for what is kept on this machine is made if it is missing."""
    folder: str = field(init=False)
    """That folder."""
    place: str = field(init=False)
    patience_s: float = field(init=False)
    """How long an attempt lasts."""
    is_waiting: bool = False
    """Whether the file is there and its event is waited for."""
    next_s: float = 0.0
    """When to give up this attempt, or to make the next one, in seconds of `time.monotonic`."""
    _name: str = field(init=False)
    _pause_s: float = field(init=False)

    def __post_init__(self) -> None:
        place = self.root / OWN_FOLDER / f"watch-{os.getpid()}"
        self.folder, self.place, self._name = str(place.parent), str(place), place.name
        self.patience_s, self._pause_s = PROBE_S, PAUSE_S

    def write(self, notifier: Notifier, now_s: float) -> bool:
        """Whether there is something to wait for: a site that cannot be written is not probed."""
        self.remove()
        try:
            with open_own_folder(self.root) as folder:
                notifier.watch(self.folder, folder.own_status().st_ino, alone=True)
                folder.create(self._name).close()
        except (OSError, CannotWatch):
            return False
        self.is_waiting, self.next_s = True, now_s + self.patience_s
        return True

    def pause(self, now_s: float) -> None:
        """No answer for now: the next attempt comes later, and the one after it later still."""
        self.remove()
        self.is_waiting, self.next_s = False, now_s + self._pause_s
        self._pause_s = min(2 * self._pause_s, MAX_PAUSE_S)

    def remove(self) -> None:
        """Leave no trace."""
        with suppress(OSError), open_own_folder(self.root, make=False) as folder:
            folder.remove(self._name)
