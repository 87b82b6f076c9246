"""Stamps of files, taken when a session opens them, so that a later version of a file is not mistaken for the
content that was read.

A stamp is taken before anything is read. A file that the session may have changed has no stamp. After another
program has started, no file has a stamp, because that program may have written any file. A change is not
noticed if it happens within one tick of the file system's clock and leaves the size unchanged.
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
    """Stamps of one session. Call `note` or `note_bytecode` when a file is about to be opened."""

    def __init__(self) -> None:
        self._found: dict[str, list[int]] = {}
        """Absolute path → stamp of the file when it was first opened."""
        self._own: set[str] = set()
        """Names of files that the session may have changed."""
        self._reported: set[str] = set()
        self._new: dict[str, Stamp] = {}
        """Name of a file or module → stamp that was not yet returned by `take_new`."""
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
        """Note the source file of a compiled module that is about to be opened, as Python may not open the
        source itself."""
        try:
            self.note(source_from_cache(path))
        except (ValueError, NotImplementedError):
            return

    def report(self, name: str, path: str) -> None:
        """Include the stamp of a file that was read or imported in the result of the next `take_new`."""
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
