"""Where hints of changes come from, whatever the system."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Protocol

from .hints import HintQueue


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
