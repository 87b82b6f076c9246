"""A Jekyll site of posts and notes whose layouts show most of their front matter."""

from __future__ import annotations

from pathlib import Path

import pytest

from blogsmith.importers.text.data import load_mapping, split_yaml_front_matter
from tests.importers.import_texts import outcome, read_import_text, run_import, text_files
from tests.site_files import build

KEYS = [
    "layout",
    "title",
    "date",
    "tags",
    "math",
    "comments",
    "description",
    "permalink",
    "subject",
    "subject_slug",
    "subject_name",
    "sub_subject",
    "sub_subjects",
    "parent",
    "status",
    "slides",
    "references",
]


@pytest.mark.parametrize("path", text_files("second_brain"), ids=lambda path: path.stem)
def test_sites(path: Path, tmp_path: Path) -> None:
    text = read_import_text(path)
    done = run_import(text, tmp_path)
    assert outcome(done, tmp_path) == text.expected, "python -m tests.importers.import_texts second_brain"
    assert not done.check.differences, done.check.differences
    assert build(tmp_path / "new").ok


def test_every_key_is_in_the_new_site_or_in_the_report(tmp_path: Path) -> None:
    text = read_import_text(text_files("second_brain")[0])
    done = run_import(text, tmp_path)
    report = (tmp_path / "new" / "import-report.md").read_text("utf-8")
    new = {
        key
        for path in (tmp_path / "new").rglob("*.md")
        for key in load_mapping(split_yaml_front_matter(path.read_text())[0])
    }
    assert {key for page in done.site.pages for key in page.old_front} == {*KEYS}
    # The old URL of the page is the one that its file gives it.
    unexplained = [key for key in KEYS if key not in new and f'"{key}"' not in report and key != "permalink"]
    assert unexplained == []
    steps = report.partition("## What to do next")[2]
    assert "`parent`" in steps
    assert "`social.rss`" in steps


def test_readers_see_references_and_slides(tmp_path: Path) -> None:
    run_import(read_import_text(text_files("second_brain")[0]), tmp_path)
    assert build(tmp_path / "new").ok
    pages = {
        name: (tmp_path / "new" / "public" / "notes" / "sums" / name / "index.html").read_text("utf-8")
        for name in ("first", "second")
    }
    for shown in (
        "A lecture on sums",
        "https://example.org/notes",
        "lecture-1.pdf",
        "C. Lund",
        "Spring School",
    ):
        assert shown in pages["first"]
    assert "Sums of rows" in pages["second"]
    assert "Older sums" not in pages["first"] + pages["second"]
    post = (tmp_path / "new" / "public" / "blog" / "rows" / "index.html").read_text("utf-8")
    for shown in (
        "hf.space",
        "callout-insight",
        "giscus.app",
        "ada@example.org",
        "https://github.com/ada-keller",
    ):
        assert shown in post
