"""Programs from outside that these tests need.

Without one its tests are skipped with a reason; with CI=1 they fail.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest

MODULES = Path(__file__).parents[2] / ".cache" / "node_modules"
"""Where `make test` puts packages from npm."""
AXE = MODULES / "axe-core" / "axe.min.js"
NU = MODULES / "vnu-jar" / "build" / "dist" / "vnu.jar"


def program(*names: str) -> str:
    """Path of the first program found on the search path."""
    for name in names:
        if path := shutil.which(name):
            return path
    missing(f"{names[0]} is not installed")


def file(path: Path) -> Path:
    """`path`, which `make test` fetches from npm."""
    if not path.is_file():
        missing(f"{path.name} is missing; `make test` fetches it with npm")
    return path


def missing(reason: str) -> NoReturn:
    """Skip the test, or fail it where everything has to be there."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
