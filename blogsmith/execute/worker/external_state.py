"""Tracks external state: files and folders that a session has read or changed. A fork of its process does not
include them.

A checkpoint is valid only while files, folders and packages are as its session left them. It also requires
that running the cells again would leave them in the same state. This module uses audit events and the number
of bytes that the process has written. It cannot observe searches for files that do not exist, or the network.
"""

from __future__ import annotations

import sys
from _frozen_importlib_external import source_from_cache
from os import O_APPEND, listdir, stat
from typing import TYPE_CHECKING

from .file_stamps import SPAWNS

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Stamp = tuple[object, ...]
    """Values that distinguish two states of a file or folder."""

_CHANGES = {
    "os.chmod": 1,
    "os.chown": 1,
    "os.link": 2,
    "os.mkdir": 1,
    "os.remove": 1,
    "os.removexattr": 1,
    "os.rename": 2,
    "os.rmdir": 1,
    "os.setxattr": 1,
    "os.symlink": 2,
    "os.truncate": 1,
    "os.utime": 1,
    "shutil.rmtree": 1,
}
"""Name of an audit event → number of its first arguments that are paths of changed files."""
_LISTINGS = frozenset(("os.listdir", "os.scandir"))
_DATABASE = "sqlite3.connect"
_IN_MEMORY = ("", ":memory:", b"", b":memory:")
_WATCHED = frozenset((*SPAWNS, *_CHANGES, *_LISTINGS, _DATABASE))
_PACKAGES = ("/site-packages", "/dist-packages")
_SYSTEM = ("/dev/", "/proc/", "/sys/")
_SHARED_MEMORY = "/dev/shm/"
"""Folder for shared memory. Its files are treated like others, because a site may be located there."""
_IMPORTER = "<frozen importlib"
_MAX_FILES = 20_000
"""Maximum number of files that are compared before a checkpoint is used."""


