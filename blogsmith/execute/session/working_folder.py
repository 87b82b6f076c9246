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


@contextmanager
def session_folder(parent: str | None, number: int) -> Iterator[Path]:
    """A folder for one session. parent: None: where the system keeps such folders; number: the mark's."""
    folder = Path(parent or tempfile.gettempdir()) / f"{number:x}"
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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
