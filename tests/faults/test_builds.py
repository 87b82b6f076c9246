"""Rows 4 and 5: simultaneous builds, and the output of posts that were removed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from blogsmith.base.storage.lock import site_lock
from blogsmith.cli.main import main
from blogsmith.write import output
from tests.faults.children import litter, public
from tests.faults.small_site import before, edit, post
from tests.serve_process import PROGRAM
from tests.site_files import build, put

# -- 4: two builds at the same time --


@pytest.mark.skipif(os.name != "posix", reason="forks")
def test_row_04_builds_at_once_wait_for_each_other(tmp_path: Path) -> None:
    root = before(tmp_path / "s")
    assert build(root).ok
    edit(root)
    command = [str(PROGRAM), "build", "--site", str(root)]
    children = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(3)]
    assert [child.wait() for child in children] == [0, 0, 0]
    assert litter(root) == set()
    shutil.copytree(root, tmp_path / "fresh", ignore=shutil.ignore_patterns("public", ".blogsmith"))
    assert build(tmp_path / "fresh").ok
    assert public(root) == public(tmp_path / "fresh")


def test_row_04_who_waits_too_long_says_for_whom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = before(tmp_path / "s")
    assert build(root).ok
    old = public(root)
    edit(root)
    monkeypatch.setattr(output.write_site, "__kwdefaults__", {"wait_s": 0})
    with site_lock(root, 0):
        assert main(["build", "--site", str(root)]) == 1
    assert (
        f"another blogsmith process {os.getpid()} is writing to this site [busy]" in capsys.readouterr().err
    )
    assert public(root) == old
    assert main(["build", "--site", str(root)]) == 0, "the lock ends with its holder"


def test_row_04_the_lock_of_a_dead_process_is_none(tmp_path: Path) -> None:
    root = before(tmp_path / "s")
    put(root, {".blogsmith/lock": "4194303\n"})
    assert main(["build", "--site", str(root)]) == 0


# -- 5: removed posts --

EDITS = {
    "deleted": None,
    "renamed": "content/posts/renamed.md",
    "a draft": post("A", 1, "x", "draft: true\n"),
    "another slug": post("A", 1, "x", "slug: other\n"),
    "in the future": post("A", 1, "x").replace("2026-01-01", "2999-01-01"),
    "without its tag": post("A", 1, "x", "tags: [x]\n"),
}


@pytest.mark.parametrize("what", EDITS)
def test_row_05_nothing_is_left_of_what_is_gone(what: str, tmp_path: Path) -> None:
    root = before(tmp_path / "s")
    put(root, {"content/about.md": "---\ntitle: About\n---\nx\n"})
    assert build(root).ok
    put(root, {"public/robots-of-mine.txt": "mine", "public/posts/a/notes.txt": "mine"})
    file = root / "content/posts/a.md"
    text = EDITS[what]
    if what == "renamed":
        file.rename(root / "content/posts/renamed.md")
    elif text is None:
        file.unlink()
    else:
        file.write_text(text)
    report = build(root)
    assert report.ok
    left = public(root)
    assert left.pop("robots-of-mine.txt") == left.pop("posts/a/notes.txt") == b"mine"
    shutil.copytree(root, tmp_path / "fresh", ignore=shutil.ignore_patterns("public", ".blogsmith"))
    assert build(tmp_path / "fresh").ok
    assert left == public(tmp_path / "fresh")
    assert "tags/y/index.html" not in left or what == "renamed"
    is_there = "posts/a/index.html" in left
    assert is_there == (what == "without its tag")


def test_row_05_no_list_names_what_is_gone(tmp_path: Path) -> None:
    root = before(tmp_path / "s")
    put(root, {"content/about.md": "---\ntitle: About\n---\nx\n"})
    assert build(root).ok
    assert [path for path, data in public(root).items() if b"/posts/a/" in data]
    (root / "content/posts/a.md").unlink()
    assert build(root).ok
    assert not [path for path, data in public(root).items() if b"/posts/a/" in data]
