"""Temporary folders of runs, and what a blogsmith that was killed has left behind.

A run has one folder, which it keeps locked; each session has a part of it, named by its mark. A process that
is killed removes nothing. So the next run looks for folders that nobody holds, ends what still runs of their
sessions, and removes them.
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
_YOUNG_S = 10.0
"""A folder may be made and not locked yet."""


@contextmanager
def working_folder() -> Iterator[Path]:
    """A folder for everything that the sessions of one run write."""
    if sys.platform != "win32":
        _remove_left(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as folder:
        held = _lock(folder)
        try:
            yield Path(folder)
        finally:
            if held is not None:
                os.close(held)


class SessionFolder:
    """What one session writes, and those that go on from its checkpoints; removed when nobody holds it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._turn = threading.Lock()
        self._lock = threading.Lock()
        self._holders = 1

    def hold(self) -> None:
        """One holder more; there must be one."""
        with self._lock:
            self._holders += 1

    def release(self) -> None:
        """One less."""
        with self._lock:
            self._holders -= 1
            is_free = not self._holders
        if is_free:
            shutil.rmtree(self.path, ignore_errors=True)

    def begin_turn(self, wait_s: float) -> bool:
        """Whether a session may use it from now on: one at a time does, and finds it empty."""
        if not self.path.is_dir() or not self._turn.acquire(timeout=wait_s):
            return False
        self.hold()
        return True

    def end_turn(self) -> None:
        """The session is over."""
        with suppress(OSError), os.scandir(self.path) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    os.unlink(entry.path)  # noqa: PTH108 - an entry, not a path
        self._turn.release()
        self.release()


@contextmanager
def session_folder(parent: str | None, number: int) -> Iterator[SessionFolder]:
    """A folder for one session. parent: None: where the system keeps such folders; number: the mark's."""
    path = Path(parent or tempfile.gettempdir()) / f"{number:x}"
    path.mkdir(mode=0o700)
    folder = SessionFolder(path)
    folder.begin_turn(0)
    folder.release()
    try:
        yield folder
    finally:
        folder.end_turn()


@contextmanager
def mark_folder(beside: Path, number: int) -> Iterator[None]:
    """The name of a mark where `working_folder` looks for it; nothing is written there."""
    path = beside.with_name(f"{number:x}")
    with suppress(OSError):
        path.mkdir(mode=0o700)
    try:
        yield
    finally:
        with suppress(OSError):
            path.rmdir()


def _remove_left(temporary: Path) -> None:
    """Folders of runs that have died, with the processes they have left."""
    with suppress(OSError), os.scandir(temporary) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and _is_left(entry):
                _end_sessions(entry.path)
                shutil.rmtree(entry.path, ignore_errors=True)


def _is_left(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder of ours that no process holds."""
    try:
        status = entry.stat(follow_symlinks=False)
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
            return False
        if time.time() - status.st_mtime < _YOUNG_S:
            return False
        held = _lock(entry.path)
    except OSError:
        return False
    if held is None:
        return False
    os.close(held)
    return True


def _end_sessions(folder: str) -> None:
    # who only wants a folder needs nothing of processes, unless another run has left some
    from .reaper import Mark, end_survivors

    for part in Path(folder).iterdir():
        if _SESSION.fullmatch(part.name):
            for in_limits in (True, False):
                end_survivors(Mark(int(part.name, 16), in_limits))


def _lock(folder: str) -> int | None:
    """A descriptor that holds the folder; None if another process does, or the system has no such locks."""
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
