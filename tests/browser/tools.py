"""External programs that these tests need.

If a program is missing, its tests are skipped with a reason. With CI=1 they fail.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest

MODULES = Path(__file__).parents[2] / ".cache" / "node_modules"
"""Folder where `make test` installs packages from npm."""
AXE = MODULES / "axe-core" / "axe.min.js"
NU = MODULES / "vnu-jar" / "build" / "dist" / "vnu.jar"


def program(*names: str) -> str:
    """Return the path of the first program found on the search path."""
    for name in names:
        if path := shutil.which(name):
            return path
    missing(f"{names[0]} is not installed")


def file(path: Path) -> Path:
    """Return `path`, or skip the test if `make test` has not yet fetched it from npm."""
    if not path.is_file():
        missing(f"{path.name} is missing; `make test` fetches it with npm")
    return path


def missing(reason: str) -> NoReturn:
    """Skip the test, or fail it in CI, where everything must be installed."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
