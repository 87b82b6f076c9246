"""Pages that `blogsmith serve` keeps for its next start: there at once, never more than the site shows."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from unittest.mock import patch

import pytest

from blogsmith.project.trust.seal import read_sealer
from tests.bench.posts import write_posts
from tests.preview_client import soon
from tests.rows import thinned
from tests.serve_process import INTERRUPTED, PATIENCE_S, interrupt, post, running, state, write

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")

PAGE = "/posts/a/"
FORGED = b"<!DOCTYPE html><html><head></head><body>forged</body></html>"
SECRET = "in no folder of the site"


@pytest.fixture(scope="module")
def previewed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site that was previewed before, beside a file that is none of it."""
    folder = tmp_path_factory.mktemp("stored")
    (folder / "secret.txt").write_text(SECRET)
    files = {"content/posts/a.md": post("First", "Some text."), "static/data.txt": "some data"}
    write(folder / "site", {"blogsmith.yaml": "title: Notes\n", **files})
    with running(folder / "site") as serving:
        serving.wait_until_whole()
        assert soon(stored(folder / "site").is_file, PATIENCE_S)
    return folder


@pytest.fixture
def site(previewed: Path, tmp_path: Path) -> Iterator[Path]:
    """The same as it was: what is kept is kept for a site in one place."""
    shutil.copytree(previewed, tmp_path / "kept")
    yield previewed / "site"
    shutil.rmtree(previewed)
    shutil.copytree(tmp_path / "kept", previewed)


def stored(root: Path) -> Path:
    """Where pages are kept."""
    return root / ".blogsmith/preview.db"


def forge(root: Path, *statements: tuple[str, tuple[object, ...]]) -> None:
    """As a cloned site may bring it."""
    with closing(sqlite3.connect(stored(root))) as store, store:
        for statement, values in statements:
            assert store.execute(statement, values).rowcount > 0, statement


def change(root: Path, *statements: tuple[str, tuple[object, ...]]) -> None:
    """As only this user can, or a bug of ours: sealed anew, so that everything else that guards is tried."""
    forge(root, *statements)
    with patch.dict(os.environ, state(root)), closing(sqlite3.connect(stored(root))) as store, store:
        [(made_by,)] = store.execute("SELECT made_by FROM made_by").fetchall()
        sealer = read_sealer(f"preview {made_by} of {root.resolve()}")
        assert sealer
        for table, columns in (("pages", "path, version, source, digest, packed"), ("files", "path, file")):
            for number, *fields in store.execute(f"SELECT rowid, {columns} FROM {table}").fetchall():
                encoded = (field if isinstance(field, bytes) else str(field).encode() for field in fields)
                values = (sealer.seal(*encoded), number)
                store.execute(f"UPDATE {table} SET seal = ? WHERE rowid = ?", values)


def test_pages_of_the_last_time_are_there_at_once(site: Path) -> None:
    # so many that this test asks before all are known, also if the machine lets it wait
    write_posts(site / "content/notes", 100)
    with running(site) as serving:
        serving.wait_until_whole()
        old = serving.page(PAGE)
    write(site, {"content/posts/b.md": post("Second", "New.")})
    # the tab is there first: it is told only once
    with running(site) as serving, serving.listen() as tab:
        page = serving.page(PAGE)
        assert "Some text." in page
        assert "Second" not in page, "its neighbour is not known yet"
        said = serving.said()
        assert len(said.splitlines()) == 1
        # the browser has what it was sent and is told as soon as that is known to be old
        known = re.search(r'data-version="(\w+)"', page)
        assert known and known[1] in old
        tab.wait_until(lambda: tab.version(PAGE) not in ("", known[1]))
        serving.wait_for(PAGE, "Second")


def test_a_source_that_has_changed_is_never_shown_as_it_was(site: Path) -> None:
    write(site, {"content/posts/a.md": post("First", "Edited meanwhile.")})
    with running(site) as serving:
        assert "Edited meanwhile." in serving.page(PAGE)


def _nothing(root: Path) -> None:
    """It is gone."""
    stored(root).unlink()


def _no_database(root: Path) -> None:
    stored(root).write_bytes(b"SQLite format 3\0" + b"nonsense" * 1000)


