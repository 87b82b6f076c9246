"""Pages of the last preview: true or not given out, and harmless whatever their file is."""

from __future__ import annotations

import os
import shutil
import sqlite3
import zlib
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from blogsmith.preview.editors import Editor
from blogsmith.preview.gateway import SiteGateway
from blogsmith.preview.page_store import StoredPage, StoredPages
from blogsmith.preview.pages.script_tag import ScriptTag
from blogsmith.project.bundled_folders import bundled_folder
from blogsmith.project.trust.place import record_file
from blogsmith.project.trust.seal import Sealer, make_sealer, read_sealer

HTML = b"<p>text</p>"
SOURCE = "content/a.md"


def store(root: Path, settings: str = "") -> StoredPages:
    return StoredPages(root.resolve(), settings)


def page(digest: str = "", source: str = SOURCE) -> StoredPage:
    return StoredPage("/a/", "v1", source, digest, zlib.compress(HTML))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "content").mkdir()
    (tmp_path / SOURCE).write_text("text")
    digest = sha256(b"text").hexdigest()
    css = bundled_folder("themes").resolve() / "paper" / "static" / "theme.css"
    store(tmp_path).save([page(digest)], [("/assets/paper/theme.css", css), ("/passwd", Path("/etc/passwd"))])
    return tmp_path


def database(root: Path) -> Path:
    return root / ".blogsmith" / "preview.db"


def test_a_page_whose_source_is_the_same(root: Path) -> None:
    found = store(root).page("/a/")
    assert found is not None
    assert (found.data, found.version, found.source) == (HTML, "v1", SOURCE)
    assert store(root).page("/b/") is None


def test_a_page_whose_source_has_changed(root: Path) -> None:
    (root / SOURCE).write_text("another text")
    assert store(root).page("/a/") is None
    (root / SOURCE).unlink()
    assert store(root).page("/a/") is None


def test_pages_of_another_command_or_version(root: Path) -> None:
    assert store(root, "drafts").page("/a/") is None


def test_files_are_those_of_themes_and_the_site(root: Path) -> None:
    found = store(root).file("/assets/paper/theme.css")
    assert found is not None
    assert found[0] == "text/css; charset=utf-8"
    assert store(root).file("/passwd") is None


@pytest.mark.parametrize(
    "place", ["../x.css", "content/a.md", "static/../blogsmith.yaml", ".git/config", "static/link.css"]
)
def test_no_other_file_of_the_site(root: Path, place: str) -> None:
    (root / "static").mkdir()
    (root / "static" / "link.css").symlink_to("/etc/passwd")
    (root / ".git").mkdir()
    (root / ".git" / "config").touch()
    store(root).save([], [("/x", root / place)])
    assert store(root).file("/x") is None


def test_what_is_saved_takes_the_place_of_all(root: Path) -> None:
    store(root).save([StoredPage("/b/", "v2", "", "", zlib.compress(HTML))], [])
    assert store(root).page("/a/") is None
    assert store(root).page("/b/") is not None
    assert [file.name for file in database(root).parent.iterdir()] == ["preview.db"]


@pytest.mark.parametrize("data", [b"", b"no database", b"SQLite format 3\0" + bytes(200)])
def test_damaged(root: Path, data: bytes) -> None:
    database(root).write_bytes(data)
    assert store(root).page("/a/") is None
    store(root).save([page(sha256(b"text").hexdigest())], [])
    assert store(root).page("/a/") is not None


def test_a_link_is_neither_read_nor_written_through(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other") / "theirs.db"
    database(root).rename(other)
    database(root).symlink_to(other)
    before = other.read_bytes()
    assert store(root).page("/a/") is None
    store(root).save([], [])
    assert other.read_bytes() == before
    assert not database(root).is_symlink()


def test_a_folder_elsewhere(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other") / "folder"
    database(root).parent.rename(other)
    database(root).parent.symlink_to(other)
    before = (other / "preview.db").read_bytes()
    assert store(root).page("/a/") is None
    store(root).save([], [])
    assert (other / "preview.db").read_bytes() == before


def change(root: Path, statement: str, *values: object) -> None:
    """As a cloned site may bring it, from somebody who knows all but the user's key."""
    with closing(sqlite3.connect(database(root))) as forged, forged:
        assert forged.execute(statement, values).rowcount > 0


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("path", "/a/x/"),
        ("version", "v2"),
        ("source", ""),
        ("digest", ""),
        ("packed", zlib.compress(b"forged")),
        ("seal", b""),
        ("seal", None),
        ("seal", "text"),
        ("seal", bytes(32)),
    ],
)
def test_what_this_user_has_not_written_is_not_given_out(root: Path, column: str, value: object) -> None:
    change(root, f"UPDATE pages SET {column} = ?", value)
    assert store(root).page("/a/x/" if column == "path" else "/a/") is None


