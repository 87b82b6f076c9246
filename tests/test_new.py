"""New posts and pages: the files written, and all rejected input."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.base.diagnostics.model import SiteError
from blogsmith.cli.author_files import quote_yaml
from blogsmith.cli.new_post import NewPost, write_page, write_post
from tests.site_files import build

TODAY = dt.date(2026, 3, 1)


def new_post(root: Path, title: str, **options: object) -> Path:
    return write_post(root, NewPost(title=title, date=TODAY, **options))  # type: ignore[arg-type]


def head_of(file: Path) -> dict[str, object]:
    """Return the front matter of a post as plain data."""
    opening, head, _ = file.read_text("utf-8").split("---\n", 2)
    assert opening == ""
    loaded = yaml.safe_load(head)
    assert isinstance(loaded, dict)
    return loaded


@pytest.mark.parametrize(
    ("title", "options", "expected"),
    [
        ("Why Scale by √d?", {}, "content/posts/why-scale-by-d.md"),
        ("Über Größe", {}, "content/posts/über-grösse.md"),
        ("A", {"bundle": True}, "content/posts/a/index.md"),
        ("A", {"section": "docs/first-steps"}, "content/docs/first-steps/a.md"),
        ("A", {"section": "/notes/"}, "content/notes/a.md"),
        ("../../etc/passwd", {}, "content/posts/etc-passwd.md"),
        ("word " * 100, {}, "content/posts/" + "-".join(["word"] * 20) + ".md"),
    ],
)
def test_new_post_is_named_by_its_title(
    tmp_path: Path, title: str, options: dict[str, object], expected: str
) -> None:
    file = new_post(tmp_path, title, **options)
    assert file.relative_to(tmp_path).as_posix() == expected
    head = head_of(file)
    assert (head["title"], head["date"], head["draft"]) == (" ".join(title.split()), TODAY, True)


def test_a_post_of_a_series_with_tags(tmp_path: Path) -> None:
    new_post(tmp_path, "A", series='Part: "one"', tags=["a: b", "#c", "no"])
    head = head_of(tmp_path / "content/posts/a.md")
    assert (head["series"], head["tags"]) == ('Part: "one"', ["a: b", "#c", "no"])


def test_what_is_written_builds_without_a_word(tmp_path: Path) -> None:
    (tmp_path / "blogsmith.yaml").write_text("title: T\n")
    new_post(tmp_path, "A", series="First steps", tags=["a", "b"], bundle=True)
    new_post(tmp_path, "B")
    write_page(tmp_path, "Talks")
    write_page(tmp_path, "Setup", section="docs", bundle=True)
    report = build(tmp_path, drafts=True, strict=True)
    assert (report.diagnostics, report.ok) == ((), True)
    assert (tmp_path / "public/talks/index.html").is_file()
    assert (tmp_path / "public/docs/setup/index.html").is_file()


def test_a_page_has_no_date(tmp_path: Path) -> None:
    file = write_page(tmp_path, "Talks & papers")
    assert file == tmp_path / "content/talks-papers.md"
    assert head_of(file) == {"title": "Talks & papers", "draft": True}


@pytest.mark.parametrize(
    ("title", "section", "message"),
    [
        ("?!", "posts", "expected a letter or digit"),
        ("", "posts", "expected a letter or digit"),
        ("Index", "posts", "page of the section"),
        ("A", "../up", "expected a path of slugs"),
        ("A", "", "expected a path of slugs"),
        ("A", "Posts", "expected a path of slugs"),
        ("A", "posts//deep", "expected a path of slugs"),
        ("A", "c:\\posts", "expected a path of slugs"),
        ("Aux", "posts", '"aux.md" is not allowed as a file name on Windows'),
        ("COM1", "posts", '"com1.md" is not allowed as a file name on Windows'),
        ("A", "posts/nul", '"nul" is not allowed as a file name on Windows'),
    ],
)
def test_new_post_refuses(tmp_path: Path, title: str, section: str, message: str) -> None:
    with pytest.raises(SiteError, match=message):
        new_post(tmp_path, title, section=section)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("second", [False, True])
def test_a_post_is_never_overwritten(tmp_path: Path, first: bool, second: bool) -> None:
    file = new_post(tmp_path, "A post", bundle=first)
    file.write_text("a year of work")
    with pytest.raises(SiteError, match="already exists"):
        new_post(tmp_path, "a  POST", bundle=second)
    assert file.read_text() == "a year of work"


@given(st.text())
def test_any_title_survives_yaml(title: str) -> None:
    loaded = yaml.safe_load(quote_yaml(title))
    assert isinstance(loaded, str)
    if title.isprintable():
        assert loaded == " ".join(title.split())
