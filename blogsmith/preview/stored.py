"""Pages as they were when the preview was used last, so that the first one is there at once.

Nothing is true because it stands here: a page is given out only while its source is the same, and as soon as
the site is known it is compared with what it is now. The file may be damaged or missing, or have come with a
cloned site: it is read as data, and names no file but those in public folders of the site and bundled themes.
"""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections.abc import Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from .. import __version__
from ..bundled import bundled_folder
from .media import media_type

_SCHEMA = """
CREATE TABLE IF NOT EXISTS made_by (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE IF NOT EXISTS pages (
    path TEXT PRIMARY KEY, version TEXT, source TEXT, digest TEXT, packed BLOB
);
CREATE TABLE IF NOT EXISTS files (path TEXT PRIMARY KEY, file TEXT);
"""
_MOST_BYTES = 64 * 1024 * 1024
"""Of one page; what deflates to more is not ours."""
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
        self._file = root / ".blogsmith" / "preview.db"
        self._made_by = f"{__version__} {settings}"

    def page(self, path: str) -> StoredPage | None:
        """The page at a path, if its source has not changed."""
        row = self._row("SELECT path, version, source, digest, packed FROM pages WHERE path = ?", path)
        if row is None or not isinstance(row[4], bytes):
            return None
        where, version, source, digest = map(str, row[:4])
        is_same = not source or self._digest(source) == digest
        return StoredPage(where, version, source, digest, row[4]) if is_same else None

    def file(self, path: str) -> tuple[str, Path] | None:
        """Media type and place of a file that was copied as it is to a path."""
        row = self._row("SELECT file FROM files WHERE path = ?", path)
        file = Path(str(row[0])) if row else None
        return (media_type(path), file) if file and self._is_public(file) else None

    def save(self, pages: Iterable[StoredPage], files: Iterable[tuple[str, Path]]) -> None:
        """Replace everything; what cannot be written is not kept."""
        with suppress(OSError, sqlite3.Error):
            self._file.parent.mkdir(exist_ok=True)
            with closing(sqlite3.connect(self._file, timeout=_WAIT_S)) as store, store:
                # lost at worst: a crash leaves the old pages or none
                store.execute("PRAGMA synchronous = OFF")
                store.executescript(_SCHEMA)
                known = dict(store.execute("SELECT path, version || digest FROM pages"))
                rows = [(p.path, p.version, p.source, p.digest, p.packed) for p in pages]
                store.execute("DELETE FROM files")
                store.executemany(
                    "INSERT INTO files VALUES (?, ?)", [(path, str(file)) for path, file in files]
                )
                store.executemany(
                    "INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?)",
                    [row for row in rows if known.get(row[0]) != row[1] + row[3]],
                )
                gone = known.keys() - {row[0] for row in rows}
                store.executemany("DELETE FROM pages WHERE path = ?", [(path,) for path in gone])
                store.execute("INSERT OR REPLACE INTO made_by VALUES ('made by', ?)", (self._made_by,))

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
        if not self._file.is_file():
            return None
        with suppress(sqlite3.Error), closing(sqlite3.connect(self._file, timeout=_WAIT_S)) as store:
            made_by = store.execute("SELECT value FROM made_by WHERE name = 'made by'").fetchone()
            if made_by == (self._made_by,):
                found: tuple[object, ...] | None = store.execute(question, (path,)).fetchone()
                return found
        return None
