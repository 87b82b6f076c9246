"""One writer per site at a time.

The lock is the system's lock on an open file, which ends with its process however that dies, so
there is no stale lock to recognise. The file stays; its text, a process id, is for people.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ..errors import Diagnostic, SiteError

_POLL_S = 0.05


@contextmanager
def site_lock(site_root: Path, wait_s: float) -> Iterator[None]:
    """Hold `.blogsmith/lock`; SiteError `busy` if another process keeps it for `wait_s` seconds."""
    folder = site_root / ".blogsmith"
    folder.mkdir(exist_ok=True)
    # "a+" neither truncates what the present holder wrote nor fails on a missing file
    with (folder / "lock").open("a+", encoding="utf-8") as file:
        _wait(file, wait_s)
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        try:
            yield
        finally:
            file.truncate(0)


def _wait(file: IO[str], wait_s: float) -> None:
    end = time.monotonic() + wait_s
    while not _try_lock(file):
        if time.monotonic() >= end:
            raise _busy(file)
        time.sleep(_POLL_S)


def _try_lock(file: IO[str]) -> bool:
    try:
        import fcntl
    except ImportError:
        return _try_lock_windows(file)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _try_lock_windows(file: IO[str]) -> bool:
    import msvcrt

    try:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
    except OSError:
        return False
    return True


def _busy(file: IO[str]) -> SiteError:
    file.seek(0)
    holder = file.read(20).strip()
    process = f" (process {holder})" if holder.isdigit() else ""
    hint = "wait until it is done, or stop it"
    return SiteError(Diagnostic("busy", f"another blogsmith{process} is writing this site", hint=hint))
