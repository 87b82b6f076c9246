"""Sources with unchanged files are not read again, and no change is missed."""

from __future__ import annotations

import os
import time
from pathlib import Path, PurePosixPath

import pytest

from blogsmith.base.diagnostics.model import SiteError
from blogsmith.cli.main import main
from blogsmith.project.program import open_rows
from blogsmith.read import files as reading
from blogsmith.read.source_text import source_text
from blogsmith.rows import file_rows
from blogsmith.rows.file_rows import SourceCache
from tests.site_files import put_bare

POST = "---\ntitle: A\ndate: 2026-01-01\n---\nfirst\n"
PAGE = "public/posts/a/index.html"
PLAIN = "<!DOCTYPE html><title>{{ page.title }}</title><main>%s{{ page.content }}</main>"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a site that has been built, with sources older than any doubt."""
    monkeypatch.setattr(file_rows, "UNCERTAIN_STAMP_NS", 20_000_000)
    files = {
        "blogsmith.yaml": "title: S\n",
        "content/posts/a.md": POST,
        "content/posts/b.md": POST.replace("A", "B"),
        "layouts/post.html": PLAIN.replace("%s", "old"),
    }
    root = put_bare(tmp_path / "site", files)
    monkeypatch.chdir(root)
    time.sleep(0.1)
    assert main(["build"]) == 0
    return root


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the names of the sources that are read from now on."""
    names: list[str] = []

    def noted(path: PurePosixPath, data: bytes) -> str:
        names.append(str(path))
        return source_text(path, data)

    for module in (reading, file_rows):
        monkeypatch.setattr(module, "source_text", noted)
    return names


def edit_template(root: Path) -> None:
    (root / "layouts/post.html").write_text(PLAIN.replace("%s", "new"))


def test_sources_are_not_read_again(site: Path, read: list[str]) -> None:
    edit_template(site)
    assert main(["build"]) == 0
    assert read == []
    assert "<main>new" in (site / PAGE).read_text()


def test_texts_are_read_where_pages_are_made_anew(site: Path, read: list[str]) -> None:
    (site / "blogsmith.yaml").write_text("title: S\ntheme: bare\nmath: {numbering: none}\n")
    assert main(["build"]) == 0
    assert sorted({*read}) == ["content/posts/a.md", "content/posts/b.md"]


def test_a_change_that_keeps_size_and_time_is_seen(site: Path, read: list[str]) -> None:
    source = site / "content/posts/a.md"
    before = source.stat()
    source.write_text(POST.replace("first", "other"))
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    edit_template(site)
    assert main(["build"]) == 0
    assert read == ["content/posts/a.md"]
    assert "other" in (site / PAGE).read_text()


def test_young_files_are_read_again(site: Path, read: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_rows, "UNCERTAIN_STAMP_NS", 60_000_000_000)
    (site / "content/posts/a.md").write_text(POST)
    for word in ("new", "newer"):
        (site / "layouts/post.html").write_text(PLAIN.replace("%s", word))
        assert main(["build"]) == 0
    assert read == ["content/posts/a.md"] * 2


def test_a_text_that_is_saved_or_removed_meanwhile(site: Path) -> None:
    path = PurePosixPath("content/posts/a.md")
    with open_rows(site) as rows:
        found = SourceCache(rows).find(path, site / path)
        assert found is not None
        assert found.text == POST
        (site / path).write_text(POST + "more\n")
        with pytest.raises(SiteError, match="the file changed during the build"):
            _ = found.text
        (site / path).unlink()
        with pytest.raises(SiteError, match="cannot read the file: No such file"):
            _ = found.text
