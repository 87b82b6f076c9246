"""`make site` in a fresh clone: it builds from the committed records, and changes no tracked file."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.distribution_files import copy_checkout

AUTHOR = ("-c", "user.name=test", "-c", "user.email=test@example.org")


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a clone of the current checkout, with this process's environment as `.venv`.

    `make site` would install what the environment lacks. It has everything, so its stamp is newer.
    """
    if not shutil.which("make"):
        pytest.skip("make is not installed")
    folder = tmp_path_factory.mktemp("clean")
    source, clone = folder / "source", folder / "clone"
    copy_checkout(source)
    run(source, "git", "init", "--quiet")
    run(source, "git", "add", "--all")
    run(source, "git", *AUTHOR, "commit", "--quiet", "--message=all")
    run(folder, "git", "clone", "--quiet", str(source), str(clone))
    (clone / ".venv").mkdir()
    (clone / ".venv/bin").symlink_to(Path(sys.executable).parent)
    (clone / ".venv/.ready").touch()
    return clone


def run(folder: Path, *command: str) -> str:
    """Return the output of a command, which must succeed."""
    environment = {key: text for key, text in os.environ.items() if not key.startswith(("GIT_", "MAKE"))}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# `.ci/run` does the same in its own checkout
@pytest.mark.long
def test_make_site_changes_no_file(clone: Path) -> None:
    out = run(clone, "make", "site")
    assert "run now" not in out
    assert out.splitlines()[-1] == "The pages are in public/. To read them: .venv/bin/blogsmith serve --open"
    assert (clone / "public/index.html").is_file()
    assert run(clone, "git", "status", "--porcelain") == ""