class ExternalState:
    """External state of one session. absolute: converts the path of an audit event to an absolute path;
    returns an empty string if the argument is not a path."""

    def __init__(self, absolute: Callable[[object], str]) -> None:
        self._absolute = absolute
        library = "/lib/python{}.{}/".format(*sys.version_info)
        self._skipped = (sys.prefix + library, sys.base_prefix + library)
        self._read: dict[str, Stamp | None] = {}
        """Absolute path of a file → its stamp when it was first opened; None if it did not exist."""
        self._listed: dict[str, Stamp | None] = {}
        """Absolute path of a listed folder → stamp of the names in it when it was first listed."""
        self._before: dict[str, Stamp | None] = {}
        """Path that a cell changed → its stamp before the change; None if it did not exist."""
        self._after: dict[str, Stamp | None] = {}
        """Path that a cell changed → its stamp after the last cell; None if it did not exist."""
        self._packages: dict[str, Stamp | None] = {}
        self._refusal = ""
        """Reason why no checkpoint is possible any longer, as a message."""
        self._has_opened = False
        """Whether a file was opened for writing since the last call of `refusal`."""
        self._unknown_bytes = 0
        self._is_looking = False

    def note_open(self, path: str, access: str, flags: int) -> None:
        """Note that a file is about to be opened. path: absolute path. access: kind of access, as in
        `file_access`."""
        if access != "read":
            self._has_opened = True
            self._note_change(path, is_kept=access == "update" or bool(flags & O_APPEND))
        elif path not in self._read and not self._is_ignored(path):
            path = _source_path(path)
            if path not in self._before:
                self._read.setdefault(path, _stamp(path))

    def note(self, event: str, args: tuple[Any, ...]) -> None:
        """Note any other event of the audit hook."""
        if event not in _WATCHED or self._is_looking:
            return
        if event in _LISTINGS:
            self._note_listing(args[0])
        elif event in SPAWNS:
            self._refuse("it has started another program")
        elif event == _DATABASE:
            if args[0] not in _IN_MEMORY:
                self._refuse("it has opened a database")
        else:
            for path in args[: _CHANGES[event]]:
                self._note_change(self._absolute(path))

    def _note_listing(self, written: object) -> None:
        # Imports list folders too; the modules they find are tracked separately.
        if sys._getframe(3).f_code.co_filename.startswith(_IMPORTER):
            return
        path = self._absolute("." if written is None else written)
        if path and path not in self._listed and not self._is_ignored(path):
            self._listed[path] = self._names(path)

    def _note_change(self, path: str, *, is_kept: bool = False) -> None:
        """Note that a file changes. is_kept: whether a part of the existing file remains."""
        if not path or _is_system_path(path):
            return
        if path not in self._before:
            self._before[path] = _stamp(path)
            is_kept = is_kept and bool(self._before[path])
            if self._read.get(path):
                is_kept = True
        if is_kept:
            self._refuse(f"it changes {path}, which existed before")

    def _refuse(self, reason: str) -> None:
        self._refusal = self._refusal or reason

    def _is_ignored(self, path: str) -> bool:
        return (
            path.startswith(self._skipped) or _is_system_path(path) or any(part in path for part in _PACKAGES)
        )

    def _names(self, folder: str) -> Stamp | None:
        self._is_looking = True
        try:
            return tuple(sorted(listdir(folder)))  # noqa: PTH208
        except OSError:
            return None
        finally:
            self._is_looking = False

    def begin_process(self, known_bytes: int) -> None:
        """Ignore all bytes that this process has written so far. known_bytes: as for `refusal`."""
        self._unknown_bytes, self._has_opened = (_written_bytes() or 0) - known_bytes, False

    def refusal(self, known_bytes: int) -> str:
        """Return why no checkpoint is possible now, as a message. Empty if one is possible; `changed` later
        compares with the state at this call. known_bytes: number of bytes that this process has written to
        the builder."""
        written = _written_bytes()
        if written is None:
            return "this system does not report what a process has written"
        if written - known_bytes > self._unknown_bytes and not self._has_opened:
            self._refuse("native code has written to a file")
        self._unknown_bytes, self._has_opened = written - known_bytes, False
        if self._refusal:
            return self._refusal
        if len(self._read) + len(self._before) > _MAX_FILES:
            return f"it uses more than {_MAX_FILES} files"
        self._after = {path: _stamp(path) for path in self._before}
        for path, stamp in self._after.items():
            if (stamp is None) != (self._before[path] is None):
                return f"it {'removes' if stamp is None else 'creates'} {path}"
        self._packages = {path: _stamp(path, folders=True) for path in sys.path if path.endswith(_PACKAGES)}
        return ""

    def changed(self) -> str:
        """Return the name of a file or folder that is not as the session left it. Empty if there is none."""
        for path, stamp in (*self._read.items(), *self._after.items()):
            if _stamp(path) != stamp:
                return path
        for path, stamp in self._packages.items():
            if _stamp(path, folders=True) != stamp:
                return path
        return next((path for path, names in self._listed.items() if self._names(path) != names), "")


def _is_system_path(path: str) -> bool:
    return path.startswith(_SYSTEM) and not path.startswith(_SHARED_MEMORY)


def _stamp(path: str, *, folders: bool = False) -> Stamp | None:
    """Return values that differ between two states of a path; None if it does not exist. folders: whether to
    include the time when a folder was last changed."""
    try:
        status = stat(path)  # noqa: PTH116 - pathlib costs 5 ms
    except (OSError, ValueError):
        return None
    if (status.st_mode & 0o170000) == 0o040000 and not folders:
        return ("folder",)
    return status.st_mode, status.st_size, status.st_mtime_ns, status.st_ino


def _source_path(path: str) -> str:
    """Return the source path of a `.pyc` file, which Python may load without opening the source."""
    if path.endswith(".pyc"):
        try:
            return source_from_cache(path)
        except (ValueError, NotImplementedError):
            pass
    return path


def _written_bytes() -> int | None:
    """Return the number of bytes that this process has written to files, pipes and sockets. None if the
    system does not count them."""
    try:
        with open("/proc/self/io", "rb") as file:  # noqa: PTH123 - pathlib costs 5 ms
            lines = file.read().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith(b"wchar:")), None)
