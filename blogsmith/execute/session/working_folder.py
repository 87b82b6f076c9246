"""Temporary folders of runs, and removal of those left by killed processes.

A run has one locked folder. Each session has a subfolder named by its mark. A process that is killed removes
nothing, so the next run searches for unlocked folders, ends the remaining processes of their sessions, and
removes the folders.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX = "blogsmith-"
_SESSION = re.compile(r"[0-9a-f]{13}")
_MIN_AGE_S = 10.0
"""Seconds during which a new folder is not removed: its process may not have locked it yet."""


@contextmanager
def working_folder() -> Iterator[Path]:
    """Yield a folder for everything that the sessions of one run write."""
    if sys.platform != "win32":
        _remove_abandoned(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as folder:
        held = _lock(folder)
        try:
            yield Path(folder)
        finally:
            if held is not None:
                os.close(held)


class SessionFolder:
    """Folder of a session and of sessions that resume from its checkpoints. It is removed when it has no
    users."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._turn = threading.Lock()
        self._lock = threading.Lock()
        self._holders = 1

    def add_user(self) -> None:
        """Add a user. There must be at least one already."""
        with self._lock:
            self._holders += 1

    def remove_user(self) -> None:
        """Remove a user."""
        with self._lock:
            self._holders -= 1
            is_free = not self._holders
        if is_free:
            shutil.rmtree(self.path, ignore_errors=True)

    def begin_turn(self, wait_s: float) -> bool:
        """Wait until no other session uses the folder, then use it. Return False if that takes too long. One
        session uses it at a time, and finds it empty."""
        if not self.path.is_dir() or not self._turn.acquire(timeout=wait_s):
            return False
        self.add_user()
        return True

    def end_turn(self) -> None:
        """Empty the folder after a session."""
        with suppress(OSError), os.scandir(self.path) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    os.unlink(entry.path)  # noqa: PTH108 - an entry, not a path
        self._turn.release()
        self.remove_user()


@contextmanager
def session_folder(parent: str | None, number: int) -> Iterator[SessionFolder]:
    """Yield a folder for one session.

    parent: parent folder; None for the system's temporary folder.
    number: number of the session's mark.
    """
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
    """Remove folders of runs that have ended, and end their remaining processes."""
    with suppress(OSError), os.scandir(temporary) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and _is_abandoned(entry):
                _end_sessions(entry.path)
                shutil.rmtree(entry.path, ignore_errors=True)


def _is_abandoned(entry: os.DirEntry[str]) -> bool:
    """Return whether this is a folder of ours that no process has locked."""
    try:
        status = entry.stat(follow_symlinks=False)
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
            return False
        if time.time() - status.st_mtime < _MIN_AGE_S:
            return False
        held = _lock(entry.path)
    except OSError:
        return False
    if held is None:
        return False
    os.close(held)
    return True


def _end_sessions(folder: str) -> None:
    # imported late: needed only if another run left processes
    from .reaper import Mark, end_survivors

    for part in Path(folder).iterdir():
        if _SESSION.fullmatch(part.name):
            for in_limits in (True, False):
                end_survivors(Mark(int(part.name, 16), in_limits))


def _lock(folder: str) -> int | None:
    """Return a descriptor that locks the folder.

    None if another process has locked it, or the system lacks such locks.
    """
    try:
        import fcntl
    except ImportError:
        return None
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
