"""One writer of recorded results at a time.

The system's lock on an open file ends with its process however that dies. Readers take none: what they
read is replaced whole.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ..errors import Diagnostic, SiteError

_POLL_S = 0.01
WAIT_S = 30.0
"""Writing takes milliseconds: who holds the lock longer is stopped or stuck."""


@contextmanager
def freeze_lock(root: Path, wait_s: float = WAIT_S) -> Iterator[None]:
    """Hold `.blogsmith/freeze.lock`.

    SiteError `busy` if another process keeps it for `wait_s` seconds, `freeze-write` if it cannot be made.
    """
    try:
        (root / ".blogsmith").mkdir(exist_ok=True)
        file = (root / ".blogsmith" / "freeze.lock").open("a")
    except OSError as error:
        raise write_problem(error, ".blogsmith/freeze.lock") from error
    with file:
        end = time.monotonic() + wait_s
        while not _try_lock(file):
            if time.monotonic() >= end:
                hint = "wait until it is done, or stop it"
                raise SiteError(Diagnostic("busy", "another blogsmith is recording results", hint=hint))
            time.sleep(_POLL_S)
        yield


def write_problem(error: OSError, path: str) -> SiteError:
    """What the author is told if the disk refuses."""
    message = f"recorded results cannot be written: {error.strerror or error}"
    return SiteError(Diagnostic("freeze-write", message, path))


def _try_lock(file: IO[str]) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows, where no cell runs and so nobody records
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
