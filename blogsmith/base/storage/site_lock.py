"""One writer per site at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..diagnostics.model import Diagnostic, SiteError
from .lock import LockBusy, hold_lock
from .own_folder import open_own_folder


@contextmanager
def site_lock(site_root: Path, wait_s: float) -> Iterator[None]:
    """Hold `.blogsmith/lock`; SiteError `busy` if another process keeps it for `wait_s` seconds."""
    with open_own_folder(site_root) as folder:
        try:
            with hold_lock(folder, "lock", wait_s):
                yield
        except LockBusy as error:
            process = f" (process {error})" if str(error) else ""
            hint = "wait until it is done, or stop it"
            message = f"another blogsmith{process} is writing this site"
            raise SiteError(Diagnostic("busy", message, hint=hint)) from error
