"""Find, check and create the file that caches one site.

The file must be private (`own_folder.py`) and contain the path of this site and the current format. A damaged
file, or a file of another format, is replaced. If no cache can be used, a `CacheError` gives the reason and
the remedy.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from .folder import Folder, open_folder
from .lock import LockBusyError, hold_lock
from .own_folder import FILE_MODE, FOLDER_MODE, UnsafeFileError, check_private

FILE = "site.db"
FORMAT = 1
"""Version of the tables and of the values in them."""
WAIT_S = 5.0
"""Maximum time in seconds to wait for another process that writes. Writing needs a hundredth of that."""
_FILES = (FILE, f"{FILE}-wal", f"{FILE}-shm", f"{FILE}-journal")
_SITES = "sites"
_ROOT = "root"
"""Name of the file with the path of the site. If that site no longer exists, its cache is removed."""
_LOCK = "lock"
"""Name of the file that is locked while the database is created."""
_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE site (root TEXT, note TEXT);
CREATE TABLE rows (
  kind TEXT, name TEXT, key TEXT, data BLOB, check_sum INTEGER, written_s INTEGER, PRIMARY KEY (kind, name)
);
PRAGMA user_version = {FORMAT};
"""
_COLUMNS = "SELECT kind, name, key, data, check_sum, written_s FROM rows LIMIT 0"
_DAMAGED = "it was damaged"
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_UNREADABLE = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT)
"""Result codes of SQLite that mean missing tables or a file that is not a database."""


class CacheError(Exception):
    """Error that prevents caching. Its message gives the author the reason and the remedy."""


class OpenCacheFile(NamedTuple):
    """The open database of one site."""

    file: Path
    connection: sqlite3.Connection
    note: str
    """Reason why the file was replaced, for a command to print; usually empty."""


def open_cache_file(root: Path) -> OpenCacheFile:
    """Open the database of the site at `root`; create it if it is missing. Raise CacheError if that fails."""
    real = os.path.realpath(root)
    try:
        with _open_folder(real) as folder:
            return _open_file(folder, real)
    except RuntimeError as error:
        raise CacheError("cache not used: the home folder is unknown; set XDG_CACHE_HOME") from error
    except LockBusyError as error:
        raise CacheError(_busy(cache_path(root))) from error
    except UnsafeFileError as error:
        raise CacheError(f"cache not used: {error}") from error
    except (OSError, sqlite3.Error) as error:
        raise CacheError(describe_problem(error, cache_path(root))) from error


def connect_reader(file: Path) -> sqlite3.Connection:
    """Open a second, read-only connection to an open cache."""
    return _connect(f"{file.as_uri()}?mode=ro", uri=True)


def cache_folder() -> Path:
    """Return the folder for files that may be deleted at any time, `$XDG_CACHE_HOME/blogsmith`. RuntimeError
    if the home folder is unknown."""
    cache = os.environ.get("XDG_CACHE_HOME")
    if not cache:
        cache = str(Path.home() / ".cache")
    return Path(cache, "blogsmith")


def cache_path(root: Path) -> Path:
    """Return the path of the database of the site at `root`. RuntimeError if the home folder is unknown."""
    return cache_folder() / _SITES / _folder_name(root) / FILE


def remove_site_cache(root: Path) -> None:
    with (
        suppress(OSError, RuntimeError),
        open_folder(cache_folder()) as folder,
        folder.enter(_SITES) as sites,
    ):
        sites.remove_tree(_folder_name(root))


class DamagedRowError(Exception):
    """A row of the cache differs from the bytes that were written."""


def mark_damaged(file: Path) -> None:
    """Mark a cache file as damaged, so that the next run reports and replaces it. Other processes may go on
    using the file that they have opened."""
    with suppress(OSError):
        file.unlink()
        with file.open("xb") as stream:
            stream.write(b"damaged")


def is_damage(error: Exception) -> bool:
    if isinstance(error, sqlite3.Error):
        return _code(error) in _UNREADABLE
    return isinstance(error, DamagedRowError)


def describe_problem(error: Exception, file: Path) -> str:
    """Return a message for the author: why `file` is no longer used, and what to do."""
    if is_damage(error):
        return f"cache not used: {file} is damaged; the next run replaces it"
    if isinstance(error, sqlite3.Error) and _code(error) in _BUSY:
        return _busy(file)
    if isinstance(error, OSError):
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        reason, place = error.strerror or str(error), error.filename or file
    else:
        is_full = isinstance(error, sqlite3.Error) and _code(error) == sqlite3.SQLITE_FULL
        reason, place = str(error), file
    hint = "free some disk space" if is_full else "check its permissions, or set XDG_CACHE_HOME"
    return f"cache not used: {place}: {reason}; {hint}"


def _busy(file: Path) -> str:
    return f"cache not used: another command has locked {file}; try again when it has ended"


