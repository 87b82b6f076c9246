"""Stored pages of the last preview: shown only if current, and harmless regardless of their file."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from blogsmith.base.storage.cache_file import cache_path
from blogsmith.base.storage.site_cache import Row
from blogsmith.preview.editors import Editor
from blogsmith.preview.gateway import SiteGateway
from blogsmith.preview.page_store import StoredPage, StoredPages
from blogsmith.preview.pages.script_tag import ScriptTag
from blogsmith.project.bundled_folders import bundled_folder
from tests.cached_rows import change_row, read_row, row_names

HTML = b"<p>text</p>"
SOURCE = "content/a.md"


def store(root: Path, settings: str = "") -> StoredPages:
    return StoredPages(root.resolve(), settings)


def page(digest: str = "", source: str = SOURCE) -> StoredPage:
    return StoredPage("/a/", "v1", source, digest, zlib.compress(HTML))


def save(
    root: Path, pages: Iterable[StoredPage] = (), files: Iterable[tuple[str, Path]] = (), settings: str = ""
) -> None:
    pages = list(pages)
    store(root, settings).save(pages, {page.path for page in pages}, files)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "content").mkdir()
    (tmp_path / SOURCE).write_text("text")
    digest = sha256(b"text").hexdigest()
    css = bundled_folder("themes").resolve() / "paper" / "static" / "theme.css"
    save(tmp_path, [page(digest)], [("/assets/paper/theme.css", css), ("/passwd", Path("/etc/passwd"))])
    return tmp_path


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
    save(root, files=[("/x", root / place)])
    assert store(root).file("/x") is None


def test_what_is_saved_takes_the_place_of_all(root: Path) -> None:
    save(root, [StoredPage("/b/", "v2", "", "", zlib.compress(HTML))])
    assert store(root).page("/a/") is None
    assert store(root).page("/b/") is not None
    assert (row_names(root, "served page"), row_names(root, "served file")) == ({"/b/"}, set())
    assert not (root / ".blogsmith").exists()


def test_pages_that_an_earlier_preview_made_stay(root: Path) -> None:
    """Only new pages are passed in, with the paths of all."""
    kept = StoredPages(root.resolve(), "")
    made = StoredPage("/b/", "v2", "", "", zlib.compress(HTML))
    kept.save([made], {"/a/", "/b/"}, [])
    kept.save([made], {"/a/", "/b/"}, [])
    assert set(store(root).all_pages()) == {"/a/", "/b/"}
    kept.save([], {"/b/"}, [])
    assert store(root).all_pages() == {"/b/": made}
    assert store(root, "drafts").all_pages() == {}


@pytest.mark.parametrize("data", [b"", b"no database", b"SQLite format 3\0" + bytes(200)])
def test_a_damaged_file(root: Path, data: bytes) -> None:
    cache_path(root).write_bytes(data)
    assert store(root).page("/a/") is None
    assert store(root).file("/assets/paper/theme.css") is None
    save(root, [page(sha256(b"text").hexdigest())])
    assert store(root).page("/a/") is not None


@pytest.mark.parametrize("data", [b"", b"\xc1", b"\x90", msgspec.msgpack.encode(["/a/", 1, "", "", b""])])
def test_a_damaged_row(root: Path, data: bytes) -> None:
    change_row(root, "served page", "/a/", Row(read_row(root, "served page", "/a/").key, data))
    assert store(root).page("/a/") is None
    assert store(root).all_pages() == {}


def test_a_link_is_neither_read_nor_written_through(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other") / "theirs.db"
    cache_path(root).rename(other)
    cache_path(root).symlink_to(other)
    before = other.read_bytes()
    assert store(root).page("/a/") is None
    save(root)
    assert other.read_bytes() == before


def test_pages_that_a_clone_brings_are_not_looked_at(root: Path) -> None:
    """No content of a site's folder is served, under any name."""
    save(root, [StoredPage("/x/", "v1", "", "", zlib.compress(HTML))])
    data = cache_path(root).read_bytes()
    assert store(root).page("/x/") is not None
    cache_path(root).unlink()
    (root / ".blogsmith").mkdir()
    for name in ("preview.db", "site.db"):
        (root / ".blogsmith" / name).write_bytes(data)
    assert store(root).page("/x/") is None


def test_another_user_s_pages(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(root / "other"))
    assert store(root).page("/a/") is None


def test_pages_of_another_site_of_this_user(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    copy = tmp_path_factory.mktemp("copy") / "site"
    save(copy)
    cache_path(copy).write_bytes(cache_path(root).read_bytes())
    assert store(copy).page("/a/") is None
    assert store(copy).file("/assets/paper/theme.css") is None
    assert store(root).page("/a/") is not None


def test_bytes_that_are_no_page(root: Path) -> None:
    assert StoredPage("/a/", "", "", "", b"damaged").data == b""


def test_a_source_outside_the_site(root: Path) -> None:
    outside = root.parent / "outside.md"
    outside.write_text("text")
    save(root, [page(sha256(b"text").hexdigest(), "../outside.md")])
    assert store(root).page("/a/") is None


def test_a_page_that_is_sent_while_the_engine_comes_is_told(root: Path) -> None:
    """It is compared with the current page, whichever is first."""
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
