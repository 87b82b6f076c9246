"""Pages that `blogsmith serve` stores for its next start: available immediately, and only current ones."""

from __future__ import annotations

import re
import shutil
import sqlite3
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from blogsmith.base.storage.cache_file import cache_path
from blogsmith.base.storage.site_cache import Row
from blogsmith.preview.page_store import StoredPage
from tests.bench.posts import write_posts
from tests.cached_rows import change_row, read_row, row_names
from tests.preview_client import soon
from tests.rows import thinned
from tests.serve_process import INTERRUPTED, PATIENCE_S, interrupt, post, running, write

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")

PAGE = "/posts/a/"
FORGED = b"<!DOCTYPE html><html><head></head><body>forged</body></html>"
SECRET = "in no folder of the site"


@pytest.fixture(scope="module")
def previewed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a site that was previewed before, next to a file that is not part of it."""
    folder = tmp_path_factory.mktemp("stored")
    (folder / "secret.txt").write_text(SECRET)
    files = {"content/posts/a.md": post("First", "Some text."), "static/data.txt": "some data"}
    write(folder / "site", {"blogsmith.yaml": "title: Notes\n", **files})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        with running(folder / "site") as serving:
            serving.wait_until_whole()
            assert soon(lambda: PAGE in row_names(folder / "site", "served page"), PATIENCE_S)
    return folder


@pytest.fixture
def site(previewed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield the same site in its original place, which is the key of stored pages."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(previewed / "cache"))
    shutil.copytree(previewed, tmp_path / "kept")
    yield previewed / "site"
    shutil.rmtree(previewed)
    shutil.copytree(tmp_path / "kept", previewed)


def change_page(root: Path, path: str = PAGE, **changes: object) -> None:
    """Change a stored page as only this user, or a bug of ours, can: all other protections are tested."""
    row = read_row(root, "served page", path)
    page = msgspec.msgpack.decode(row.data, type=StoredPage)
    change_row(root, "served page", path, Row(row.key, msgspec.msgpack.encode(replace(page, **changes))))


def name_file(root: Path, path: str, file: str) -> None:
    """Let a URL show a file."""
    key = read_row(root, "served file", "/data.txt").key
    change_row(root, "served file", path, Row(key, file.encode()))


def test_pages_of_the_last_time_are_there_at_once(site: Path) -> None:
    # many pages, so that this test sends its request before all are loaded, even on a slow machine
    write_posts(site / "content/notes", 100)
    with running(site) as serving:
        serving.wait_until_whole()
        old = serving.page(PAGE)
    write(site, {"content/posts/b.md": post("Second", "New.")})
    # the tab connects first, because the event comes only once
    with running(site) as serving, serving.listen() as tab:
        page = serving.page(PAGE)
        assert "Some text." in page
        assert "Second" not in page, "its neighbour is not known yet"
        said = serving.said()
        assert len(said.splitlines()) == 1
        # the browser shows the sent page, and gets an event as soon as that is known to be old
        known = re.search(r'data-version="(\w+)"', page)
        assert known and known[1] in old
        tab.wait_until(lambda: tab.version(PAGE) not in ("", known[1]))
        serving.wait_for(PAGE, "Second")


def test_a_source_that_has_changed_is_never_shown_as_it_was(site: Path) -> None:
    write(site, {"content/posts/a.md": post("First", "Edited meanwhile.")})
    with running(site) as serving:
        assert "Edited meanwhile." in serving.page(PAGE)


def _nothing(root: Path) -> None:
    """Do nothing; the page is gone."""
    cache_path(root).unlink()


def _no_database(root: Path) -> None:
    cache_path(root).write_bytes(b"SQLite format 3\0" + b"nonsense" * 1000)


def _a_folder(root: Path) -> None:
    cache_path(root).unlink()
    cache_path(root).mkdir()


def _other_tables(root: Path) -> None:
    with closing(sqlite3.connect(cache_path(root))) as cache, cache:
        cache.executescript("DROP TABLE rows; CREATE TABLE rows (path, other)")


def _damaged_pages(root: Path) -> None:
    change_page(root, compressed=b"no deflated text")


def _no_pages(root: Path) -> None:
    change_row(root, "served page", PAGE, Row(read_row(root, "served page", PAGE).key, b"text"))


def _another_version(root: Path) -> None:
    change_page(root, compressed=zlib.compress(FORGED))
    row = read_row(root, "served page", PAGE)
    change_row(root, "served page", PAGE, Row("0.0.1 drafts=False future=False", row.data))


@pytest.mark.parametrize(
    "damage",
    thinned(
        [_nothing, _no_database, _a_folder, _other_tables, _damaged_pages, _no_pages, _another_version],
        every=2,
        first=1,
    ),
    ids=lambda damage: damage.__name__.strip("_"),
)
def test_a_damaged_file_does_no_harm(site: Path, damage: Callable[[Path], None]) -> None:
    damage(site)
    with running(site) as serving:
        assert "Some text." in serving.page(PAGE)
        assert serving.page("/data.txt") == "200 some data"
        serving.wait_until_whole()
        assert serving.page(PAGE).startswith("200 ")


def test_pages_of_other_options_are_not_shown(site: Path) -> None:
    change_page(site, compressed=zlib.compress(FORGED))
    with running(site, "--drafts") as serving:
        assert "forged" not in serving.page(PAGE)


def test_a_forged_file_names_nothing_that_is_not_public(site: Path) -> None:
    (site / "static/link.txt").symlink_to("../../secret.txt")
    targets = ["/etc/passwd", "../secret.txt", "static/../../secret.txt"]
    targets += [f"{site}/{name}" for name in ("../secret.txt", "blogsmith.yaml", "content/posts/a.md")]
    targets += [f"{site}/static/{name}" for name in ("link.txt", "../../secret.txt", "../blogsmith.yaml")]
    named = {f"/posts/{number}.txt": target for number, target in enumerate(targets)}
    for path, target in {**named, "/data.txt": "/etc/passwd"}.items():
        name_file(site, path, target)
    with running(site) as serving:
        for path in named:
            assert serving.ask(path).status == 404, path
        assert serving.page("/data.txt") == "200 some data"
        assert interrupt(serving) == INTERRUPTED


def test_a_clone_s_own_pages_are_not_shown_at_all(site: Path) -> None:
    """Its folder contains pages for this very site, which are never read."""
    # many pages, so that this test sends its request before all are loaded, even on a slow machine
    write_posts(site / "content/notes", 100)
    change_page(site, compressed=zlib.compress(FORGED))
    name_file(site, "/data.txt", str(site / "static/own.txt"))
    (site / ".blogsmith").mkdir(exist_ok=True)
    for name in ("preview.db", "site.db"):
        shutil.copy(cache_path(site), site / ".blogsmith" / name)
    cache_path(site).unlink()
    write(site, {"static/own.txt": "forged"})
    with running(site) as serving:
        for path in (PAGE, "/posts/", "/data.txt"):
            assert "forged" not in serving.page(path), path
        assert "Some text." in serving.page(PAGE)


def test_the_same_pages_in_the_user_s_own_cache_are_shown(site: Path) -> None:
    """The location protects: this shows that the test above is meaningful."""
    write_posts(site / "content/notes", 100)
    change_page(site, compressed=zlib.compress(FORGED))
    with running(site) as serving:
        assert "forged" in serving.page(PAGE)
        serving.wait_for(PAGE, "Some text.")


def test_a_page_with_a_forged_source_reads_no_file_of_others(site: Path) -> None:
    change_page(site, source="../secret.txt")
    with running(site) as serving:
        page = serving.page(PAGE)
        assert "Some text." in page
        assert 'data-source="content/posts/a.md"' in page
