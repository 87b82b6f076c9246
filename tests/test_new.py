"""New sites and posts: the files written, and everything that is refused."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.cli.new import new_post, new_site, quote_yaml
from blogsmith.diagnostics.model import SiteError
from blogsmith.pipeline.build import build_site
from blogsmith.project.report import BuildOptions
from blogsmith.trust.consent import trust

TODAY = dt.date(2026, 3, 1)


def head_of(file: Path) -> dict[str, object]:
    """The front matter of a post as plain data."""
    opening, head, _ = file.read_text("utf-8").split("---\n", 2)
    assert opening == ""
    loaded = yaml.safe_load(head)
    assert isinstance(loaded, dict)
    return loaded


def test_new_site_has_configuration_home_and_first_post(tmp_path: Path) -> None:
    written = new_site(tmp_path / "my notes", TODAY)
    on_disk = {p.relative_to(tmp_path / "my notes").as_posix() for p in tmp_path.rglob("*") if p.is_file()}
    assert on_disk == {str(path) for path in written}
    assert {"blogsmith.yaml", ".gitignore", "content/_index.md", "content/about.md"} <= on_disk
    settings = yaml.safe_load((tmp_path / "my notes" / "blogsmith.yaml").read_text("utf-8"))
    assert settings["title"] == "my notes"
    assert settings["markup"] == {"smart_quotes": True}
    assert head_of(tmp_path / "my notes/content/posts/hello/index.md")["date"] == TODAY


def test_a_new_site_builds_without_a_word(tmp_path: Path) -> None:
    new_site(tmp_path, TODAY)
    trust(tmp_path)
    noon = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)
    report = build_site(tmp_path, BuildOptions(now=noon, strict=True))
    assert report.diagnostics == ()
    assert (report.ok, report.code_blocks, report.images, report.ran) == (True, 2, 1, 2)
    assert report.formulas > 5
    assert "T = 1/4" in (tmp_path / "public/posts/hello/temperature.svg").read_text("utf-8")


def test_no_placeholder_is_left(tmp_path: Path) -> None:
    new_site(tmp_path / "a", TODAY)
    for file in (path for path in tmp_path.rglob("*") if path.is_file()):
        assert "@TITLE@" not in file.read_text("utf-8")
        assert "@DATE@" not in file.read_text("utf-8")


def test_new_site_accepts_an_empty_folder_and_a_fresh_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert new_site(tmp_path, TODAY)


def test_new_site_refuses_a_used_folder(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(SiteError, match="is not empty"):
        new_site(tmp_path, TODAY)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_new_site_refuses_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(SiteError, match="cannot write"):
        new_site(tmp_path / "file", TODAY)


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
    file = new_post(tmp_path, title, TODAY, **options)  # type: ignore[arg-type]
    assert file.relative_to(tmp_path).as_posix() == expected
    head = head_of(file)
    assert (head["title"], head["date"], head["draft"]) == (" ".join(title.split()), TODAY, True)


@pytest.mark.parametrize(
    ("title", "section", "message"),
    [
        ("?!", "posts", "no letter or digit"),
        ("", "posts", "no letter or digit"),
        ("Index", "posts", "page of the section"),
        ("A", "../up", "not a path of slugs"),
        ("A", "", "not a path of slugs"),
        ("A", "Posts", "not a path of slugs"),
        ("A", "posts//deep", "not a path of slugs"),
        ("A", "c:\\posts", "not a path of slugs"),
    ],
)
def test_new_post_refuses(tmp_path: Path, title: str, section: str, message: str) -> None:
    with pytest.raises(SiteError, match=message):
        new_post(tmp_path, title, TODAY, section=section)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("second", [False, True])
def test_a_post_is_never_overwritten(tmp_path: Path, first: bool, second: bool) -> None:
    file = new_post(tmp_path, "A post", TODAY, bundle=first)
    file.write_text("a year of work")
    with pytest.raises(SiteError, match="already there"):
        new_post(tmp_path, "a  POST", TODAY, bundle=second)
    assert file.read_text() == "a year of work"


@given(st.text())
def test_any_title_survives_yaml(title: str) -> None:
    loaded = yaml.safe_load(quote_yaml(title))
    assert isinstance(loaded, str)
    if title.isprintable():
        assert loaded == " ".join(title.split())
