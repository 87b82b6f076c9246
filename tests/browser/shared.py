"""What is made once for all test processes of a run: sites and measurements that take half a minute each."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest


def shared_folder(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A folder that `make` has filled, in the first process that asked for it; nobody changes it.

    Where `make` fails, the next process tries again, so that each of their tests says why.
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
