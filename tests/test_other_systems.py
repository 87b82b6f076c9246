"""Windows and macOS, as far as Linux can simulate them: names, paths, and missing system calls of Unix."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest

from blogsmith.base.storage.folder import open_folder
from blogsmith.base.storage.links import is_name, split_path
from blogsmith.cli.author_files import create_file
from blogsmith.config.validate import is_device, permalink_problem
from tests.rows import each_row

ROOT = Path(__file__).parent.parent
POST = '---\ntitle: A\ndate: 2026-03-01\n---\n\n{% include code.html file="src/a.py" %}\n'


def start(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run blogsmith without the features that Windows lacks."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    program = [sys.executable, str(ROOT / "tests/windows_start.py"), *command]
    return subprocess.run(program, cwd=folder, env=environment, capture_output=True, text=True)


def test_a_site_is_begun_and_built_without_calls_of_unix(tmp_path: Path) -> None:
    made = start(tmp_path, "new", "site", "notes")
    assert (made.returncode, made.stderr) == (0, "")
    site = tmp_path / "notes"
    (site / "src").mkdir()
    (site / "src/a.py").write_text("x = 1\n")
    (site / "content/posts/a.md").write_text(POST)
    built = start(site, "build")
    # features that cannot run there are reported, and the rest of the page exists
    assert built.returncode == 0, built.stderr
    assert "hint: run `blogsmith execute` on Linux, macOS or WSL" in built.stderr
    assert "Traceback" not in built.stderr and built.stderr.count("warning:") == 1
    assert "<math" in (site / "public/posts/hello/index.html").read_text("utf-8")
    cleaned = start(site, "clean")
    assert (cleaned.returncode, (site / "public").exists()) == (0, False), cleaned.stderr


@each_row(
    ("name", "expected"),
    [
        *((name, True) for name in ("aux", "AUX", "con.md", "nul", "lpt1.tar.gz", "com9")),
        *((name, False) for name in ("auxiliary", "console", "com", "lpt10", "null", "my-aux")),
    ],
)
def test_names_that_windows_takes_for_devices(name: str, expected: bool) -> None:
    assert is_device(name) is expected
    assert bool(permalink_problem(f"/{name}/:slug/")) is expected


@each_row("name", ["a/b", "a\0b", "", ".", ".."])
def test_a_path_is_no_name(name: str) -> None:
    assert not is_name(name)


def test_paths_of_a_site_are_written_with_slashes_everywhere() -> None:
    windows = PureWindowsPath("content\\posts\\a b\\index.md")
    assert PurePosixPath(windows.as_posix()) == PurePosixPath("content/posts/a b/index.md")
    assert split_path(PurePosixPath(windows.as_posix())) == ["content", "posts", "a b", "index.md"]


def test_folders_without_descriptors(tmp_path: Path) -> None:
    """Without descriptors, as on Windows, each name is checked before it is used."""
    with open_folder(tmp_path, by_descriptor=False) as folder:
        with folder.enter(".", make=True) as same, same.create("a.txt") as file:
            file.write(b"1")
        with folder.enter("b/c", make=True) as inner:
            inner.replace("d.txt", b"2")
        assert folder.read("a.txt") == b"1"
    assert (tmp_path / "b/c/d.txt").read_bytes() == b"2"


def test_a_file_at_the_root_is_created_without_descriptors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_folder, "__kwdefaults__", {"make": False, "mode": None, "by_descriptor": False})
    create_file(tmp_path / "site", PurePosixPath(".gitignore"), "x\n")
    assert (tmp_path / "site/.gitignore").read_text() == "x\n"
