"""Programs from outside that these tests need. Without one they are skipped with a reason; with CI=1 they fail."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

MODULES = Path(__file__).parents[2] / ".cache" / "node_modules"
"""Where `make test` puts packages from npm."""
AXE = MODULES / "axe-core" / "axe.min.js"
NU = MODULES / "vnu-jar" / "build" / "dist" / "vnu.jar"


def program(*names: str) -> str:
    """Path of the first program found on the search path."""
    found = next((path for path in map(shutil.which, names) if path), None)
    return found or missing(f"{names[0]} is not installed")


def file(path: Path) -> Path:
    """`path`, which `make test` fetches from npm."""
    return path if path.is_file() else Path(missing(f"{path.name} is missing; `make test` fetches it with npm"))


def missing(reason: str) -> str:
    """Skip the test, or fail it where everything has to be there."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