def _code(error: sqlite3.Error) -> int:
    """Return the primary result code of SQLite, or 0 if Python's module raised the error itself."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


@contextmanager
def _open_folder(real: str) -> Iterator[Folder]:
    """Yield the cache folder of one site. Create the folder if it is missing. Raise CacheError if other users
    may write there."""
    with (
        open_folder(cache_folder(), make=True, mode=FOLDER_MODE) as own,
        own.enter(_SITES, make=True, mode=FOLDER_MODE) as sites,
    ):
        name = _folder_name(real)
        is_new = sites.status(name) is None
        with sites.enter(name, make=True, mode=FOLDER_MODE) as folder:
            if is_new:
                _remove_old(sites, name)
                folder.replace(_ROOT, real.encode("utf-8", "surrogateescape"), FILE_MODE, is_durable=False)
            for one in (own, sites, folder):
                check_private(one.own_status(), one.place)
            for file in _FILES:
                if found := folder.status(file):
                    check_private(found, f"{folder.place}/{file}")
            yield folder


def _remove_old(sites: Folder, own: str) -> None:
    """Remove the caches of deleted sites. Called whenever a site gets a new cache. own: name of the new
    cache."""
    for name, is_folder in sites.entries():
        if name == own:
            continue
        with suppress(OSError):
            with sites.enter(name) as folder:
                root = folder.read(_ROOT).decode("utf-8", "surrogateescape")
            if is_folder and root and not os.path.lexists(root):
                sites.remove_tree(name)


def _open_file(folder: Folder, real: str) -> OpenCacheFile:
    """Open the database. Replace a database that is damaged, of another format or of another site."""
    file = folder.path / FILE
    with suppress(_UnusableCacheError):
        return _open_existing(folder, file, real)
    with hold_lock(folder, _LOCK, WAIT_S, FILE_MODE):
        try:
            # another process may have created it meanwhile
            return _open_existing(folder, file, real)
        except _UnusableCacheError as unusable:
            reason = str(unusable)
        _remove_files(folder)
        note = f"cache replaced: {reason}; this run reads all sources again" if reason else ""
        # SQLite gives its journal files the permissions of the database
        folder.create(FILE, FILE_MODE).close()
        with _close_on_error(_connect(str(file))) as connection:
            _configure(connection, file)
            connection.executescript(_SCHEMA)
            connection.execute("INSERT INTO site VALUES (?, ?)", (_text(real), note))
            connection.execute("COMMIT")
            return OpenCacheFile(file, connection, note)


def _remove_files(folder: Folder) -> None:
    if folder.is_folder(FILE):
        folder.remove_tree(FILE)
    for name in _FILES:
        with suppress(FileNotFoundError):
            folder.remove(name)


class _UnusableCacheError(Exception):
    """The cache file must be created again. The argument of the exception is the reason; it has no argument
    if the file is missing."""


def _open_existing(folder: Folder, file: Path, real: str) -> OpenCacheFile:
    found = folder.status(FILE)
    if found is None or (stat.S_ISREG(found.st_mode) and not found.st_size):
        raise _UnusableCacheError
    if not stat.S_ISREG(found.st_mode):
        raise _UnusableCacheError(_DAMAGED)
    with _close_on_error(_connect(str(file))) as connection:
        try:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version != FORMAT:
                raise _UnusableCacheError(
                    "it was written by another version of blogsmith" if version else _DAMAGED
                )
            _configure(connection, file)
            connection.execute(_COLUMNS)
            ((root, note),) = connection.execute("SELECT root, note FROM site").fetchall()
        except sqlite3.Error as error:
            if is_damage(error):
                raise _UnusableCacheError(_DAMAGED) from error
            raise
        except ValueError as error:
            raise _UnusableCacheError(_DAMAGED) from error
        if root != _text(real):
            raise _UnusableCacheError("it was written for another folder")
        return OpenCacheFile(file, connection, str(note))


@contextmanager
def _close_on_error(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    try:
        yield connection
    except BaseException:
        connection.close()
        raise


def _connect(name: str, *, uri: bool = False) -> sqlite3.Connection:
    return sqlite3.connect(name, WAIT_S, isolation_level=None, check_same_thread=False, uri=uri)


def _configure(connection: sqlite3.Connection, file: Path) -> None:
    # WAL mode lets others read during a write, but needs shared memory, which network drives lack
    connection.execute(f"PRAGMA journal_mode = {'TRUNCATE' if is_shared(file) else 'WAL'}")
    connection.execute("PRAGMA synchronous = NORMAL")


def _folder_name(root: str | Path) -> str:
    path = os.path.realpath(root).encode("utf-8", "surrogateescape")
    return blake2b(path, digest_size=16).hexdigest()


def _text(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


# On file systems that several machines share, the shared memory of processes does not work.


_SHARED = ("nfs", "cifs", "smb", "afs", "9p", "lustre", "ceph", "gpfs", "beegfs", "glusterfs", "fuse.sshfs")
"""Beginnings of the type names of file systems that several machines share."""
_MOUNTS = "/proc/self/mountinfo"
_PLACE, _AFTER_DASH = 4, 1
"""Positions in a line of the mount table (proc(5)): the mount point, and the type of file system relative to
the field `-`."""


def is_shared(file: Path, mounts: str = _MOUNTS) -> bool:
    """Return whether a file is on a network drive. Return False if this system does not report it."""
    if sys.platform != "linux":
        return False
    try:
        with open(mounts, encoding="utf-8", errors="surrogateescape") as stream:  # noqa: PTH123
            lines = [line.split(" ") for line in stream]
    except OSError:
        return False
    path, best, kind = os.path.realpath(file), "", ""
    for fields in lines:
        place = fields[_PLACE].replace("\\040", " ")
        inside = path == place or path.startswith(place.rstrip("/") + "/")
        if inside and len(place) >= len(best):
            best, kind = place, fields[fields.index("-") + _AFTER_DASH]
    return kind.startswith(_SHARED)
