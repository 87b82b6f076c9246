"""One writer of recorded results at a time.

Readers take no lock: what they read is replaced whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ..base.diagnostics.model import Diagnostic, SiteError
from ..base.storage.lock import LockBusy, hold_lock
from ..base.storage.own_folder import open_own_folder

WAIT_S = 30.0
"""Writing takes milliseconds: who holds the lock longer is stopped or stuck."""
_NAME = "freeze.lock"


@contextmanager
def freeze_lock(root: Path, wait_s: float = WAIT_S) -> Iterator[None]:
    """Hold `.blogsmith/freeze.lock`.

    SiteError `busy` if another process keeps it for `wait_s` seconds, `freeze-write` if it cannot be made.
    """
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(open_own_folder(root))
            stack.enter_context(hold_lock(folder, _NAME, wait_s))
        except OSError as error:
            raise write_problem(error, f".blogsmith/{_NAME}") from error
        except LockBusy as error:
            hint = "wait until it is done, or stop it"
            raise SiteError(
                Diagnostic("busy", "another blogsmith is recording results", hint=hint)
            ) from error
        yield


def write_problem(error: OSError, path: str) -> SiteError:
    """What the author is told if the disk refuses."""
    message = f"recorded results cannot be written: {error.strerror or error}"
    return SiteError(Diagnostic("freeze-write", message, path))
