"""A whole import: the files it writes, a second import, and rejected sources or targets."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from blogsmith.base.diagnostics.model import SiteError
from blogsmith.base.storage.folder import TEMPORARY_PREFIX, Folder
from blogsmith.base.storage.lock import site_lock
from blogsmith.importers.importer import ImportOptions, import_site
from blogsmith.importers.model import SiteImport
from blogsmith.importers.report import ImportResult
from blogsmith.project.report import no_progress
from tests.rows import thinned
from tests.site_files import NOW

POST = "---\ntitle: A post\n---\n\nLet $$x$$ be a *vector*.\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Write a Jekyll site of one post, one image and a data file."""
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
    assert not done.check.differences, done.check.differences
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


def test_a_folder_with_a_site_is_refused(source: Path, tmp_path: Path) -> None:
    own = tmp_path / "new" / "content" / "mine.md"
    own.parent.mkdir(parents=True)
    own.write_text("Mine.", encoding="utf-8")
    with pytest.raises(SiteError) as caught:
        run(source, tmp_path / "new")
    assert caught.value.diagnostics[0].code == "file-exists"
    assert contents(tmp_path / "new") == {"content/mine.md": b"Mine."}


def test_a_folder_of_a_repository_is_taken(source: Path, tmp_path: Path) -> None:
    (tmp_path / "new" / ".git").mkdir(parents=True)
    (tmp_path / "new" / "README").write_text("A site.", encoding="utf-8")
    assert run(source, tmp_path / "new").ok


def test_two_imports_at_once(source: Path, tmp_path: Path) -> None:
    into = tmp_path / "new"
    into.mkdir()
    with site_lock(into, 0), pytest.raises(SiteError) as caught:
        run(source, into)
    assert caught.value.diagnostics[0].code == "busy"
    assert contents(into) == {".blogsmith/lock": b""}


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))])
@pytest.mark.parametrize("count", thinned(range(1, 14), every=3))
def test_an_import_that_was_broken_off_is_taken_up(
    error: BaseException, count: int, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (source / "_posts" / "2024-03-02-wrong.md").write_text("[lost](/nowhere/)\n", encoding="utf-8")
    run(source, tmp_path / "whole")
    whole = contents(tmp_path / "whole")
    into, calls = tmp_path / "new", iter(range(1, 1000))
    replace = Folder.replace

    def break_off(folder: Folder, name: str, *args: Any, **options: Any) -> None:
        if next(calls) == count:
            # as a writer that is killed leaves its file
            folder.create(f"{TEMPORARY_PREFIX}half").close()
            raise error
        replace(folder, name, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Folder, "replace", break_off)
        with suppress(KeyboardInterrupt, SiteError):
            run(source, into)
    run(source, into)
    assert contents(into) == whole


def test_a_broken_off_import_of_a_changed_source_is_taken_up(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(source, tmp_path / "new")
    post = source / "_posts" / "2024-03-01-first.md"
    for text in ("Two.\n", "Three.\n"):
        post.write_text(text, encoding="utf-8")
        with monkeypatch.context() as patch:
            patch.setattr("blogsmith.importers.importer.check_site", _killed)
            with pytest.raises(KeyboardInterrupt):
                run(source, tmp_path / "new")
    post.write_text("Four.\n", encoding="utf-8")
    run(source, tmp_path / "new")
    assert b"Four." in (tmp_path / "new/content/posts/2024-03-01-first.md").read_bytes()


def _killed(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("into", ["file/new", "file"])
def test_a_place_that_cannot_be_written_is_named(into: str, source: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    with pytest.raises(SiteError) as caught:
        run(source, tmp_path / into)
    assert caught.value.diagnostics[0].code == "new-write"
    assert into in caught.value.diagnostics[0].message


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="who may do all is refused nothing"
)
def test_a_folder_without_permission_is_named(source: Path, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir(mode=0o500)
    with pytest.raises(SiteError, match="Permission denied"):
        run(source, tmp_path / "new")


def test_a_source_that_changes_meanwhile_is_named(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(site: SiteImport) -> SiteImport:
        (source / "assets" / "data.csv").unlink()
        return site

    monkeypatch.setattr("blogsmith.importers.importer.remove_unreadable_files", lose)
    with pytest.raises(SiteError) as caught:
        run(source, tmp_path / "new")
    assert caught.value.diagnostics[0].code == "import-source"
    assert "data.csv" in caught.value.diagnostics[0].message
