"""What files were when a session came to read them, so that a later save is not taken for what was read.

Taken as a file is opened, before anything is read. A file that the session may have changed itself has no
stamp, and nothing has one once another program was started: who wrote a file is no longer known then. A save
within one tick of the file system's clock that keeps the size is not seen.
"""

from __future__ import annotations

import os
from _frozen_importlib_external import source_from_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Stamp = list[int] | None
    """Size in bytes, time of the last write in ns, inode; None: none any more."""

SPAWNS = frozenset(
    (
        "os.exec",
        "os.fork",
        "os.forkpty",
        "os.posix_spawn",
        "os.spawn",
        "os.system",
        "pty.spawn",
        "subprocess.Popen",
    )
)
"""Audit events: another program starts."""


class FileStamps:
    """Of one session; `note` and `note_bytecode` are called while a file is opened."""

    def __init__(self) -> None:
        self._found: dict[str, list[int]] = {}
        """Absolute path → what was there when it was first opened."""
        self._own: set[str] = set()
        """Files that the session may have changed, by name."""
        self._reported: set[str] = set()
        self._new: dict[str, Stamp] = {}
        """Name → what has not been taken yet."""
        self._is_over = False

    def note(self, path: str) -> None:
        """A file is about to be read."""
        if self._is_over or path in self._found:
            return
        try:
            status = os.stat(path)  # noqa: PTH116 - pathlib costs 5 ms
        except (OSError, ValueError):
            return
        self._found[path] = [status.st_size, status.st_mtime_ns, status.st_ino]

    def note_bytecode(self, path: str) -> None:
        """A compiled module is looked for: it stands for its source, which may not be opened at all."""
        try:
            self.note(source_from_cache(path))
        except (ValueError, NotImplementedError):
            return

    def report(self, name: str, path: str) -> None:
        """A file counts as read or imported."""
        stamp = self._found.get(path)
        if stamp is not None and name not in self._own and name not in self._reported:
            self._reported.add(name)
            self._new[name] = stamp

    def retract(self, name: str) -> None:
        """The session may have changed a file, or is going to."""
        self._own.add(name)
        if name in self._reported:
            self._new[name] = None

    def end(self) -> None:
        """From here on nothing has a stamp."""
        self._is_over = True
        self._found.clear()
        self._new = dict.fromkeys(self._reported)

    def drain(self) -> dict[str, Stamp]:
        """What is new since the last call, by name."""
        new, self._new = self._new, {}
        return new