def _a_folder(root: Path) -> None:
    stored(root).unlink()
    stored(root).mkdir()


def _other_tables(root: Path) -> None:
    change_schema = ("DROP TABLE pages", "CREATE TABLE pages (path, other)", "DROP TABLE files")
    with closing(sqlite3.connect(stored(root))) as store, store:
        for statement in change_schema:
            store.execute(statement)


def _an_endless_view(root: Path) -> None:
    counting = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
    columns = ", ".join(f"i AS {name}" for name in ("path", "version", "source", "digest", "packed"))
    with closing(sqlite3.connect(stored(root))) as store, store:
        store.execute("DROP TABLE pages")
        store.execute(f"CREATE VIEW pages AS SELECT {columns} FROM ({counting})")


def _damaged_pages(root: Path) -> None:
    change(root, ("UPDATE pages SET packed = ?", (b"no deflated text",)))


def _text_for_bytes(root: Path) -> None:
    change(root, ("UPDATE pages SET packed = ?", ("a text",)))


def _another_version(root: Path) -> None:
    change(
        root,
        ("UPDATE made_by SET made_by = ?", ("0.0.1 drafts=False future=False",)),
        ("UPDATE pages SET packed = ?", (zlib.compress(FORGED),)),
    )


@pytest.mark.parametrize(
    "damage",
    thinned(
        [
            _nothing,
            _no_database,
            _a_folder,
            _other_tables,
            _an_endless_view,
            _damaged_pages,
            _text_for_bytes,
            _another_version,
        ],
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
    change(site, ("UPDATE pages SET packed = ?", (zlib.compress(FORGED),)))
    with running(site, "--drafts") as serving:
        assert "forged" not in serving.page(PAGE)


def test_a_forged_file_names_nothing_that_is_not_public(site: Path) -> None:
    (site / "static/link.txt").symlink_to("../../secret.txt")
    targets = ["/etc/passwd", "../secret.txt", "static/../../secret.txt"]
    targets += [f"{site}/{name}" for name in ("../secret.txt", "blogsmith.yaml", "content/posts/a.md")]
    targets += [f"{site}/static/{name}" for name in ("link.txt", "../../secret.txt", "../blogsmith.yaml")]
    named = {f"/posts/{number}.txt": target for number, target in enumerate(targets)}
    insert = "INSERT OR REPLACE INTO files VALUES (?, ?, NULL)"
    change(site, *((insert, row) for row in named.items()), (insert, ("/data.txt", "/etc/passwd")))
    with running(site) as serving:
        for path in named:
            assert serving.ask(path).status == 404, path
        assert serving.page("/data.txt") == "200 some data"
        assert interrupt(serving) == INTERRUPTED


def test_a_clone_s_own_pages_are_not_shown_at_all(site: Path) -> None:
    """Nor its word on what is a file: to compare a page with its source needs one that has a source."""
    # so many that this test asks before all are known, also if the machine lets it wait
    write_posts(site / "content/notes", 100)
    page = ("v1", "", "", zlib.compress(FORGED), bytes(32))
    insert = "INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?)"
    forge(
        site,
        (insert, ("/x/", *page)),
        ("UPDATE pages SET packed = ? WHERE path = ?", (zlib.compress(FORGED), PAGE)),
        ("UPDATE pages SET packed = ?, source = '' WHERE path = '/posts/'", (zlib.compress(FORGED),)),
        ("UPDATE files SET file = ? WHERE path = '/data.txt'", (str(site / "static/own.txt"),)),
    )
    write(site, {"static/own.txt": "forged"})
    with running(site) as serving:
        for path in ("/x/", PAGE, "/posts/", "/data.txt"):
            assert "forged" not in serving.page(path), path
        assert serving.ask("/x/").status == 404
        assert "Some text." in serving.page(PAGE)


def test_a_page_with_a_forged_source_reads_no_file_of_others(site: Path) -> None:
    change(site, ("UPDATE pages SET source = ?", ("../secret.txt",)))
    with running(site) as serving:
        page = serving.page(PAGE)
        assert "Some text." in page
        assert 'data-source="content/posts/a.md"' in page
