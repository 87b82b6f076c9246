"""`blogsmith publish`: pages pushed to a branch of a real repository of git on this disk."""

from __future__ import annotations

import io
import shutil
import subprocess
from pathlib import Path

import pytest

from blogsmith.publish import pages_branch
from tests.publish_sites import run
from tests.site_files import put, put_bare

POST = "---\ntitle: A\ndate: 2026-01-01\n---\ntext\n"
URL = "https://ada.github.io/notes"


def git(folder: Path, *words: str) -> str:
    names = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    done = subprocess.run(["git", *names, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a trusted site in a repository with a remote, `remote.git` next to it."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    (tmp_path / "gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n", "utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config/git").mkdir(parents=True)
    (tmp_path / "gitconfig").rename(tmp_path / "config/git/config")
    site = put_bare(tmp_path / "my site", {"blogsmith.yaml": "title: T\n", "content/posts/a.md": POST})
    (site / ".gitignore").write_text("/public/\n/.blogsmith/\n", "utf-8")
    git(tmp_path, "init", "--quiet", "--bare", "remote.git")
    git(site, "init", "--quiet")
    git(site, "remote", "add", "origin", (tmp_path / "remote.git").as_uri())
    git(site, "add", ".")
    git(site, "commit", "--quiet", "-m", "First")
    assert run("trust", "--site", str(site)) == 0
    return site


def publish(root: Path, *words: str) -> int:
    return run("publish", "--site", str(root), "--base-url", URL, *words)


def published(root: Path, branch: str = "gh-pages") -> list[str]:
    """Return the files of a branch at the remote; none if the branch does not exist."""
    remote = root.parent / "remote.git"
    if not git(remote, "for-each-ref", f"refs/heads/{branch}"):
        return []
    return git(remote, "ls-tree", "-r", "--name-only", branch).split("\n")


def state(root: Path) -> tuple[str, ...]:
    """Return all parts of the author's repository that publishing must not change."""
    return (
        git(root, "status", "--porcelain"),
        git(root, "for-each-ref"),
        git(root, "count-objects"),
        git(root, "fsck", "--full"),
        git(root, "symbolic-ref", "HEAD"),
    )


def test_pages_are_shown_then_pushed(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = state(root)
    capsys.readouterr()
    assert publish(root, "--dry-run") == 0
    said = capsys.readouterr().out
    assert "  new      posts/a/index.html\n" in said
    assert "nothing was pushed: omit --dry-run to publish\n" in said
    assert published(root) == []
    assert publish(root, "--yes") == 0
    assert (
        "next: on GitHub, Settings → Pages → Source: Deploy from a branch, gh-pages"
        in capsys.readouterr().out
    )
    files = published(root)
    assert {".nojekyll", "index.html", "posts/a/index.html"} <= {*files}
    assert not [name for name in files if "manifest" in name or name in ("CNAME", "blogsmith.yaml")]
    remote = root.parent / "remote.git"
    assert f"{URL}/posts/a/" in git(remote, "show", "gh-pages:sitemap.xml")
    source = git(root, "rev-parse", "--short", "HEAD")
    message = git(remote, "log", "-1", "--format=%B", "gh-pages")
    assert message == f"Publish the site\n\nBuilt from {source}.\n\nPublished-by: blogsmith"
    assert state(root) == before
    assert not (root / "public").exists()


def test_the_next_commit_follows_and_shows_what_changed(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert publish(root, "--yes") == 0
    capsys.readouterr()
    assert publish(root, "--yes") == 0
    assert 'nothing to publish: the branch "gh-pages" has these pages' in capsys.readouterr().out
    put(root, {"content/posts/b.md": POST.replace("A", "B"), "content/posts/a.md": POST + "more\n"})
    assert publish(root, "--yes") == 0
    said = capsys.readouterr().out
    assert "  new      posts/b/index.html\n" in said
    assert "  changed  posts/a/index.html\n" in said
    assert "the pages include changes that are not committed" in said
    assert "next:" not in said
    (root / "content/posts/a.md").unlink()
    assert publish(root, "--yes") == 0
    assert "  deleted  posts/a/index.html\n" in capsys.readouterr().out
    assert git(root.parent / "remote.git", "rev-list", "--count", "gh-pages") == "3"
    assert git(root, "fsck", "--full") == ""


@pytest.mark.parametrize(("answer", "is_pushed"), [("y\n", True), ("n\n", False), ("", False)])
def test_nothing_is_pushed_without_an_answer(
    answer: str, is_pushed: bool, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    assert publish(root) == (0 if is_pushed else 1)
    assert bool(published(root)) == is_pushed


def test_a_site_with_errors_is_not_published(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(root, {"content/posts/b.md": POST + "\nSee {@eq:nothing}.\n"})
    assert publish(root, "--yes") == 1
    said = capsys.readouterr().err
    assert "[ref-undefined]" in said
    assert "nothing was published: the site has errors" in said
    assert published(root) == []


def test_a_branch_with_other_content_stays(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(root, "push", "--quiet", "origin", "HEAD:refs/heads/gh-pages")
    files = published(root)
    assert publish(root, "--yes") == 1
    said = capsys.readouterr().err
    assert 'the branch "gh-pages" has content that blogsmith did not publish [publish-git]' in said
    assert "--branch NAME" in said
    assert published(root) == files
    assert publish(root, "--yes", "--branch", "pages") == 0
    assert "index.html" in published(root, "pages")


def test_a_branch_that_moves_meanwhile_stays(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert publish(root, "--yes") == 0
    put(root, {"content/posts/b.md": POST})
    push = pages_branch.push_update

    def push_later(update: pages_branch.BranchUpdate) -> None:
        git(root, "push", "--quiet", "--force", "origin", "HEAD:refs/heads/gh-pages")
        push(update)

    monkeypatch.setattr(pages_branch, "push_update", push_later)
    assert publish(root, "--yes") == 1
    assert (
        'the branch "gh-pages" has changed while the site was built [publish-git]' in capsys.readouterr().err
    )
    assert "blogsmith.yaml" in published(root)


def test_repositories_that_cannot_be_pushed_to(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert publish(root, "--yes", "--remote", "upstream") == 1
    assert 'remote not found: "upstream" [publish-git]' in capsys.readouterr().err
    git(root, "remote", "set-url", "origin", (root.parent / "gone.git").as_uri())
    assert publish(root, "--yes") == 1
    assert 'cannot reach remote "origin": ' in capsys.readouterr().err
    git(root, "remote", "remove", "origin")
    assert publish(root, "--yes") == 1
    assert "hint: run `git remote add origin URL`" in capsys.readouterr().err
    shutil.rmtree(root / ".git")
    assert publish(root, "--yes") == 1
    assert "the site is not in a git repository [publish-git]" in capsys.readouterr().err


def test_an_author_without_a_name_learns_to_give_one(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (root.parent / "config/git/config").write_text("[user]\n\tuseConfigOnly = true\n", "utf-8")
    for name in ("EMAIL", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"):
        monkeypatch.delenv(name, raising=False)
    assert publish(root, "--yes") == 1
    assert "git config --global user.name" in capsys.readouterr().err


def test_a_domain_of_ones_own_goes_into_the_branch(root: Path) -> None:
    assert run("publish", "--site", str(root), "--base-url", "https://ada.example.org", "--yes") == 0
    assert git(root.parent / "remote.git", "show", "gh-pages:CNAME") == "ada.example.org"


def test_bytes_are_published_as_they_were_built(root: Path) -> None:
    """Settings of git that convert files do not affect pages."""
    git(root, "config", "core.autocrlf", "true")
    (root / "static").mkdir()
    (root / "static/lines.txt").write_bytes(b"one\r\ntwo\n\xff")
    (root / "static/.gitattributes").write_text("*.txt text eol=crlf\n", "utf-8")
    assert publish(root, "--yes") == 0
    done = subprocess.run(
        ["git", "show", "gh-pages:lines.txt"], cwd=root.parent / "remote.git", capture_output=True, check=True
    )
    assert done.stdout == b"one\r\ntwo\n\xff"


def test_rsync_is_checked_and_runs_its_script(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("publish", "--site", str(root), "--to", "rsync") == 1
    assert 'file not found: "publish/rsync.sh"' in capfd.readouterr().err
    put(root, {"publish/rsync.sh": 'echo "ran ${1:-}"\n'})
    assert run("publish", "--site", str(root), "--dry-run") == 0
    assert "ran --dry-run\n" in capfd.readouterr().out
    assert run("publish", "--site", str(root), "--yes") == 0
    assert "ran --yes\n" in capfd.readouterr().out
    put(root, {"content/posts/b.md": POST + "\nSee {@eq:nothing}.\n"})
    assert run("publish", "--site", str(root), "--yes") == 1
    assert "ran" not in capfd.readouterr().out


@pytest.mark.parametrize("words", [("--dry-run", "--yes"), ("--yes", "setup", "gitlab"), ("--to", "gitlab")])
def test_wrong_usage(words: tuple[str, ...], root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("publish", *words) == 2
    assert capsys.readouterr().err
