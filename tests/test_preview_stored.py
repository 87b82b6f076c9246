"""Pages of the last preview: true or not given out, and harmless whatever their file is."""

from __future__ import annotations

import sqlite3
import zlib
from hashlib import sha256
from pathlib import Path

import pytest

from blogsmith.bundled import bundled_folder
from blogsmith.preview.editors import Editor
from blogsmith.preview.front import Front
from blogsmith.preview.shown.tag import Tag
from blogsmith.preview.stored import StoredPage, StoredPages

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


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT {} FROM n"


def test_a_view_that_computes_for_ever(root: Path) -> None:
    with sqlite3.connect(database(root)) as hostile:
        hostile.execute("ALTER TABLE pages RENAME TO hidden")
        columns = "'/b/' AS path, 'v' AS version, '' AS source, '' AS digest, max(i) AS packed"
        hostile.execute(f"CREATE VIEW pages AS {ENDLESS.format(columns)}")
    assert store(root).page("/a/") is None
    with sqlite3.connect(database(root)) as hostile:
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
        def sent(self, path: str, version: str) -> None:
            told.append(path)

    class Sent(list[tuple[str, str]]):
        def append(self, sent: tuple[str, str]) -> None:
            told.extend(path for path, _ in front.take(Engine()))  # type: ignore[arg-type]
            super().append(sent)

    front = Front(store(root), Tag("secret"), Editor(root))
    front._sent = Sent()
    assert front.answer("/a/").status == 200
    assert told == ["/a/"]
