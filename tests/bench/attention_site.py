"""Pages from recorded results: built by the Python of this process, which has torch, and by one without.

Each builds a copy of the site in a folder of its own, as a clone would be.
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
"""Exit code of `build --frozen` where a result is missing or stale."""


@dataclass(frozen=True, slots=True)
class Pages:
    """What two builds gave."""

    files: int
    """That the first wrote."""
    differing: tuple[str, ...]
    """That only one has, or that have other bytes."""
    valid: bool
    """No recorded result is missing or stale."""


def measure_pages(site: Path = ROOT, without: str = "") -> Pages | None:
    """Whether both builds give the same bytes; None where this Python has no torch to begin with.

    without: a Python that has blogsmith and no torch; by default that of `.venv`, or a new one with the
    packages of this. SystemExit if it has torch after all.
    """
    if find_spec("torch") is None:
        return None
    with TemporaryDirectory() as folder:
        python = without or _python_without(Path(folder))
        if subprocess.run([python, "-c", _ASK]).returncode:
            raise SystemExit(f"{python} has torch, or is no Python")
        return compare_builds(site, sys.executable, python)


def compare_builds(site: Path, first: str, second: str) -> Pages:
    """Copies of the site, built by two Pythons."""
    with TemporaryDirectory() as folder:
        here, there = (Path(folder) / name for name in ("here", "there"))
        shutil.copytree(site, here, ignore=shutil.ignore_patterns(*_LEFT_OUT))
        # not from the site again: someone may write there meanwhile
        shutil.copytree(here, there)
        valid = [_built(here, first), _built(there, second)]
        made = files_of(here / "public")
        return Pages(len(made), differing(made, files_of(there / "public")), all(valid))


def differing(first: Mapping[str, bytes], second: Mapping[str, bytes]) -> tuple[str, ...]:
    """Names of files that are not the same in both."""
    return tuple(sorted(name for name in {*first, *second} if first.get(name) != second.get(name)))


def _built(copy: Path, python: str) -> bool:
    """Builds a copy; whether all recorded results are valid."""
    code = _build(copy, python, "--frozen")
    if code == NOT_VALID:
        # a new folder is not trusted, so nothing runs here either; pages then say what is stale
        code = _build(copy, python)
    elif code == 0:
        return True
    if code:
        raise SystemExit(f"{python} -m blogsmith build ended with exit code {code}")
    return False


def _build(folder: Path, python: str, *options: str) -> int:
    # a module search path of the caller's would bring torch back
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [python, "-m", "blogsmith", "build", *options]
    said = subprocess.DEVNULL
    return subprocess.run(command, cwd=folder, env=environment, stdout=said, stderr=said).returncode


def _python_without(folder: Path) -> str:
    usual = ROOT / ".venv" / "bin" / "python"
    if usual.exists() and not subprocess.run([usual, "-c", _ASK]).returncode:
        return str(usual)
    return str(bare_python(folder / "bare", _TORCH))
