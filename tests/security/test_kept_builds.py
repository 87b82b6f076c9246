"""Row 44: cached builds that come with a clone are never read, and links among them are never followed."""

from __future__ import annotations

import marshal
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from blogsmith.base.storage.cache_file import FILE, cache_path
from blogsmith.base.storage.own_folder import OWN_FOLDER
from blogsmith.base.storage.site_cache import Row
from blogsmith.model.documents import Body
from blogsmith.model.texts import PageText, compress_text
from blogsmith.project.report import BuildReport
from blogsmith.rows.page_rows import encode_page
from tests.build_scripts import unchanged
from tests.cached_rows import change_row, read_row, replace_data
from tests.preview_sites import built
from tests.site_files import build, put_bare

EVIL = b"<script>evil()</script>"
POST = "---\ntitle: A\ndate: 2026-01-01\n---\nharmless text, and more of it\n"
PAGES = {"content/posts/a.md", "content/b.md"}
SIDES = (FILE, f"{FILE}-wal", f"{FILE}-shm", f"{FILE}-journal")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return put_bare(
        tmp_path / "site", {"blogsmith.yaml": "title: S\n", "content/posts/a.md": POST, "content/b.md": "b\n"}
    )


def remember(root: Path) -> BuildReport:
    return build(root, use_cache=True, request_digest="the same", output=root / "public")


def forge_page(root: Path) -> None:
    """Put hostile text into the cache of a site, as the text of an up-to-date page."""
    forged = PageText.from_string(EVIL.decode())
    replace_data(root, "page", "content/b.md", encode_page(Body(forged, "b", "b"), (), root))
    change_row(root, "content", "content/b.md", Row(forged.digest.hex(), compress_text(forged)))


def expect_harmless(root: Path, *, notes: int = 0) -> BuildReport:
    """Build the site and assert that its pages come from its sources."""
    report = remember(root)
    assert report.ok
    assert set(report.rebuilt) in (PAGES, set())
    assert len(report.notes) == notes
    assert EVIL not in b"".join(built(root / "public").values())
    assert build(root, output=root.with_name("fresh")).ok
    assert built(root / "public") == built(root.with_name("fresh"))
    return report


BROUGHT = (
    f"{OWN_FOLDER}/build.db",
    f"{OWN_FOLDER}/built.stamps",
    f"{OWN_FOLDER}/preview.db",
    *(f"{OWN_FOLDER}/{name}" for name in SIDES),
    f"{OWN_FOLDER}/cache/blogsmith/sites/{FILE}",
)


@pytest.mark.parametrize("kind", ["a file", "a link", "a folder", "a pipe"])
def test_row_44_files_of_a_clone_are_not_looked_at(kind: str, site: Path) -> None:
    """A stranger's cache of this site is neither read nor written, under any present or former name."""
    remember(site)
    forge_page(site)
    evil = cache_path(site).read_bytes()
    shutil.rmtree(cache_path(site).parent)
    shutil.rmtree(site / "public")
    outside = site.with_name("outside.db")
    outside.write_bytes(evil)
    for name in BROUGHT:
        place = site / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if kind == "a file":
            place.write_bytes(evil)
        elif kind == "a link":
            place.symlink_to(outside)
        elif kind == "a folder":
            place.mkdir()
        else:
            os.mkfifo(place)
    report = expect_harmless(site)
    assert set(report.rebuilt) == PAGES
    assert outside.read_bytes() == evil
    if kind == "a file":
        assert {(site / name).read_bytes() for name in BROUGHT} == {evil}


def test_row_44_nothing_is_cached_in_a_site(site: Path) -> None:
    """Files in the site's own folder cannot be mistaken for a cache."""
    remember(site)
    remember(site)
    assert {file.name for file in (site / OWN_FOLDER).iterdir()} <= {"lock", "schema"}
    assert cache_path(site).is_file()
    assert not cache_path(site).is_relative_to(site)


def test_row_44_a_folder_behind_a_link_is_left_alone(site: Path) -> None:
    (site.parent / "outside").mkdir()
    (site / OWN_FOLDER).symlink_to(site.parent / "outside")
    report = build(site, use_cache=True)
    # the lock of the site would stand there
    assert [found.code for found in report.diagnostics] == ["output-write"]
    assert list((site.parent / "outside").iterdir()) == []


def test_row_44_the_cache_of_another_folder_is_not_read(site: Path) -> None:
    """The user built a hostile site elsewhere, and somebody copied its cache over the one of this site."""
    twin = site.with_name("twin")
    shutil.copytree(site, twin)
    remember(twin)
    forge_page(twin)
    remember(site)
    (site / "content/b.md").write_text("another text\n")
    shutil.copytree(cache_path(twin).parent, cache_path(site).parent, dirs_exist_ok=True)
    report = expect_harmless(site, notes=1)
    assert set(report.rebuilt) == PAGES
    assert "it was written for another folder" in report.notes[0]
    assert remember(site).notes == ()


def link(place: Path, target: Path) -> None:
    place.symlink_to(target)


def second_name(place: Path, target: Path) -> None:
    place.hardlink_to(target)


