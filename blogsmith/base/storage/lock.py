"""Locks on files among all processes of this machine, and the lock of a site.

The system locks an open file and releases the lock when the process ends, even after a crash, so there are no
stale locks. The file itself remains. It contains the process id, for people to read.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedRandom
from pathlib import Path

from ..diagnostics.model import Diagnostic, SiteError
from .folder import Folder
from .own_folder import open_own_folder

_POLL_S = 0.02


class LockBusyError(Exception):
    """Another process has the lock. The argument is its process id as a string, or empty if unknown."""


@contextmanager
def hold_lock(folder: Folder, name: str, wait_s: float, mode: int = 0o666) -> Iterator[None]:
    """Lock a file while the block runs; create it if it is missing. LockBusyError after `wait_s` seconds.
    mode: permissions of a new file, which the umask reduces."""
    with folder.open_lock(name, mode) as file:
        end = time.monotonic() + wait_s
        while not _try_lock(file):
            if time.monotonic() >= end:
                holder = file.read(20).strip()
                raise LockBusyError(holder.decode() if holder.isdigit() else "")
            time.sleep(_POLL_S)
        file.truncate(0)
        file.write(f"{os.getpid()}\n".encode())
        file.flush()
        try:
            yield
        finally:
            # the work under the lock is done, so errors of the disk no longer matter
            with suppress(OSError):
                file.truncate(0)


if sys.platform == "win32":

    def _try_lock(file: BufferedRandom) -> bool:
        import msvcrt

        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:

    def _try_lock(file: BufferedRandom) -> bool:
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


# Only one process at a time may write to a site.


@contextmanager
def site_lock(site_root: Path, wait_s: float) -> Iterator[None]:
    """Lock `.blogsmith/lock` while the block runs. SiteError with code `busy` after `wait_s` seconds."""
    with open_own_folder(site_root) as folder:
        try:
            with hold_lock(folder, "lock", wait_s):
                yield
        except LockBusyError as error:
            process = f" {error}" if str(error) else ""
            hint = "wait until it ends, or stop it"
            message = f"another blogsmith process{process} is writing to this site"
            raise SiteError(Diagnostic("busy", message, hint=hint)) from error
