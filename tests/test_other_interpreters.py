"""Every micro version of Python builds the same site: we must avoid faults of a single one.

Distributions keep their first micro version for years, with its faults: `re` of 3.11.2, in Debian 12,
handled repeated groups incorrectly, and no display formula of a site ended.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SITE = ROOT / "tests/sites/everything/source"
VERSION = "import sys; print(*sys.version_info[:3], sys.implementation.cache_tag)"


def other_interpreters() -> Iterator[Path]:
    """Yield Pythons of this minor version with a different micro version, with the packages of this one."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    folders = dict.fromkeys([*os.get_exec_path(), "/usr/bin", "/usr/local/bin"])
    known = {Path(sys.executable).resolve()}
    for folder in folders:
        program = Path(folder, name)
        if not os.access(program, os.X_OK) or program.resolve() in known:
            continue
        known.add(program.resolve())
        answer = subprocess.run([program, "-c", VERSION], capture_output=True, text=True, check=False)
        *version, tag = answer.stdout.split() or ["", ""]
        is_alike = tag == sys.implementation.cache_tag and version[:2] == [
            str(n) for n in sys.version_info[:2]
        ]
        if is_alike and version[2] != str(sys.version_info.micro):
            yield program


def test_the_same_site_is_built_by_other_interpreters(tmp_path: Path) -> None:
    others = list(other_interpreters())
    if not others:
        pytest.skip("there is no other Python of this version here")
    expected = built_by(Path(sys.executable), tmp_path / "here")
    assert len(expected) > 50
    for number, program in enumerate(others):
        assert built_by(program, tmp_path / str(number)) == expected, program


def built_by(program: Path, root: Path) -> dict[str, bytes]:
    """Return the site as built by an interpreter, without cells."""
    shutil.copytree(SITE, root / "site")
    paths = (str(ROOT), sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(root),
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths)),
        "SOURCE_DATE_EPOCH": "1798761600",
    }
    command = [str(program), "-m", "blogsmith", "build", "--output", str(root / "out")]
    done = subprocess.run(
        command, cwd=root / "site", env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    files = (file for file in sorted((root / "out").rglob("*")) if file.is_file())
    return {file.relative_to(root / "out").as_posix(): file.read_bytes() for file in files}