@pytest.mark.parametrize("make", [link, second_name], ids=lambda make: make.__name__)
@pytest.mark.parametrize("name", SIDES)
def test_row_44_links_at_the_files_are_not_followed(
    name: str, make: Callable[[Path, Path], None], site: Path
) -> None:
    remember(site)
    target = site.with_name("target")
    target.write_bytes(cache_path(site).read_bytes() if name == FILE else b"mine")
    before = target.read_bytes()
    place = cache_path(site).with_name(name)
    place.unlink(missing_ok=True)
    make(place, target)
    for _ in range(2):
        report = expect_harmless(site, notes=1)
        assert set(report.rebuilt) <= PAGES
        reason = f'invalid file "{place}": links are not allowed; run `rm {place}`'
        assert report.notes[0] == f"cache not used: {reason}"
    assert target.read_bytes() == before
    assert unchanged(site) is None


@pytest.mark.parametrize("depth", [0, 1])
def test_row_44_a_link_at_the_folder_is_not_followed(
    depth: int, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The link replaces the cache folder of the site, or of all sites."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    remember(site)
    folder = cache_path(site).parents[depth]
    elsewhere = tmp_path / "elsewhere"
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)
    before = {file: file.read_bytes() for file in elsewhere.rglob("*") if file.is_file()}
    (site / "content/b.md").write_text("another text\n")
    report = expect_harmless(site, notes=1)
    assert "cache not used:" in report.notes[0]
    assert {file: file.read_bytes() for file in elsewhere.rglob("*") if file.is_file()} == before


@pytest.mark.parametrize("mode", [0o020, 0o002])
@pytest.mark.parametrize("what", ["file", "folder"])
def test_row_44_what_others_may_write_is_not_read(what: str, mode: int, site: Path) -> None:
    remember(site)
    forge_page(site)
    place = cache_path(site) if what == "file" else cache_path(site).parent
    place.chmod(place.stat().st_mode | mode)
    report = expect_harmless(site, notes=1)
    assert report.notes[0] == (
        f'cache not used: invalid permissions of "{place}": other users can write to it; '
        f"run `chmod go-w {place}`"
    )


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="gives files to another user")
@pytest.mark.parametrize("what", ["file", "folder"])
def test_row_44_what_belongs_to_another_user_is_not_read(what: str, site: Path) -> None:
    remember(site)
    forge_page(site)
    place = cache_path(site) if what == "file" else cache_path(site).parent
    os.chown(place, 12345, 12345)
    report = expect_harmless(site, notes=1)
    assert report.notes[0] == (
        f'cache not used: invalid owner of "{place}": another user; run `sudo chown 0 {place}`'
    )


def test_row_44_others_may_not_look_into_the_cache(site: Path) -> None:
    """The cache contains drafts."""
    remember(site)
    assert cache_path(site).parent.stat().st_mode & 0o777 == 0o700


def cut_short(place: Path) -> None:
    place.write_bytes(place.read_bytes()[:5000])


def empty(place: Path) -> None:
    place.write_bytes(b"")


def pipe(place: Path) -> None:
    place.unlink()
    os.mkfifo(place)


def huge(place: Path) -> None:
    """Create a sparse file of 100 GB, which takes no space on the disk."""
    empty(place)
    os.truncate(place, 100 * 10**9)


def folder(place: Path) -> None:
    place.unlink()
    place.mkdir()
    (place / "file").touch()


def view(place: Path) -> None:
    """Replace the table by a view."""
    with closing(sqlite3.connect(place)) as cache, cache:
        cache.executescript("DROP TABLE rows; CREATE VIEW rows AS SELECT 1")


@pytest.mark.parametrize("damage", [cut_short, empty, pipe, huge, folder, view], ids=lambda one: one.__name__)
def test_row_44_a_damaged_file_costs_time_only(damage: Callable[[Path], None], site: Path) -> None:
    remember(site)
    damage(cache_path(site))
    report = expect_harmless(site, notes=int(damage is not empty))
    assert set(report.rebuilt) == PAGES
    again = remember(site)
    assert (again.rebuilt, again.notes) == ({}, ())
    assert cache_path(site).is_file()


def test_row_44_the_place_is_what_protects(site: Path) -> None:
    """The same forgery in the user's own cache would be published, which proves that the tests above work."""
    remember(site)
    forge_page(site)
    remember(site)
    assert EVIL in (site / "public/b/index.html").read_bytes()


def test_row_44_code_of_templates_is_run_only_from_the_user_s_own_cache(site: Path) -> None:
    """The row contains code, and the row of a stranger is never opened.

    A forged row in the user's own cache proves that the test works.
    """
    remember(site)
    mark = site.with_name("mark")
    own = cache_path(site).read_bytes()
    _put_code(site, f"__import__('os').mkdir({str(mark)!r})")
    evil = cache_path(site).read_bytes()
    cache_path(site).write_bytes(own)
    for name in BROUGHT[:4]:
        (site / name).write_bytes(evil)
    (site / "content/b.md").write_text("another text\n")
    assert remember(site).ok
    assert not mark.exists()
    cache_path(site).write_bytes(evil)
    (site / "content/b.md").write_text("one more text\n")
    remember(site)
    assert mark.exists()


def _put_code(root: Path, text: str) -> None:
    """Replace the compiled code of all templates in the cache."""
    row = read_row(root, "templates", "theme")
    codes = msgspec.msgpack.decode(row.data, type=dict[str, tuple[str, bytes]])
    evil = marshal.dumps(compile(text, "evil", "exec"))
    replace_data(
        root,
        "templates",
        "theme",
        msgspec.msgpack.encode({name: (digest, evil) for name, (digest, _) in codes.items()}),
    )