def test_a_page_without_a_source_is_given_out_only_if_this_user_made_it(root: Path) -> None:
    store(root).save([StoredPage("/x/", "v1", "", "", zlib.compress(HTML))], [])
    assert store(root).page("/x/") is not None
    columns = "path, version, source, digest, packed"
    change(root, f"INSERT INTO pages SELECT '/y/', {columns[6:]}, seal FROM pages")
    change(root, "INSERT INTO pages VALUES ('/z/', 'v1', '', '', ?, ?)", zlib.compress(HTML), bytes(32))
    assert store(root).page("/y/") is None
    assert store(root).page("/z/") is None


def test_a_file_that_this_user_has_not_named_is_not_given_out(root: Path) -> None:
    css = bundled_folder("themes").resolve() / "paper" / "static" / "layout.css"
    assert css.is_file()
    change(root, "UPDATE files SET file = ? WHERE path = '/assets/paper/theme.css'", str(css))
    assert store(root).file("/assets/paper/theme.css") is None


def test_another_user_s_pages(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(root / "other"))
    assert store(root).page("/a/") is None, "this one has no key"
    make_sealer("another purpose")
    assert store(root).page("/a/") is None, "and another one's is another one"


def test_pages_of_another_site_of_this_user(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    copy = tmp_path_factory.mktemp("copy") / "site"
    shutil.copytree(root, copy)
    assert store(copy).page("/a/") is None
    assert store(copy).file("/assets/paper/theme.css") is None
    assert store(root).page("/a/") is not None


class TestSealer:
    def test_fields_are_not_run_together(self) -> None:
        sealer = Sealer(bytes(32), "test")
        seals = {sealer.seal(*fields) for fields in ([b"ab", b"c"], [b"a", b"bc"], [b"abc"], [b"abc", b""])}
        assert len(seals) == 4
        assert Sealer(bytes(32), "other").seal(b"abc") not in seals
        assert Sealer(b"\1" * 32, "test").seal(b"abc") not in seals

    def test_the_key_is_the_user_s_alone(self) -> None:
        file = record_file().with_name("preview.key")
        assert read_sealer("test") is None
        sealer = make_sealer("test")
        known = read_sealer("test")
        assert known is not None
        assert sealer.key == make_sealer("test").key == known.key
        assert (len(sealer.key), file.read_bytes()) == (32, sealer.key)
        assert os.name != "posix" or file.stat().st_mode & 0o777 == 0o600

    @pytest.mark.parametrize("damaged", [b"", b"short", bytes(33)])
    def test_a_damaged_key_is_none(self, damaged: bytes) -> None:
        file = record_file().with_name("preview.key")
        old = make_sealer("test")
        file.write_bytes(damaged)
        assert read_sealer("test") is None
        assert make_sealer("test").key != old.key

    def test_a_state_folder_that_cannot_be(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_STATE_HOME", str(root / SOURCE))
        before = database(root).read_bytes()
        store(root).save([], [])
        assert store(root).page("/a/") is None
        assert database(root).read_bytes() == before


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT {} FROM n"


def test_a_view_that_computes_for_ever(root: Path) -> None:
    with closing(sqlite3.connect(database(root))) as hostile, hostile:
        hostile.execute("ALTER TABLE pages RENAME TO hidden")
        columns = "'/b/' AS path, 'v' AS version, '' AS source, '' AS digest, max(i) AS packed, '' AS seal"
        hostile.execute(f"CREATE VIEW pages AS {ENDLESS.format(columns)}")
    assert store(root).page("/a/") is None
    with closing(sqlite3.connect(database(root))) as hostile, hostile:
        hostile.execute("DROP TABLE made_by")
        hostile.execute(f"CREATE VIEW made_by AS {ENDLESS.format('max(i) AS made_by')}")
    assert store(root).page("/a/") is None
    store(root).save([page(sha256(b"text").hexdigest())], [])
    assert store(root).page("/a/") is not None


def test_bytes_that_are_no_page(root: Path) -> None:
    assert StoredPage("/a/", "", "", "", b"damaged").data == b""


def test_a_source_outside_the_site(root: Path) -> None:
    outside = root.parent / "outside.md"
    outside.write_text("text")
    store(root).save([page(sha256(b"text").hexdigest(), "../outside.md")], [])
    assert store(root).page("/a/") is None


def test_a_page_that_is_sent_while_the_engine_comes_is_told(root: Path) -> None:
    """To be compared with what the page is now, whichever of the two is first."""
    told: list[str] = []

    class Engine:
        def page_sent(self, path: str, version: str) -> None:
            told.append(path)

    class Sent(list[tuple[str, str]]):
        def append(self, sent: tuple[str, str]) -> None:
            told.extend(path for path, _ in front.use_loop(Engine()))  # type: ignore[arg-type]
            super().append(sent)

    front = SiteGateway(store(root), ScriptTag("secret"), Editor(root))
    front._sent = Sent()
    assert front.answer("/a/").status == 200
    assert told == ["/a/"]
