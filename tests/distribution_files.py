"""The wheel and the source archive of this checkout, and the Python versions to test them with."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
OLDEST = (3, 11)
"""Oldest version, as in `requires-python`."""
NEWEST = (3, 15)
"""Newest version to search for."""
_QUESTION = "import sys, ensurepip; print(*sys.version_info[:2], sys.executable)"


@dataclass(frozen=True, slots=True)
class Distribution:
    """The files published for a version."""

    wheel: Path
    archive: Path


def copy_checkout(target: Path) -> None:
    """Copy the files of the checkout that git tracks or would add."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True
    )
    for name in listed.stdout.decode().rstrip("\0").split("\0"):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def build_distribution(source: Path, target: Path) -> Distribution:
    """Build both from a folder without network access, with the backend named in pyproject.toml."""
    _run_backend(source, target, "sdist")
    _run_backend(source, target, "wheel")
    (wheel,), (archive,) = target.glob("*.whl"), target.glob("*.tar.gz")
    return Distribution(wheel, archive)


def build_wheel_of(archive: Path, work: Path) -> Path:
    """Return the wheel built from the source archive alone."""
    with tarfile.open(archive) as opened:
        if hasattr(tarfile, "data_filter"):
            opened.extractall(work, filter="data")
        else:
            # Python before 3.11.4; the archive is our own
            opened.extractall(work)
    (source,) = (path for path in work.iterdir() if path.is_dir())
    _run_backend(source, work / "dist", "wheel")
    (wheel,) = (work / "dist").glob("*.whl")
    return wheel


def _run_backend(source: Path, target: Path, kind: str) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(target)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)


def find_pythons() -> dict[tuple[int, int], str]:
    """Map versions to programs of each supported Python on this machine that can create environments.

    They are searched by name on PATH and in BLOGSMITH_PYTHONS: paths of programs, separated as in PATH.
    """
    named = [f"python3.{minor}" for minor in range(OLDEST[1], NEWEST[1] + 1)]
    paths = [path for name in named if (path := shutil.which(name))]
    paths += filter(None, os.environ.get("BLOGSMITH_PYTHONS", "").split(os.pathsep))
    found = {}
    for path in [sys.executable, *paths]:
        asked = subprocess.run([path, "-c", _QUESTION], capture_output=True, text=True)
        # pyenv has a shim for versions that are not selected
        if asked.returncode == 0:
            major, minor, program = asked.stdout.split(None, 2)
            version = (int(major), int(minor))
            if version >= OLDEST and version not in found:
                found[version] = program.strip()
    return dict(sorted(found.items()))
