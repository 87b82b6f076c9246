"""Rows 28 and 29: links in a clone where our folders and files belong cannot redirect commands outside it.

Whatever a command does, the user's folders around the site stay unchanged: no file is added, removed,
emptied or changed in mode.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from blogsmith.cli.main import main
from tests.pyodide_stub import pin_stub, write_stub
from tests.serve_process import running
from tests.site_files import put, put_bare
from tests.test_pyodide import POST as RUNNABLE

POST = """---
title: A post
date: 2026-01-02
---

$\\mathfrak{G} \\boxplus \\mathbb{R}$

```{python}
print("ran")
```
"""
FOLDERS = (
    ".blogsmith",
    ".blogsmith/schema",
    "_freeze",
    "_freeze/posts",
    "_freeze/posts/a",
    "public",
    "public/posts",
    "public/.blogsmith-new",
    ".public.blogsmith-new",
    ".public.blogsmith-old",
    "static/pyodide",
    "static/.pyodide.blogsmith-new",
    "static/.pyodide.blogsmith-old",
    "content/notes",
)
"""Paths of our own folders, or of folders that a command creates."""
FILES = (
    ".blogsmith/lock",
    ".blogsmith/freeze.lock",
    ".blogsmith/schema/config.json",
    ".blogsmith/site.db",
    "_freeze/.gitattributes",
    "_freeze/posts/a/outputs.json",
    "public/index.html",
    "public/.blogsmith-manifest.json",
)
"""Paths of our own files."""
COMMANDS = ("build", "execute --all", "freeze prune", "clean", "build")
MORE_COMMANDS = (
    "build --execute",
    "build --frozen",
    "check",
    "freeze status",
    "pyodide vendor --from {stub}",
    "new post Title --section notes",
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create the user's folders, with the clone in `src/clone`.

    They contain more files than a cache ever has, and another built site.
    """
    home = tmp_path / "home"
    put(home, {f"thesis/chapter-{number}.tex": f"text {number}" for number in range(30)})
    put(home, {"precious": "precious", "other/blogsmith.yaml": "title: Mine\n", "other/content/x.md": "x"})
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert main(["build", "--site", str(home / "other")]) == 0
    (home / "empty").mkdir()
    clone = home / "src" / "clone"
    put_bare(clone, {"blogsmith.yaml": "title: T\n", "content/posts/a.md": POST})
    put(clone, {"content/run.md": RUNNABLE.format(title="R", code="import numpy")})
    return home


