"""Pages from recorded results, built by this Python, which has torch, and by one without torch.

Each builds a copy of the site in a folder of its own, like a clone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from .execution_site import bare_python, files_of

ROOT = Path(__file__).parents[2]
_TORCH = ("torch", "functorch")
_LEFT_OUT = ("public", "__pycache__", "node_modules", ".*")
_ASK = "import importlib.util as u, sys; sys.exit(bool(u.find_spec('torch')))"
NOT_VALID = 3
"""Exit code of `build --frozen` if a result is missing or stale."""


@dataclass(frozen=True, slots=True)
class Pages:
    """Results of two builds."""

    files: int
    """Number of files that the first build wrote."""
    differing: tuple[str, ...]
    """Files that only one build wrote, or that have different bytes."""
    valid: bool
    """Whether no recorded result is missing or stale."""


def measure_pages(site: Path = ROOT, without: str = "") -> Pages | None:
    """Compare the pages of both builds; None if this Python has no torch.

    without: a Python that has blogsmith but not torch. By default that of `.venv`, or a new environment with
    the packages of this one. Raises SystemExit if it has torch.
    """
    if find_spec("torch") is None:
        return None
    with TemporaryDirectory() as folder:
        python = without or _python_without(Path(folder))
        if subprocess.run([python, "-c", _ASK]).returncode:
            raise SystemExit(f"{python} has torch, or is no Python")
        return compare_builds(site, sys.executable, python)


def compare_builds(site: Path, first: str, second: str) -> Pages:
    """Build copies of the site with two Pythons and compare the files."""
    with TemporaryDirectory() as folder:
        here, there = (Path(folder) / name for name in ("here", "there"))
        shutil.copytree(site, here, ignore=shutil.ignore_patterns(*_LEFT_OUT))
        # Not from the site again, which may change meanwhile.
        shutil.copytree(here, there)
        valid = [_built(here, first), _built(there, second)]
        made = files_of(here / "public")
        return Pages(len(made), differing(made, files_of(there / "public")), all(valid))


def differing(first: Mapping[str, bytes], second: Mapping[str, bytes]) -> tuple[str, ...]:
    """Return the names of files that differ or are missing in one of the two."""
    return tuple(sorted(name for name in {*first, *second} if first.get(name) != second.get(name)))


def _built(copy: Path, python: str) -> bool:
    """Build a copy and return whether all recorded results are valid."""
    code = _build(copy, python, "--frozen")
    if code == NOT_VALID:
        # The new folder is not trusted, so no cells run; pages then show stale results as such.
        code = _build(copy, python)
    elif code == 0:
        return True
    if code:
        raise SystemExit(f"{python} -m blogsmith build ended with exit code {code}")
    return False


def _build(folder: Path, python: str, *options: str) -> int:
    # A module search path of the caller could make torch available again.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [python, "-m", "blogsmith", "build", *options]
    said = subprocess.DEVNULL
    return subprocess.run(command, cwd=folder, env=environment, stdout=said, stderr=said).returncode


def _python_without(folder: Path) -> str:
    usual = ROOT / ".venv" / "bin" / "python"
    if usual.exists() and not subprocess.run([usual, "-c", _ASK]).returncode:
        return str(usual)
    return str(bare_python(folder / "bare", _TORCH))
