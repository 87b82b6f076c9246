"""Digests of the running program, which consists of its files, its packages and its Python.

They are parts of cache keys, because cached data is valid only for the same program. They use stamps of files
instead of their content, so a reinstalled or edited program counts as a different one. They are computed at
each start, so this module imports almost nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from ..base.storage.site_cache import CacheInterface, open_site_cache
from ..base.version import __version__
from .bundled_folders import bundled_path, package_folder

_PACKAGES = ("site-packages", "dist-packages")
_IGNORED_FOLDERS = frozenset({"__pycache__", "node_modules"})


def program_folders() -> tuple[str, ...]:
    """Return the folders that contain the files of the program."""
    return tuple(dict.fromkeys((package_folder(), bundled_path("themes"), bundled_path("plugins"))))


def platform_digest() -> str:
    """Return a digest that changes with the version of blogsmith, the installed packages and Python."""
    total = blake2b(f"{__version__} {sys.version} {sys.platform}".encode(), digest_size=16)
    for name in sys.path:
        if os.path.basename(os.path.normpath(name)) in _PACKAGES:
            total.update(_package_list(name).encode("utf-8", "surrogateescape"))
    return total.hexdigest()


def program_digest() -> str:
    """Return a digest that changes with `platform_digest` and with the files of the program."""
    total = blake2b(platform_digest().encode(), digest_size=16)
    for folder in program_folders():
        for line in _files(folder):
            total.update(line.encode("utf-8", "surrogateescape"))
    return total.hexdigest()


def tools_digest() -> str:
    """Return a digest that changes with the folders in `PATH`, which contain the programs that draw
    diagrams."""
    folders = os.environ.get("PATH", "").split(os.pathsep)
    text = "\n".join(map(_stamp, folders))
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def _package_list(folder: str) -> str:
    """Return the packages in a folder with their versions."""
    try:
        names = os.listdir(folder)
    except OSError:
        return ""
    return "\n".join(sorted(name for name in names if name.endswith((".dist-info", ".egg-info", ".pth"))))


def _stamp(path: str) -> str:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return f"{path}\0"
    return f"{path}\0{found.st_ino} {found.st_mtime_ns}\n"


def _files(folder: str) -> Iterator[str]:
    """Yield a line with the path and stamp of each file below a folder, sorted by path."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name in _IGNORED_FOLDERS:
            continue
        if entry.is_dir():
            yield from _files(entry.path)
        else:
            status = entry.stat()
            yield f"{entry.path}\0{status.st_size} {status.st_mtime_ns} {status.st_ino}\n"


# The cache as the pipeline uses it: rows that a different program wrote are ignored.


@contextmanager
def open_rows(root: Path) -> Iterator[CacheInterface]:
    """Yield the cache of the site at `root`. If the cache cannot be used, yield one that stores nothing; see
    `CacheInterface.problem`."""
    with open_site_cache(root, program_digest) as rows:
        yield rows
