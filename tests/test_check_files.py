"""`blogsmith check FILE` of pages that a build leaves out, and the reports of `check` about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from blogsmith.cli.clock import CommandClock
from blogsmith.cli.main import main
from tests.site_files import NOW, put_bare

DRAFT, SCHEDULED, EXPIRED = "draft: true", "date: 2999-01-01", "expiry_date: 2020-01-01"
FILES = {
    "content/_index.md": "---\ntitle: T\n---\n[a draft](posts/draft.md)\n",
    "content/posts/draft.md": f"---\ntitle: D\n{DRAFT}\n---\nBy {{@eq-nowhere}}.\n",
    "content/posts/expired.md": f"---\ntitle: E\n{EXPIRED}\n---\nBy {{@eq-nowhere}}.\n",
    "content/posts/good.md": "---\ntitle: G\n---\n",
    "content/posts/scheduled.md": f"---\ntitle: S\n{SCHEDULED}\n---\nBy {{@eq-nowhere}}.\n",
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a site whose unpublished pages each have an error, and whose front page links to one of them."""
    root = put_bare(tmp_path.resolve(), FILES)
    monkeypatch.chdir(root)
    return root


def check(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str], str]:
    """Return the exit code, the places and codes of diagnostics, and the last line of both streams."""
    code = main(("check", *arguments), CommandClock(now=lambda: NOW, seconds=lambda: 0.0))
    out, err = capsys.readouterr()
    found = [line for line in err.splitlines() if line.startswith("content/") and "]" in line]
    places = [f"{line.partition(':')[0]} {line.rpartition('[')[2].rstrip(']')}" for line in found]
    return code, places, (out or err).splitlines()[-1]


@pytest.mark.parametrize("name", ["draft", "expired", "scheduled"])
def test_a_named_file_is_checked(site: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    path = f"content/posts/{name}.md"
    code, places, last = check(capsys, path)
    assert (code, places) == (1, [f"{path} ref-undefined"])
    assert last == "1 error"


def test_pages_that_are_published_are_checked_as_a_build_does(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The link to the draft is an error even if the draft is checked in the same run."""
    _, places, _ = check(capsys, "content/_index.md", "content/posts/draft.md")
    assert places == ["content/_index.md link-unpublished", "content/posts/draft.md ref-undefined"]


def test_a_file_in_a_folder_that_is_named_too(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, places, _ = check(capsys, "content/posts", "content/posts/draft.md")
    assert places == ["content/posts/draft.md ref-undefined"]


LEFT_OUT = "not checked: 1 draft, 1 expired page, 1 scheduled page; run `blogsmith check --drafts --future`"


@pytest.mark.parametrize(
    ("arguments", "code", "last"),
    [
        ((), 1, LEFT_OUT),
        (("content/posts",), 0, LEFT_OUT),
        (("content/posts/good.md",), 0, "checked 1 path of a site of 4 pages in 0.0 s"),
        (
            ("--drafts",),
            1,
            "not checked: 1 scheduled page; run `blogsmith check --future`",
        ),
        (("--drafts", "--future"), 1, "3 errors"),
    ],
)
def test_a_check_reports_the_pages_that_it_left_out(
    site: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int, last: str
) -> None:
    found, _, line = check(capsys, *arguments)
    assert (found, line) == (code, last)


def test_the_count_is_the_same_when_nothing_has_changed(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (site / "content/_index.md").write_text("---\ntitle: T\n---\n")
    assert [check(capsys)[2] for _ in range(3)] == [LEFT_OUT] * 3


def test_the_first_check_of_a_new_post_finds_its_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clocks = CommandClock(now=lambda: NOW, seconds=lambda: 0.0)
    monkeypatch.chdir(tmp_path)
    assert main(("new", "site", "notes"), clocks) == 0
    monkeypatch.chdir(tmp_path / "notes")
    capsys.readouterr()
    assert main(("new", "post", "First"), clocks) == 0
    out, err = capsys.readouterr()
    path = out.strip()
    assert f"`blogsmith check {path}`" in err
    post = Path(path)
    post.write_text(f"{post.read_text()}\nBy {{@eq-nowhere}}.\n")
    assert check(capsys, path)[:2] == (1, [f"{path} ref-undefined"])
