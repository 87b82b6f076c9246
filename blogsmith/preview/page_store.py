"""Pages as they were when the preview was used last, so that the first one is there at once.

Nothing is true because it stands here: a page is given out only while its source is the same, and as soon as
the site is known it is compared with what it is now. The file may be damaged or missing, or have come with a
cloned site: only what this user's previews of this site have sealed is read at all, and it names no file but
those in public folders of the site and bundled themes.
"""

from __future__ import annotations

import hashlib
import itertools
import sqlite3
import tempfile
import zlib
from collections.abc import Iterable
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path

from ..base.storage.cache import CACHE, open_cache
from ..base.version import __version__
from ..project.bundled_folders import bundled_folder
from ..project.trust.seal import make_sealer, read_sealer
from .pages.media_types import media_type

_FILE = "preview.db"
_SCHEMA = """
CREATE TABLE made_by (made_by TEXT);
CREATE TABLE pages (path TEXT PRIMARY KEY, version TEXT, source TEXT, digest TEXT, packed BLOB, seal BLOB);
CREATE TABLE files (path TEXT PRIMARY KEY, file TEXT, seal BLOB);
"""
_MOST_BYTES = 64 * 1024 * 1024
"""Of one page; what deflates to more is not ours."""
_STEPS, _MOST_STEPS = 1000, 100
"""A question takes few steps of SQLite's machine; more than their product is not ours."""
_WAIT_S = 1.0
"""For another preview of the same site."""


@dataclass(frozen=True, slots=True)
class StoredPage:
    """One page of the last preview."""

    path: str
    """As in an address, decoded."""
    version: str
    source: str
    """Path of its Markdown file, or empty."""
    digest: str
    """SHA-256 of that file, in hex."""
    packed: bytes
    """Its bytes, deflated."""

    @property
    def data(self) -> bytes:
        """Its bytes; empty if they are damaged."""
        try:
            return zlib.decompressobj().decompress(self.packed, _MOST_BYTES)
        except zlib.error:
            return b""


class StoredPages:
    """The file of one site; each method opens it anew, so that any thread may call it."""

    def __init__(self, root: Path, settings: str) -> None:
        """settings: names the options of the command under which pages were made."""
        self._root = root
        self._file = root / CACHE / _FILE
        self._made_by = f"{__version__} {settings}"
        self._purpose = f"preview {self._made_by} of {root}"
        self._sealer = read_sealer(self._purpose)

    def page(self, path: str) -> StoredPage | None:
        """The page at a path, if its source has not changed."""
        found = self._row(
            "SELECT path, version, source, digest, packed, seal FROM pages WHERE path = ?", path
        )
        if found is None or not isinstance(found[4], bytes):
            return None
        where, version, source, digest = map(str, found[:4])
        page = StoredPage(where, version, source, digest, found[4])
        is_ours = self._sealer is not None and self._sealer.holds(found[5], *_fields(page))
        is_same = is_ours and (not source or self._digest(source) == digest)
        return page if is_same else None

    def file(self, path: str) -> tuple[str, Path] | None:
        """Media type and place of a file that was copied as it is to a path."""
        found = self._row("SELECT path, file, seal FROM files WHERE path = ?", path)
        if found is None:
            return None
        where, file = map(str, found[:2])
        is_ours = self._sealer is not None and self._sealer.holds(found[2], _bytes(where), _bytes(file))
        return (media_type(path), Path(file)) if is_ours and self._is_public(Path(file)) else None

    def save(self, pages: Iterable[StoredPage], files: Iterable[tuple[str, Path]]) -> None:
        """Replace everything; what cannot be written is not kept."""
        with suppress(OSError, sqlite3.Error), ExitStack() as stack:
            sealer = self._sealer = make_sealer(self._purpose)
            # SQLite opens files by their paths: in a folder of this process alone
            name = str(Path(stack.enter_context(tempfile.TemporaryDirectory()), _FILE))
            with closing(sqlite3.connect(name)) as store, store:
                # lost at worst: a crash leaves the old pages
                store.execute("PRAGMA synchronous = OFF")
                store.execute("PRAGMA journal_mode = OFF")
                store.executescript(_SCHEMA)
                store.execute("INSERT INTO made_by VALUES (?)", (self._made_by,))
                named = ((path, str(file)) for path, file in files)
                store.executemany(
                    "INSERT INTO files VALUES (?, ?, ?)",
                    ((path, file, sealer.seal(_bytes(path), _bytes(file))) for path, file in named),
                )
                store.executemany(
                    "INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?)",
                    (
                        (p.path, p.version, p.source, p.digest, p.packed, sealer.seal(*_fields(p)))
                        for p in pages
                    ),
                )
            folder = stack.enter_context(open_cache(self._root))
            folder.replace(_FILE, stack.enter_context(Path(name).open("rb")))

    def _digest(self, source: str) -> str:
        file = self._root / source
        with suppress(OSError, ValueError, RuntimeError):
            if file.resolve().is_relative_to(self._root):
                return hashlib.sha256(file.read_bytes()).hexdigest()
        return ""

    def _is_public(self, file: Path) -> bool:
        """Whether the file lies where files lie that are copied into a site."""
        with suppress(OSError, RuntimeError, ValueError):
            if file.resolve() == file:
                themes = (self._root / "themes", bundled_folder("themes").resolve())
                inside = [
                    self._root / "static",
                    *(folder for one in themes for folder in one.glob("*/static")),
                ]
                return any(file.is_relative_to(folder) for folder in inside)
        return False

    def _row(self, question: str, path: str) -> tuple[object, ...] | None:
        with suppress(OSError, RuntimeError, sqlite3.Error):
            # not through a link, and nothing but a file: it may have come with the site
            if not self._file.is_file() or self._file.resolve() != self._file:
                return None
            address = f"{self._file.as_uri()}?mode=ro"
            with closing(sqlite3.connect(address, uri=True, timeout=_WAIT_S)) as store:
                ends = itertools.count()
                # views and triggers may compute for ever
                store.set_progress_handler(lambda: next(ends) > _MOST_STEPS, _STEPS)
                kinds = {kind for (kind,) in store.execute("SELECT type FROM sqlite_master")}
                made_by = store.execute("SELECT made_by FROM made_by").fetchone()
                if kinds <= {"table", "index"} and made_by == (self._made_by,):
                    found: tuple[object, ...] | None = store.execute(question, (path,)).fetchone()
                    return found
        return None


def _fields(page: StoredPage) -> tuple[bytes, ...]:
    """All that is sealed of a page; a page and a file have another number of them."""
    return (*map(_bytes, (page.path, page.version, page.source, page.digest)), page.packed)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
