"""The script of `blogsmith publish setup rsync`, run with a real rsync into a folder of this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.publish_sites import needs_program, run
from tests.site_files import build, put_bare

POST = "---\ntitle: A\ndate: 2026-01-01\n---\ntext\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    needs_program("rsync")
    settings = "title: T\nbase_url: https://example.org\n"
    files = {"blogsmith.yaml": settings, "content/posts/a.md": POST, "content/posts/b.md": POST}
    site = put_bare(tmp_path / "my site", files)
    there = tmp_path / "srv" / "it's here"
    there.mkdir(parents=True)
    assert run("publish", "setup", "rsync", "--site", str(site), "--destination", str(there)) == 0
    return site


def publish(
    root: Path, *options: str, answer: str = "", is_built: bool = False, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run the script. is_built: built by this process, in a tenth of the time."""
    programs = Path(sys.executable).parent
    if is_built:
        assert build(root).ok
        programs = root.parent / "bin"
        programs.mkdir(exist_ok=True)
        (programs / "blogsmith").write_text("#!/bin/sh\n", "utf-8")
        (programs / "blogsmith").chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["sh", str(root / "publish/rsync.sh"), *options],
        input=answer,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path, **more},
        check=False,
    )


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_a_site_is_copied_after_it_was_shown(root: Path) -> None:
    there = root.parent / "srv" / "it's here"
    assert publish(root, "--dry-run", is_built=True).returncode == 0
    assert names(there) == set()
    refused = publish(root, is_built=True)
    assert (refused.returncode, names(there)) == (1, set())
    assert "nothing was copied" in refused.stdout
    done = publish(root, answer="y\n")
    assert done.returncode == 0, done.stderr
    assert "posts/a/index.html" in done.stdout
    assert names(there) == names(root / "public") - {".blogsmith-manifest.json"}
    assert (there / "index.html").stat().st_mode & 0o777 == 0o644
    assert publish(root, "--yes", is_built=True).stdout.endswith("nothing to publish\n")


def test_what_the_site_no_longer_has_goes_and_what_is_hidden_stays(root: Path) -> None:
    there = root.parent / "srv" / "it's here"
    assert publish(root, "--yes", is_built=True).returncode == 0
    (there / ".well-known/acme-challenge").mkdir(parents=True)
    (there / ".well-known/acme-challenge/token").write_text("x", "utf-8")
    (there / ".htpasswd").write_text("x", "utf-8")
    (root / "content/posts/b.md").unlink()
    shown = publish(root, "--dry-run", is_built=True)
    assert "*deleting   posts/b/index.html" in shown.stdout
    assert publish(root, "--yes", is_built=True).returncode == 0
    assert not (there / "posts/b").exists()
    hidden = {".well-known/acme-challenge/token", ".htpasswd"}
    assert names(there) == (names(root / "public") - {".blogsmith-manifest.json"}) | hidden


def test_a_folder_of_something_else_is_not_emptied(root: Path) -> None:
    there = root.parent / "srv" / "it's here"
    for number in range(30):
        (there / f"thesis-{number}.txt").write_text("x", "utf-8")
    refused = publish(root, "--yes", is_built=True, MOST_DELETED="20")
    assert refused.returncode == 1
    assert "more than 20 files would be deleted" in refused.stderr
    assert len(names(there)) == 30


def test_a_site_with_errors_is_not_published(root: Path) -> None:
    (root / "content/posts/a.md").write_text(POST + "[x](none.md)\n", "utf-8")
    refused = publish(root, "--yes")
    assert refused.returncode == 1
    assert "[link-missing]" in refused.stderr
    assert names(root.parent / "srv" / "it's here") == set()
