"""Rows that are kept from one build to the next, in one sealed file of `.blogsmith/`; texts lie beside it.

The file may be damaged, old or missing, or have come with a cloned site: it counts only as a whole, and
only if its seal is this user's for this very folder. So nothing of it is read before it is known to be ours.
SQLite opens files by their paths and makes others beside them: it works on a copy, in a folder of this
process alone, and the copy replaces the old file in one step. A build that is killed leaves the old file; of
two builds at once the last one's stays.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol, TypeVar

import msgspec

from ...base.storage.cache import open_cache
from ...execute.session.working_folder import working_folder
from ...project.program import program_digest
from ...project.trust.seal import make_sealer, read_sealer
from .text_segments import SegmentStamp, TextLocation, TextSegments, remove_segments

Kept = TypeVar("Kept")

FILE = "build.db"
OUTLINE = "outline"
"""Kind of the row that holds for all others as they are: it goes as soon as one of them changes."""
TEXT = "content"
"""Kind of the rows that are large; their data lie beside the others, see `text_segments`."""
_SEGMENTS = "segments"
_MOST_SEGMENTS = 20
_FORMAT = 3
_SEAL_BYTES = 32
_BLOCK = 1 << 20
_MOST_BYTES = 1 << 30
"""What is larger is not read at all."""
_SCHEMA = "CREATE TABLE rows (kind TEXT, name TEXT, key TEXT, data BLOB, PRIMARY KEY (kind, name))"


class Row(NamedTuple):
    """What is kept under a name."""

    key: str
    """Names all that the data depends on."""
    data: bytes


class RowStore(Protocol):
    """What the pipeline keeps beyond one run."""

    @property
    def program(self) -> str:
        """Names the program that builds: what another one has kept may be wrong."""

    def get(self, kind: str, name: str) -> Row | None:
        """The row of this kind and name."""

    def put(self, kind: str, name: str, row: Row) -> bool:
        """Keep a row in place of the one that was there; whether it can be read from now on."""

    def keep_only(self, kind: str, names: Collection[str]) -> None:
        """Forget rows of a kind whose names are gone."""

    def discard(self) -> None:
        """Leave what was there before this run as it was."""

    def share(self) -> None:
        """To be called before processes are forked that are to read; until they end, nothing is written."""

    def reopen(self) -> None:
        """To be called in such a process before it reads."""


class NoRows:
    """Keeps nothing: a preview has everything in memory, and some builds are to be made from nothing."""

    program = ""

    def get(self, kind: str, name: str) -> Row | None:
        """None."""
        return None

    def put(self, kind: str, name: str, row: Row) -> bool:
        """It is gone."""
        return False

    def keep_only(self, kind: str, names: Collection[str]) -> None:
        """There is nothing to forget."""

    def discard(self) -> None:
        """There is nothing to leave."""

    def share(self) -> None:
        """There is nothing to read."""

    def reopen(self) -> None:
        """There is nothing to read."""


class SqliteRows:
    """Rows in a file of this process; after a failure of the disk nothing is kept any more."""

    def __init__(self, file: Path, texts: TextSegments) -> None:
        self._file = file
        self._texts = texts
        self.segments: frozenset[str] = frozenset()
        """Names of the segments that the rows name as they are kept."""
        self._connection = sqlite3.connect(file, isolation_level=None)
        # lost at worst: the file is a copy
        self._connection.executescript("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; BEGIN")
        if not self._connection.execute("SELECT name FROM sqlite_master").fetchone():
            self._connection.execute(_SCHEMA)
        self.is_changed = False
        self.is_whole = True
        """Whether all that was to be kept is in the file."""
        self._has_outline = True

    @cached_property
    def program(self) -> str:
        """As in `RowStore`."""
        return program_digest()

    def open_texts(self) -> bool:
        """Open what large rows name; whether all of it is there."""
        row = self.get(_SEGMENTS, "")
        stamps = _decode(row.data, dict[str, SegmentStamp]) if row else {}
        if stamps is None or not self._texts.open(stamps):
            return False
        self.segments = frozenset(stamps)
        return True

    def close(self) -> None:
        """Write everything to the file."""
        if self.is_whole and self.is_changed:
            self._name_segments()
        if self.is_whole:
            self._connection.execute("COMMIT")
            self._shrink()
        self._connection.close()

    def _shrink(self) -> None:
        """Leave out what deleted rows have taken, where that is much: all of the file is copied each time."""
        with self._guard():
            (free,), (all_pages,) = (
                self._connection.execute(f"PRAGMA {name}").fetchone()
                for name in ("freelist_count", "page_count")
            )
            if self.is_changed and free > all_pages // 4:
                self._connection.execute("VACUUM")

    def _name_segments(self) -> None:
        """Write down which segments there are; gather them in one where they are many, or mostly unused."""
        with self._guard():
            located = [(name, key, _decode(data, TextLocation)) for name, key, data in self._texts_rows()]
            places = {name: (key, where) for name, key, where in located if where}
            used = {where.segment for _, where in places.values()}
            size = sum(where.size for _, where in places.values())
            if len(used) > _MOST_SEGMENTS or self._texts.size(used) > 2 * size + _BLOCK:
                for name, (key, where) in places.items():
                    data = self._texts.get(where)
                    if data is not None:
                        self._put(TEXT, name, Row(key, msgspec.msgpack.encode(self._texts.put(data))))
                rows = (_decode(data, TextLocation) for _, _, data in self._texts_rows())
                used = {where.segment for where in rows if where}
            self._put(_SEGMENTS, "", Row("", msgspec.msgpack.encode(self._texts.stamps(used))))
            self.segments = frozenset(used)

    def _texts_rows(self) -> list[tuple[str, str, bytes]]:
        question = "SELECT name, key, data FROM rows WHERE kind = ?"
        return self._connection.execute(question, (TEXT,)).fetchall()

    def get(self, kind: str, name: str) -> Row | None:
        """As in `RowStore`."""
        question = "SELECT key, data FROM rows WHERE kind = ? AND name = ?"
        found = None
        with self._guard():
            found = self._connection.execute(question, (kind, name)).fetchone()
        if not found or kind != TEXT:
            return Row(*found) if found else None
        where = _decode(found[1], TextLocation)
        data = self._texts.get(where) if where else None
        return None if data is None else Row(found[0], data)

    def put(self, kind: str, name: str, row: Row) -> bool:
        """As in `RowStore`."""
        with self._guard():
            if kind != OUTLINE:
                self._drop_outline()
            if kind == TEXT:
                row = Row(row.key, msgspec.msgpack.encode(self._texts.put(row.data)))
            self._put(kind, name, row)
            self.is_changed = True
            self._has_outline = kind == OUTLINE
        return self.is_whole

    def _put(self, kind: str, name: str, row: Row) -> None:
        values = (kind, name, row.key, row.data)
        self._connection.execute("INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?)", values)

    def _drop_outline(self) -> None:
        if self._has_outline:
            self._connection.execute("DELETE FROM rows WHERE kind = ?", (OUTLINE,))
            self._has_outline = False

    def keep_only(self, kind: str, names: Collection[str]) -> None:
        """As in `RowStore`."""
        with self._guard():
            found = self._connection.execute("SELECT name FROM rows WHERE kind = ?", (kind,)).fetchall()
            gone = [(kind, name) for (name,) in found if name not in names]
            if gone:
                self._drop_outline()
                self._connection.executemany("DELETE FROM rows WHERE kind = ? AND name = ?", gone)
                self.is_changed = True

    def discard(self) -> None:
        """As in `RowStore`."""
        self.is_whole = False

    def share(self) -> None:
        """As in `RowStore`."""
        with self._guard():
            self._connection.execute("COMMIT")
            self._connection.execute("BEGIN")

    def reopen(self) -> None:
        """As in `RowStore`."""
        # a connection may not be used by two processes, nor be closed by the one that has taken it over
        self._inherited = self._connection
        with self._guard():
            self._connection = sqlite3.connect(f"{self._file.as_uri()}?mode=ro", uri=True)

    @contextmanager
    def _guard(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, UnicodeError, OSError):
            self.is_whole = False


@contextmanager
def open_rows(root: Path) -> Iterator[RowStore]:
    """The rows of the site at `root`, saved at the end; what cannot be read or saved is not kept."""
    with ExitStack() as stack:
        store: SqliteRows | None = None
        with suppress(OSError, sqlite3.Error):
            # held, or another run would take it for one that was left behind
            copy = stack.enter_context(working_folder()) / FILE
            texts = TextSegments(stack.enter_context(open_cache(root)))
            stack.callback(texts.close)
            store = _open_copy(root, copy, texts)
        if store is None:
            yield NoRows()
            return
        try:
            yield store
        finally:
            with suppress(OSError, sqlite3.Error):
                store.close()
                if store.is_changed and store.is_whole:
                    _save(root, copy)
                if store.is_changed:
                    texts.remove_unused(store.segments)


def _open_copy(root: Path, copy: Path, texts: TextSegments) -> SqliteRows:
    if _copy_sealed(root, copy):
        store = SqliteRows(copy, texts)
        if store.open_texts():
            return store
        store.discard()
        store.close()
    # what was copied so far is somebody else's, or not whole
    copy.unlink(missing_ok=True)
    return SqliteRows(copy, texts)


def remove_rows(root: Path) -> None:
    """Forget everything that builds have kept of a site."""
    with suppress(OSError), open_cache(root, make=False) as folder:
        folder.remove(FILE)
        remove_segments(folder)


def _purpose(root: Path) -> str:
    return f"build {_FORMAT} of {root}"


def _copy_sealed(root: Path, copy: Path) -> bool:
    """Copy the file, so that what is checked is what is used; whether the copy is whole and ours."""
    sealer = read_sealer(_purpose(root))
    if sealer is None:
        return False
    with suppress(OSError), open_cache(root, make=False) as folder, folder.open_file(FILE) as file:
        if os.fstat(file.fileno()).st_size > _MOST_BYTES:
            return False
        seal = file.read(_SEAL_BYTES)
        with copy.open("wb") as target:
            digest = _digest(file, target.write)
        return sealer.holds(seal, digest)
    return False


def _save(root: Path, copy: Path) -> None:
    sealer = make_sealer(_purpose(root))
    with copy.open("rb") as file, open_cache(root) as folder:
        seal = sealer.seal(_digest(file, lambda block: None))
        file.seek(0)
        # what a power cut leaves of it has another seal
        folder.replace(FILE, file, head=seal, is_durable=False)


def _decode(data: bytes, kind: type[Kept]) -> Kept | None:
    try:
        return msgspec.msgpack.decode(data, type=kind)
    except msgspec.MsgspecError:
        return None


def _digest(file: BinaryIO, write: Callable[[bytes], object]) -> bytes:
    total, size = hashlib.sha256(), 0
    while (block := file.read(_BLOCK)) and size <= _MOST_BYTES:
        size += len(block)
        total.update(block)
        write(block)
    return total.digest()
