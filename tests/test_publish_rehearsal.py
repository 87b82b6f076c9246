"""`blogsmith publish check` with a real pip, whose index is a folder of the packages installed here."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from blogsmith.base.diagnostics.model import SiteError
from blogsmith.base.storage.file_names import MANIFEST
from blogsmith.project.report import ExecutionOptions
from blogsmith.publish.dependency_lock import LOCK
from blogsmith.publish.host_rehearsal import copy_checkout, different_files, pages_problem, wheel_folder
from tests.publish_sites import publish_site, run
from tests.site_files import build, put

CELL = "---\ntitle: B\ndate: 2026-01-01\n---\n```python\n#| eval: true\nprint(6 * 7)\n```\n"
HOSTS = ("github-pages", "gitlab", "cloudflare", "netlify")


@pytest.fixture
def offline(package_index: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow no other index, and use a separate cache for the test."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    for name, value in {**package_index, "XDG_CACHE_HOME": str(tmp_path / "cache")}.items():
        monkeypatch.setenv(name, value)


def published_site(root: Path, target: str) -> Path:
    """Create a trusted site with a recorded result, set up for a host."""
    settings = "base_url: https://ada.example.org\n" if target == "cloudflare" else ""
    publish_site(root, settings, is_bare=True, **{"content/posts/b.md": CELL})
    assert run("trust", "--site", str(root)) == 0
    assert build(root, execution=ExecutionOptions(execute="stale")).ok
    assert run("publish", "setup", target, "--site", str(root)) == 0
    return root


def check(root: Path, target: str) -> int:
    return run("publish", "check", target, "--site", str(root))


# a minute each; `make test-publish` tries all of them
@pytest.mark.long
@pytest.mark.parametrize("target", HOSTS)
def test_a_host_installs_the_lock_and_builds_the_same_pages(
    target: str,
    tmp_path: Path,
    offline: None,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root = published_site(tmp_path / "site", target)
    capsys.readouterr()
    assert check(root, target) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert f"  python -m pip install --require-hashes --requirement {LOCK}\n    ok, " in said.out
    assert re.search(r"\n  blogsmith build --frozen --strict[^\n]*\n    ok, .*: built \d+ pages", said.out)
    assert re.search(r"\npages: \d+ files, equal to those built here\n$", said.out)
    if target != HOSTS[0]:
        return

    # the files of the first run are sufficient for the next one
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "empty"))
    assert len(list(wheel_folder().glob("*.whl"))) > 15
    # a changed lock: the wheel that it names is a different one
    lock = root / LOCK
    text = lock.read_text("utf-8")
    digest = re.search(r"click==.*\n *--hash=sha256:(\w+)", text)
    assert digest
    lock.write_text(text.replace(digest[1], "0" * 64), "utf-8")
    assert check(root, target) == 1
    said = capsys.readouterr()
    line = text[: digest.start()].count("\n") + 1
    assert f"{LOCK}:{line}:1: error: " in said.err
    assert "[publish-install]" in said.err
    assert "failed with exit code 1" in said.out


def test_files_that_differ_are_named(tmp_path: Path) -> None:
    put(tmp_path / "here", {"same": "1", "changed": "2", "posts/only here": "3", MANIFEST: "a"})
    put(tmp_path / "host", {"same": "1", "changed": "4", "only there": "5", MANIFEST: "b"})
    differing = different_files(tmp_path / "here", tmp_path / "host")
    assert differing == ("changed", "only there", "posts/only here")
    message = pages_problem(differing).message
    assert message.endswith("from those built here: changed, only there, posts/only here")
    assert different_files(tmp_path / "here", tmp_path / "here") == ()


# `make test-publish` runs it
@pytest.mark.long
def test_without_a_network_the_index_is_named(
    tmp_path: Path, offline: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = published_site(tmp_path / "site", "gitlab")
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    # nothing listens there
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    capsys.readouterr()
    assert check(root, "gitlab") == 1
    assert "package index not reached: pip cannot connect to it [publish-install]" in capsys.readouterr().err
    before = (root / LOCK).read_text("utf-8")
    (root / LOCK).unlink()
    assert run("publish", "setup", "gitlab", "--site", str(root)) == 1
    assert "package index not reached" in capsys.readouterr().err
    assert not (root / LOCK).exists()
    assert "--hash=sha256:" in before


def test_a_wheel_that_was_changed_is_not_installed(
    tmp_path: Path, offline: None, capsys: pytest.CaptureFixture[str]
) -> None:
    root = published_site(tmp_path / "site", "netlify")
    (wheel,) = (root / "publish").glob("*.whl")
    wheel.write_bytes(wheel.read_bytes() + b"more")
    capsys.readouterr()
    assert check(root, "netlify") == 1
    said = capsys.readouterr()
    assert "its SHA-256 is not the one in the lock [publish-lock]" in said.err
    assert "would run" not in said.out


def test_nothing_of_a_site_runs_that_is_not_trusted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("blogsmith.publish.host_rehearsal.host_machine", None)
    monkeypatch.setattr("blogsmith.publish.pages_branch.run_git", None)
    root = publish_site(tmp_path, is_bare=True)
    for words in (("check", "gitlab"), ("--dry-run",), ("--yes", "--to", "rsync")):
        assert run("publish", *words, "--site", str(root)) == 1
        assert "this site is not trusted [publish-trust]" in capsys.readouterr().err


def test_a_copy_has_the_files_that_git_has(tmp_path: Path) -> None:
    root = put(
        tmp_path / "repository/my site",
        {
            "blogsmith.yaml": "",
            ".gitignore": "/_freeze/\n",
            "_freeze/a.json": "",
            "content/a.md": "",
            "public/x": "",
        },
    )
    (root / "content/link.md").symlink_to("a.md")
    copy_checkout(root.parent, root.name, tmp_path / "plain", "public")
    assert names(tmp_path / "plain") == {
        f"my site/{name}"
        for name in (".gitignore", "blogsmith.yaml", "_freeze/a.json", "content/a.md", "content/link.md")
    }
    assert (tmp_path / "plain/my site/content/link.md").is_symlink()
    subprocess.run(["git", "init", "--quiet", str(root.parent)], check=True)
    copy_checkout(root.parent, root.name, tmp_path / "checkout", "public")
    assert names(tmp_path / "checkout") == {".git"} | {
        f"my site/{name}"
        for name in (".gitignore", "blogsmith.yaml", "content/a.md", "content/link.md", "public/x")
    }


def test_a_site_that_git_ignores_is_reported(tmp_path: Path) -> None:
    root = put(tmp_path / "notes", {"blogsmith.yaml": "", "content/a.md": ""})
    (tmp_path / ".gitignore").write_text("/notes/\n", "utf-8")
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    with pytest.raises(SiteError) as caught:
        copy_checkout(tmp_path, root.name, tmp_path / "copy", "public")
    assert caught.value.diagnostics[0].message == "git ignores all files of the site"


def names(folder: Path) -> set[str]:
    return {
        file.relative_to(folder).as_posix()
        for file in folder.rglob("*")
        if file.is_file() or file.is_symlink()
    }
