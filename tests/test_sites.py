"""Whole sites: built, compared with their snapshot file by file, built again.

`python -m tests.regen sites` rewrites the snapshots under `tests/sites/<name>/expected/`.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.site_files import build

FOLDER = Path(__file__).parent / "sites"
SITES = sorted(path for path in FOLDER.iterdir() if path.is_dir())
REGENERATE = "rewrite with: python -m tests.regen sites"


def tree(root: Path, pattern: str = "*") -> dict[str, bytes]:
    """Every file below `root` that matches, by path."""
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob(pattern)) if p.is_file()}


def copied(site: Path, to: Path) -> Path:
    """The site's source in a folder of its own."""
    shutil.copytree(site / "source", to)
    return to


def snapshot(public: Path) -> dict[str, bytes]:
    """What a snapshot keeps: all files but the theme's own and the manifest, which have other tests."""
    return {
        path: data
        for path, data in tree(public).items()
        if not path.startswith("assets/") and not path.startswith(".")
    }


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_snapshot(site: Path, tmp_path: Path) -> None:
    root = copied(site, tmp_path / "site")
    report = build(root)
    assert report.ok, report.diagnostics
    built, expected = snapshot(root / "public"), tree(site / "expected")
    assert sorted(built) == sorted(expected), REGENERATE
    for path, data in expected.items():
        assert built[path].decode("utf-8", "replace") == data.decode("utf-8", "replace"), f"{path}: {REGENERATE}"


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_a_second_build_changes_nothing(site: Path, tmp_path: Path) -> None:
    root = copied(site, tmp_path / "site")
    build(root)
    before = {p: (p.stat().st_mtime_ns, p.stat().st_ino) for p in (root / "public").rglob("*") if p.is_file()}
    report = build(root)
    after = {p: (p.stat().st_mtime_ns, p.stat().st_ino) for p in (root / "public").rglob("*") if p.is_file()}
    assert (report.written, report.removed) == (0, 0)
    assert before == after


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_same_bytes_in_another_folder(site: Path, tmp_path: Path) -> None:
    one, two = copied(site, tmp_path / "a"), copied(site, tmp_path / "ä ö" / "b")
    build(one)
    build(two)
    assert tree(one / "public") == tree(two / "public")


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_edits_end_where_a_clean_build_does(site: Path, tmp_path: Path) -> None:
    root = copied(site, tmp_path / "site")
    build(root)
    posts = sorted((root / "content").rglob("*.md"))
    for post in posts[:3]:
        post.write_text(post.read_text("utf-8") + "\nAn added line with $x^2$.\n", "utf-8")
        build(root)
    victim = next(post for post in posts if post.stem not in ("_index", "index"))
    victim.rename(victim.with_name("renamed-post.md"))
    report = build(root)
    shutil.copytree(root, tmp_path / "fresh", ignore=shutil.ignore_patterns("public", ".blogsmith"))
    fresh = build(tmp_path / "fresh")
    assert report.diagnostics == fresh.diagnostics
    assert report.ok is fresh.ok
    if fresh.ok:
        assert tree(root / "public") == tree(tmp_path / "fresh" / "public")


def test_foreign_files_survive(tmp_path: Path) -> None:
    root = copied(SITES[0], tmp_path / "site")
    build(root)
    (root / "public" / "CNAME").write_text("example.org\n")
    assert build(root).ok
    assert (root / "public" / "CNAME").read_text() == "example.org\n"


def test_the_old_site_stays_while_there_is_an_error(tmp_path: Path) -> None:
    root = copied(SITES[0], tmp_path / "site")
    build(root)
    before = tree(root / "public")
    post = next((root / "content").rglob("*.md"))
    post.write_text(post.read_text("utf-8") + "\n$\\unknowncommand$\n", "utf-8")
    assert not build(root).ok
    assert tree(root / "public") == before


def test_sources_stay_out_of_the_output(tmp_path: Path) -> None:
    root = copied(SITES[0], tmp_path / "site")
    build(root)
    files = tree(root / "public")
    assert not [path for path in files if path.endswith((".md", ".yaml", ".py"))]
    assert not [path for path, data in files.items() if str(tmp_path).encode() in data]
