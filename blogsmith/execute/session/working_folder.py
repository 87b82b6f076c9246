"""Temporary folders of runs, and removal of folders left by killed processes.

A run has one locked folder. Each session has a subfolder named by its mark. A process that is killed removes
nothing. So the next run searches for unlocked folders, ends the remaining processes of their sessions, and
removes the folders. A folder is not removed while a checkpoint in it waits for later builders.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

SOCKET = ".socket"
"""Suffix of the sockets of checkpoints that wait for later builders."""
_PREFIX = "blogsmith-"
_SESSION = re.compile(r"[0-9a-f]{13}")
_MIN_AGE_S = 10.0
"""Age in seconds below which a folder is not removed, because its process may not have locked it yet."""


@contextmanager
def working_folder() -> Iterator[Path]:
    """Yield a folder for everything that the sessions of one run write."""
    if sys.platform != "win32":
        _remove_abandoned(Path(tempfile.gettempdir()))
    folder = tempfile.mkdtemp(prefix=_PREFIX)
    held = lock_folder(folder)
    try:
        yield Path(folder)
    finally:
        if not _sockets(folder):
            _remove(folder)
        if held is not None:
            os.close(held)


def run_folders() -> list[Path]:
    """Return the temporary folders of all runs of this user, except those that other users can enter."""
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        return [Path(entry.path) for entry in entries if _is_own(entry)]
    return []


def note_use(file: Path) -> None:
    """Set the time of a file's last change to now."""
    with suppress(OSError):
        os.utime(file)


class SessionFolder:
    """Folder of a session and of the sessions that resume from its checkpoints. It is removed when none of
    them uses it any longer."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._turn = threading.Lock()
        self._lock = threading.Lock()
        self._holders = 1

    def add_user(self) -> None:
        """Count one more user of the folder, which must have at least one already."""
        with self._lock:
            self._holders += 1

    def remove_user(self) -> None:
        with self._lock:
            self._holders -= 1
            is_free = not self._holders
        if is_free:
            shutil.rmtree(self.path, ignore_errors=True)

    def begin_turn(self, wait_s: float) -> bool:
        """Wait until no other session uses the folder, then use it. Return False if that takes longer than
        `wait_s` seconds. Only one session uses the folder at a time, and finds it empty."""
        if not self.path.is_dir() or not self._turn.acquire(timeout=wait_s):
            return False
        self.add_user()
        return True

    def end_turn(self) -> None:
        """Empty the folder after a session, so that the next one can use it."""
        self.empty()
        self._turn.release()
        self.remove_user()

    def empty(self) -> None:
        with suppress(OSError), os.scandir(self.path) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    os.unlink(entry.path)  # noqa: PTH108 - an entry, not a path


@contextmanager
def session_folder(parent: str | None, number: int) -> Iterator[SessionFolder]:
    """Yield a folder for one session. parent: parent folder; None for the system's temporary folder. number:
    number of the session's mark."""
    path = Path(parent or tempfile.gettempdir()) / f"{number:x}"
    path.mkdir(mode=0o700)
    folder = SessionFolder(path)
    folder.begin_turn(0)
    folder.remove_user()
    try:
        yield folder
    finally:
        folder.end_turn()


@contextmanager
def mark_folder(beside: Path, number: int) -> Iterator[None]:
    """Create a folder whose name is a mark, so that `working_folder` of a later run finds the mark's
    processes. It stays empty."""
    path = beside.with_name(f"{number:x}")
    with suppress(OSError):
        path.mkdir(mode=0o700)
    try:
        yield
    finally:
        with suppress(OSError):
            path.rmdir()


def _remove_abandoned(temporary: Path) -> None:
    """Remove the folders of runs that have ended, and end the remaining processes of these runs."""
    with suppress(OSError), os.scandir(temporary) as entries:
        for entry in entries:
            if _is_own(entry) and _is_abandoned(entry):
                _end_sessions(entry.path)
                _remove(entry.path)


def _remove(folder: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if Path(folder).exists():  # a cell may have left folders that nobody may change
        for inner, folders, _ in os.walk(folder):
            for path in (Path(inner, name) for name in folders):
                with suppress(OSError):
                    if not path.is_symlink():
                        path.chmod(0o700)
        shutil.rmtree(folder, ignore_errors=True)


def _is_own(entry: os.DirEntry[str]) -> bool:
    """Return whether a directory entry is the folder of a run of this user."""
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    is_private = status.st_uid == os.getuid() and not status.st_mode & 0o077
    return entry.name.startswith(_PREFIX) and stat.S_ISDIR(status.st_mode) and is_private


def _is_abandoned(entry: os.DirEntry[str]) -> bool:
    """Return whether no process has locked the folder of a run, and no checkpoint waits in it."""
    try:
        if time.time() - entry.stat().st_mtime < _MIN_AGE_S:
            return False
        held = lock_folder(entry.path)
    except OSError:
        return False
    if held is None:
        return False
    is_used = any(map(_is_listening, _sockets(entry.path)))
    os.close(held)
    return not is_used


def _sockets(folder: str) -> list[str]:
    with suppress(OSError):
        return [str(path) for path in Path(folder).iterdir() if path.suffix == SOCKET]
    return []


def _is_listening(path: str) -> bool:
    """Return whether a process waits at a socket."""
    with socket.socket(socket.AF_UNIX) as end:
        end.setblocking(False)
        try:
            end.connect(path)
        except BlockingIOError:  # others wait too
            return True
        except OSError:
            return False
    return True


def _end_sessions(folder: str) -> None:
    # imported late: needed only if another run left processes
    from .reaper import Mark, end_survivors

    for part in Path(folder).iterdir():
        if _SESSION.fullmatch(part.name):
            for in_limits in (True, False):
                end_survivors(Mark(int(part.name, 16), in_limits))


def lock_folder(folder: str, *, shared: bool = False) -> int | None:
    """Return a descriptor that locks the folder. None if another process has locked the folder, or if the
    system lacks such locks. shared: whether others may hold a shared lock at the same time."""
    try:
        import fcntl
    except ImportError:
        return None
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
