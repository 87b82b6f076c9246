"""`blogsmith publish check`: everything a host would report, before it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from blogsmith.project.report import ExecutionOptions
from tests.publish_locks import use_made_up_index
from tests.publish_sites import run
from tests.site_files import build, put_bare

POST = "---\ntitle: A\ndate: 2026-01-01\n---\n```python\n#| eval: true\nprint(1)\n```\n"
DRAFT = "---\ntitle: B\ndate: 2026-01-01\ndraft: true\n---\ntext\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a trusted site. The new environment is tested in `test_publish_rehearsal.py` instead."""
    use_made_up_index(monkeypatch)
    monkeypatch.setattr("blogsmith.publish.rehearsal_command.rehearse_host", lambda *given: 0)
    settings = "title: T\nbase_url: https://example.org\n"
    files = {"blogsmith.yaml": settings, "content/posts/a.md": POST, "content/posts/b.md": DRAFT}
    site = put_bare(tmp_path, files)
    assert run("trust", "--site", str(site)) == 0
    return site


def test_from_nothing_to_a_site_that_can_be_published(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ("publish", "check", "netlify", "--site", str(root))
    assert run(*command) == 3
    told = capsys.readouterr().err
    assert "no valid result for cell 1: it was never run [freeze-stale]" in told
    assert "netlify.toml is not set up: run `blogsmith publish setup netlify`" in told
    assert not (root / "public").exists()
    assert build(root, execution=ExecutionOptions(execute="stale")).ok
    assert run(*command) == 1
    assert run("publish", "setup", "netlify", "--site", str(root)) == 0
    capsys.readouterr()
    assert run(*command) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert "1 draft" in shown.out
    with (root / "netlify.toml").open("a") as file:
        file.write("# mine\n")
    assert run(*command) == 0
    assert "netlify.toml differs from what setup writes" in capsys.readouterr().out


def test_warnings_stop_it_as_they_stop_the_machine(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert build(root, execution=ExecutionOptions(execute="stale")).ok
    assert run("publish", "setup", "github-pages", "--site", str(root)) == 0
    with (root / "content/posts/a.md").open("a") as post:
        post.write("\n> [!UNHEARD]\n> text\n")
    assert run("publish", "check", "github-pages", "--site", str(root)) == 1
    assert "error:" in capsys.readouterr().err


@pytest.mark.parametrize("line", ["_freeze", "/_freeze/", "_freeze/*", "**/_freeze/  "])
def test_results_that_git_leaves_out(line: str, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / ".gitignore").write_text(f"/public/\n{line}\n", "utf-8")
    assert run("publish", "setup", "gitlab", "--site", str(root)) == 0
    assert ".gitignore:2:1: warning: git ignores the recorded results" in capsys.readouterr().err
