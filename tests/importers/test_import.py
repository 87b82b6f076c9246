"""An import as a whole: what is written where, twice, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from blogsmith.diagnostics.model import SiteError
from blogsmith.importers.importer import ImportOptions, import_site
from blogsmith.importers.report import ImportResult
from blogsmith.project.report import no_progress
from tests.site_files import NOW

POST = "---\ntitle: A post\n---\n\nLet $$x$$ be a *vector*.\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A Jekyll site of one post and one picture."""
    root = tmp_path / "old"
    (root / "_posts").mkdir(parents=True)
    (root / "assets").mkdir()
    (root / "_config.yml").write_text("title: Notes\nurl: https://example.org\n", encoding="utf-8")
    (root / "_posts" / "2024-03-01-first.md").write_text(POST, encoding="utf-8")
    (root / "assets" / "data.csv").write_text("a,b\n", encoding="utf-8")
    return root


def run(source: Path, into: Path, *, dry_run: bool = False) -> ImportResult:
    return import_site(source, into, ImportOptions(now=NOW, dry_run=dry_run), no_progress)


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_a_site_is_written_and_nothing_is_lost(source: Path, tmp_path: Path) -> None:
    before = contents(source)
    done = run(source, tmp_path / "new")
    assert done.ok, done.check.differences
    written = contents(tmp_path / "new")
    assert b"Let $x$ be a *vector*." in written["content/posts/2024-03-01-first.md"]
    assert written["static/assets/data.csv"] == b"a,b\n"
    assert {"blogsmith.yaml", "import-report.md", "import-report.json"} <= written.keys()
    assert contents(source) == before


def test_twice_gives_the_same_bytes(source: Path, tmp_path: Path) -> None:
    run(source, tmp_path / "new")
    first = contents(tmp_path / "new")
    run(source, tmp_path / "new")
    assert contents(tmp_path / "new") == first


def test_what_the_source_has_no_more_is_removed(source: Path, tmp_path: Path) -> None:
    run(source, tmp_path / "new")
    (source / "assets" / "data.csv").unlink()
    run(source, tmp_path / "new")
    assert not (tmp_path / "new" / "static" / "assets" / "data.csv").exists()


def test_a_changed_file_is_not_overwritten(source: Path, tmp_path: Path) -> None:
    run(source, tmp_path / "new")
    post = tmp_path / "new" / "content" / "posts" / "2024-03-01-first.md"
    post.write_text("mine", encoding="utf-8")
    with pytest.raises(SiteError) as caught:
        run(source, tmp_path / "new")
    assert caught.value.diagnostics[0].code == "file-exists"
    assert "content/posts/2024-03-01-first.md" in caught.value.diagnostics[0].hint
    assert post.read_text("utf-8") == "mine"


def test_a_dry_run_writes_nothing(source: Path, tmp_path: Path) -> None:
    assert run(source, tmp_path / "new", dry_run=True).ok
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("into", ["old", "old/new", "."])
def test_the_source_is_never_written_to(into: str, source: Path, tmp_path: Path) -> None:
    before = contents(source)
    with pytest.raises(SiteError) as caught:
        run(source, tmp_path / into)
    assert caught.value.diagnostics[0].code == "import-into"
    assert contents(source) == before