@pytest.fixture
def stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a distribution of Pyodide to copy from."""
    pin_stub(monkeypatch)
    return write_stub(tmp_path / "dist")


def snapshot(home: Path) -> dict[str, tuple[int, bytes | None]]:
    """Return mode and bytes of everything outside the clone; None instead of bytes for a folder."""
    found: dict[str, tuple[int, bytes | None]] = {}
    for path in _outside(home):
        status = path.lstat()
        data = path.read_bytes() if stat.S_ISREG(status.st_mode) else None
        found[str(path.relative_to(home))] = (status.st_mode, data)
    return found


def _outside(home: Path) -> Iterator[Path]:
    for path in sorted(home.rglob("*")):
        if not path.is_relative_to(home / "src"):
            yield path


def run_all(clone: Path, stub: Path, commands: tuple[str, ...]) -> None:
    """Run the commands in turn. Each may fail, but not with an internal error."""
    for command in commands:
        assert main([*command.format(stub=stub).split(), "--site", str(clone)]) in (0, 1, 2, 3), command


def lay_link(clone: Path, place: str, target: str) -> None:
    """Put a relative link to something in the home folder at `place`, as git could."""
    link = clone / place
    link.parent.mkdir(parents=True, exist_ok=True)
    up = "../" * (len(Path(place).parts) + 1)
    link.symlink_to(f"{up}{target}")


def check_place(home: Path, stub: Path, place: str, target: str, commands: tuple[str, ...]) -> None:
    """Assert that commands change nothing outside a clone that has a link at `place`."""
    clone = home / "src" / "clone"
    if place.startswith("public/") and place in FILES:
        assert main(["build", "--site", str(clone)]) == 0
        (clone / place).unlink()
    lay_link(clone, place, target)
    before = snapshot(home)
    run_all(clone, stub, commands)
    assert snapshot(home) == before


@pytest.mark.parametrize("place", FOLDERS)
def test_row_28_no_command_leaves_the_site_through_a_folder(home: Path, stub: Path, place: str) -> None:
    commands = COMMANDS if place.startswith((".", "_", "public")) else MORE_COMMANDS
    check_place(home, stub, place, "thesis", commands)


@pytest.mark.parametrize("place", FILES)
def test_row_28_no_command_leaves_the_site_through_a_file(home: Path, stub: Path, place: str) -> None:
    check_place(home, stub, place, "precious", COMMANDS)


@pytest.mark.long
@pytest.mark.parametrize(
    ("place", "target"),
    [
        *((place, target) for place in FOLDERS for target in ("thesis", "empty", "other/public", "gone")),
        *((place, target) for place in FILES for target in ("precious", "gone")),
    ],
)
def test_row_28_no_command_leaves_the_site(home: Path, stub: Path, place: str, target: str) -> None:
    check_place(home, stub, place, target, COMMANDS + MORE_COMMANDS)


def test_row_28_no_lock_empties_a_file_with_two_names(home: Path, stub: Path) -> None:
    """git cannot store hard links, but an archive may contain them."""
    clone = home / "src" / "clone"
    put(clone, {".blogsmith/x": ""})
    for name in ("lock", "freeze.store"):
        (clone / ".blogsmith" / name).hardlink_to(home / "precious")
    before = snapshot(home)
    run_all(clone, stub, COMMANDS)
    assert snapshot(home) == before


@pytest.mark.parametrize("place", [".blogsmith", ".blogsmith/site.db", "_freeze", "public"])
def test_row_28_the_preview_does_not_leave_the_site(home: Path, place: str) -> None:
    clone = home / "src" / "clone"
    lay_link(clone, place, "precious" if place in FILES else "thesis")
    before = snapshot(home)
    with running(clone) as serving:
        assert "A post" in serving.page("/posts/a/")
    assert snapshot(home) == before


@pytest.mark.parametrize(
    ("link", "target", "output"),
    [
        ("out", "../..", "out/.local/lib/python3.11/site-packages"),
        ("out", "../..", "out/.config/autostart"),
        ("out", "../../empty", "out"),
        ("out", "../../other/public", "out"),
        ("out", "../../gone", "out"),
        ("deep/out", "../../../gone", "deep/out/below"),
        ("public", "../../empty", "public"),
        ("public", "../../other/public", "public"),
    ],
)
def test_row_29_no_output_folder_lies_behind_a_link(
    home: Path, capsys: pytest.CaptureFixture[str], link: str, target: str, output: str
) -> None:
    """Code written into the home folder would run when the user starts Python."""
    clone = home / "src" / "clone"
    put(clone, {"blogsmith.yaml": f"title: EVIL\noutput: {output}\n", "static/usercustomize.py": "boom"})
    (clone / link).parent.mkdir(exist_ok=True)
    (clone / link).symlink_to(target)
    before = snapshot(home)
    for command in ("build", "clean"):
        assert main([*command.split(), "--site", str(clone)]) == 1
        message = capsys.readouterr().err
        assert "[output-folder]" in message
        assert " link" in message
    assert snapshot(home) == before


def test_row_29_the_reader_may_name_a_folder_behind_a_link(home: Path) -> None:
    """The user chose the folder with `--output`; the link itself stays."""
    clone = home / "src" / "clone"
    (home / "www").symlink_to("empty")
    for _ in range(2):
        assert main(["build", "--site", str(clone), "--output", str(home / "www")]) == 0
        assert (home / "empty" / "index.html").is_file()
    assert (home / "www").is_symlink()
    assert main(["clean", "--site", str(clone), "--output", str(home / "www")]) == 0
    assert list((home / "empty").iterdir()) == []
    assert (home / "www").is_symlink()


def test_row_28_what_stands_in_the_way_is_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clone = home / "src" / "clone"
    lay_link(clone, ".blogsmith/lock", "precious")
    assert main(["build", "--site", str(clone)]) == 1
    message = 'error: cannot write the site: ".blogsmith/lock": a link is in the way [output-write]'
    assert message in capsys.readouterr().err
