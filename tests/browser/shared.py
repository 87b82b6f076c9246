"""Sites and measurements that take half a minute each, made once for all test processes of a run."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest


def shared_folder(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Return a folder filled by `make` in the first process that requests it; it must not be changed.

    If `make` fails, the next process tries again, so that each of their tests reports the reason.
    """
    base = factory.getbasetemp()
    top = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, done = top / f"shared-{name}", top / f"shared-{name}.done"
    with (top / f"shared-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            folder.mkdir(exist_ok=True)
            make(folder)
            done.touch()
    return folder
