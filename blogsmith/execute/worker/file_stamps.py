"""Stamps of files when a session opened them, so that a later save is not mistaken for the content read.

A stamp is taken when a file is opened, before anything is read. A file that the session may have changed has
no stamp. After another program has started, no file has one, because it is unknown which program wrote a
file. A save within one tick of the file system's clock that does not change the size is not noticed.
"""

from __future__ import annotations

from _frozen_importlib_external import source_from_cache
from os import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Stamp = list[int] | None
    """Size in bytes, time of the last write in ns, inode; None if it was withdrawn."""

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
"""Audit events for the start of another program."""


class FileStamps:
    """Stamps of one session. `note` and `note_bytecode` are called while a file is opened."""

    def __init__(self) -> None:
        self._found: dict[str, list[int]] = {}
        """Absolute path → stamp when it was first opened."""
        self._own: set[str] = set()
        """Names of files that the session may have changed."""
        self._reported: set[str] = set()
        self._new: dict[str, Stamp] = {}
        """Name of a file or module → stamp that was not reported yet."""
        self._is_over = False

    def note(self, path: str) -> bool:
        """Note a file that is about to be read. Return whether it exists."""
        if path in self._found:
            return True
        try:
            status = stat(path)  # noqa: PTH116 - pathlib costs 5 ms
        except (OSError, ValueError):
            return False
        if not self._is_over:
            self._found[path] = [status.st_size, status.st_mtime_ns, status.st_ino]
        return True

    def note_bytecode(self, path: str) -> None:
        """Note the source of a compiled module that is about to be opened, as the source may not be opened at
        all."""
        try:
            self.note(source_from_cache(path))
        except (ValueError, NotImplementedError):
            return

    def report(self, name: str, path: str) -> None:
        """Report the stamp of a file that was read or imported, at the next call of `take_new`."""
        stamp = self._found.get(path)
        if stamp is not None and name not in self._own and name not in self._reported:
            self._reported.add(name)
            self._new[name] = stamp

    def withdraw(self, name: str) -> None:
        """Withdraw the stamp of a file that the session may have changed or is about to change."""
        self._own.add(name)
        if name in self._reported:
            self._new[name] = None

    def withdraw_all(self) -> None:
        """Withdraw all stamps, now and in the future."""
        self._is_over = True
        self._found.clear()
        self._new = dict.fromkeys(self._reported)

    def take_new(self) -> dict[str, Stamp]:
        """Return new stamps since the last call, by name."""
        new, self._new = self._new, {}
        return new
