"""The cache of a site: an SQLite file whose rows save work for the next run.

The file is in the user's cache folder, in a subfolder named after the real path of the site
(`cache_file.py`). A cloned repository cannot contain it, so its contents need no signature, and SQLite may
open it in place. If a cache is impossible, the command reports this once and stores nothing. Deleting the
folder costs only time.

The key of a row names everything that its data depends on, so each row is valid on its own. Builds, previews
and editors may therefore use the file at the same time, and a killed process leaves missing rows but no wrong
ones.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from threading import RLock
from typing import Literal, NamedTuple, Protocol
from zlib import crc32

from .cache_file import (
    CacheError,
    DamagedRowError,
    OpenCacheFile,
    connect_reader,
    describe_problem,
    is_damage,
    mark_damaged,
    open_cache_file,
)

_MOST_PENDING_BYTES = 4 << 20
"""Size in bytes of pending rows above which they are written. Transactions stay small so that other processes
wait only briefly."""
Kind = Literal[
    "head", "facts", "page", "content", "marked page", "marked content", "lint", "output", "loads", "sources",
    "images", "disclosure", "bibliographies", "templates", "served page", "served file", "build", "fonts",
    "stylesheet checks", "pictures", "search", "probe", "links",
]  # fmt: skip
KINDS: Mapping[Kind, str] = {
    "head": "front matter of a page as it was read; named by source path",
    "facts": "page data that other pages use; by source path",
    "page": "body of a page without its text, and its queries to the site; by source path",
    "content": "text of a page; by source path, with its digest as key",
    "marked page": "as `page`, with the line markers of a preview",
    "marked content": "as `content`, with the line markers of a preview",
    "lint": "lint warnings of a page; by source path",
    "output": "digest of an output file and its inputs; by path in the output",
    "loads": "templates used to render pages; by digest",
    "sources": "stamps and digests of source files",
    "images": "stamps and sizes of images",
    "disclosure": "stamps of published files and the private data in them",
    "bibliographies": "references in bibliography files",
    "templates": "compiled templates of the theme",
    "served page": "page as the last preview showed it; by URL",
    "served file": "path where a preview found a file; by URL",
    "build": "stamps of all files of the last build, and its diagnostics; by the options of the command",
    "fonts": "math fonts reduced to the characters of a site; by digest",
    "stylesheet checks": "problems in the stylesheets of the author",
    "pictures": "smaller copies of images; by digest",
    "search": "files of Pagefind; by digest",
    "probe": "packages and devices of a Python; by its path",
    "links": "answers of other hosts about URLs",
}
"""Kind of a row → description of its contents and its name."""


class Row(NamedTuple):
    """Data of one row of the cache, without its kind and name."""

    key: str
    """Digest or text that changes with everything the data depends on."""
    data: bytes


class CacheInterface(Protocol):
    """Interface of a cache. `NullCache`, which stores nothing, implements it too."""

    @property
    def program(self) -> str:
        """Digest of the installed program. Rows that another version of blogsmith wrote may be wrong."""

    @property
    def problem(self) -> str:
        """Message to the author that explains why nothing is stored; empty if the cache works."""

    def take_note(self) -> str:
        """Return the message of `problem`, or the reason why the file was replaced. Each message is returned
        only once; later calls return an empty string."""

    def load(self, *kinds: Kind) -> None:
        """Read all rows of these kinds in one query, for a build that needs most of them."""

    def rows(self, kind: Kind) -> Mapping[str, Row]:
        """Return all rows of a kind by name."""

    def get(self, kind: Kind, name: str) -> Row | None:
        """Return the row of this kind and name; None if there is none."""

    def put(self, kind: Kind, name: str, row: Row) -> bool:
        """Store a row, replacing an older one. Return whether it can be read from now on."""

    def remove_others(self, kind: Kind, names: Collection[str], spare: int = 0) -> None:
        """Remove the rows of a kind whose names are not in `names`, except for the `spare` youngest."""

    def share(self) -> None:
        """Write pending rows to the file, so that new processes can read them."""

    def reopen(self) -> None:
        """Open the file again. A forked process must call this before it reads."""


class NullCache:
    """A cache that stores nothing: for `--no-cache`, or if no cache can be opened."""

    program = ""

    def __init__(self, problem: str = "") -> None:
        self.problem = problem
        self._note = problem

    def take_note(self) -> str:
        note, self._note = self._note, ""
        return note

    def load(self, *kinds: Kind) -> None:
        """Do nothing: there are no rows."""

    def rows(self, kind: Kind) -> Mapping[str, Row]:
        return {}

    def get(self, kind: Kind, name: str) -> Row | None:
        return None

    def put(self, kind: Kind, name: str, row: Row) -> bool:
        return False

    def remove_others(self, kind: Kind, names: Collection[str], spare: int = 0) -> None:
        """Do nothing: there are no rows."""

    def share(self) -> None:
        """Do nothing: there are no rows."""

    def reopen(self) -> None:
        """Do nothing: there is no file."""


class SiteCache:
    """The open cache of one site, which several threads may use. After an error it stores nothing more."""

    def __init__(self, opened: OpenCacheFile, program: Callable[[], str]) -> None:
        self._file = opened.file
        self._connection = opened.connection
        self._note = opened.note
        self._program = program
        self._lock = RLock()
        self._pending: dict[tuple[Kind, str], Row] = {}
        self._pending_bytes = 0
        self._loaded: dict[Kind, dict[str, Row]] = {}
        self._is_damaged = False
        self._has_reported = False
        self.problem = ""

    @cached_property
    def program(self) -> str:
        return self._program()

    def close(self) -> None:
        """Write all pending rows and close the file."""
        with self._guard():
            self._flush()
        with suppress(sqlite3.Error):
            self._connection.close()
        if self._is_damaged:
            mark_damaged(self._file)

    def take_note(self) -> str:
        if self.problem and not self._has_reported:
            self._has_reported = True
            return self.problem
        note, self._note = self._note, ""
        if note:
            with self._guard():
                self._connection.execute("UPDATE site SET note = ''")
        return note

    def load(self, *kinds: Kind) -> None:
        for kind in kinds:
            self._loaded[kind] = {**self.rows(kind)}

    def rows(self, kind: Kind) -> Mapping[str, Row]:
        found: dict[str, Row] = {}
        with self._guard():
            question = "SELECT name, key, data, check_sum FROM rows WHERE kind = ?"
            for name, *values in self._connection.execute(question, (kind,)):
                found[name] = _whole_row(*values)
            found |= {name: row for (one, name), row in self._pending.items() if one == kind}
        return found

    def get(self, kind: Kind, name: str) -> Row | None:
        found: Row | None = None
        if not is_text(name):
            return None
        with self._guard():
            found = self._pending.get((kind, name)) or self._loaded.get(kind, {}).pop(name, None)
            if found is None:
                question = "SELECT key, data, check_sum FROM rows WHERE kind = ? AND name = ?"
                values = self._connection.execute(question, (kind, name)).fetchone()
                found = _whole_row(*values) if values else None
        return found

    def put(self, kind: Kind, name: str, row: Row) -> bool:
        if self.problem or not is_text(name):
            return False
        with self._guard():
            self._loaded.get(kind, {}).pop(name, None)
            self._pending[kind, name] = row
            self._pending_bytes += len(row.data)
            if self._pending_bytes > _MOST_PENDING_BYTES:
                self._flush()
        return not self.problem

    def remove_others(self, kind: Kind, names: Collection[str], spare: int = 0) -> None:
        with self._guard():
            self._loaded.pop(kind, None)
            question = "SELECT name FROM rows WHERE kind = ? ORDER BY written_s DESC, rowid DESC"
            found = [name for (name,) in self._connection.execute(question, (kind,)) if name not in names]
            gone = [(kind, name) for name in found[spare:]]
            for one in [one for one in self._pending if one[0] == kind and one[1] not in names]:
                if not spare:
                    del self._pending[one]
            if gone:
                with self._transaction():
                    self._connection.executemany("DELETE FROM rows WHERE kind = ? AND name = ?", gone)

    def share(self) -> None:
        with self._guard():
            self._flush()

    def reopen(self) -> None:
        # a process must not use the connection of its parent, nor close it
        self._inherited, self._lock = self._connection, RLock()
        with self._guard():
            self._connection = connect_reader(self._file)

    def _flush(self) -> None:
        if not self._pending or self.problem:
            return
        now_s = int(time.time())
        rows = [
            (kind, name, row.key, row.data, crc32(row.data), now_s)
            for (kind, name), row in self._pending.items()
        ]
        with self._transaction():
            self._connection.executemany("INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?, ?, ?)", rows)
        self._pending.clear()
        self._pending_bytes = 0

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    @contextmanager
    def _guard(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except (sqlite3.Error, OSError, DamagedRowError) as error:
                # pending rows stay readable in memory, because this run may still need them
                self.problem = self.problem or describe_problem(error, self._file)
                self._is_damaged |= is_damage(error)
                # waiting once is enough
                with suppress(sqlite3.Error):
                    self._connection.execute("PRAGMA busy_timeout = 0")


@contextmanager
def open_site_cache(root: Path, program: Callable[[], str] = lambda: "") -> Iterator[SiteCache | NullCache]:
    """Open the cache of the site at `root`. If that is impossible, yield a `NullCache` with the reason as its
    `problem`. program: function that returns the digest of `CacheInterface.program`."""
    try:
        opened = open_cache_file(root)
    except CacheError as problem:
        yield NullCache(str(problem))
        return
    cache = SiteCache(opened, program)
    try:
        yield cache
    finally:
        cache.close()


def read_or_make(root: Path, kind: Kind, name: str, make: Callable[[], bytes], spare: int = 8) -> bytes:
    """Return the bytes cached under `name`. If there are none, call `make` and cache its result. name:
    identifies everything that the bytes depend on. spare: number of other rows of this kind to keep."""
    with open_site_cache(root) as cache:
        found = _whole_bytes(cache.get(kind, name))
        if found is None:
            found = make()
            cache.put(kind, name, Row(sha256(found).hexdigest(), found))
            cache.remove_others(kind, (name,), spare)
    return found


def read_bytes(root: Path, kind: Kind, name: str) -> bytes | None:
    """Return bytes that `store_bytes` stored. None if there are none, or if a power failure left them
    incomplete."""
    with open_site_cache(root) as cache:
        return _whole_bytes(cache.get(kind, name))


def _whole_bytes(row: Row | None) -> bytes | None:
    return row.data if row and row.key == sha256(row.data).hexdigest() else None


def store_bytes(root: Path, kind: Kind, named: Mapping[str, bytes]) -> None:
    """Store bytes under their names, if the cache can be written. named: name → bytes."""
    with open_site_cache(root) as cache:
        for name, data in named.items():
            cache.put(kind, name, Row(sha256(data).hexdigest(), data))


def remove_other_rows(root: Path, kind: Kind, names: Collection[str], spare: int) -> None:
    """Remove the rows of a kind whose names are not in `names`, except for the `spare` youngest."""
    with open_site_cache(root) as cache:
        cache.remove_others(kind, names, spare)


def _whole_row(key: object, data: object, check_sum: object) -> Row:
    """Return a row read from the file. DamagedRowError if its check sum does not match."""
    if not isinstance(key, str) or not isinstance(data, bytes) or crc32(data) != check_sum:
        raise DamagedRowError
    return Row(key, data)


def is_text(name: str) -> bool:
    """Return whether a path can be the name of a row. A path with bytes that are not UTF-8 cannot."""
    try:
        name.encode()
    except UnicodeError:
        return False
    return True
