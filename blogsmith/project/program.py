"""The program that builds: its files, the packages it uses, its Python, and the rows of its cache.

What is kept from one build to the next holds for this program only. Stamps of files do instead of their
bytes: a program that was installed anew, or edited, counts as another one. Asked at each start, so it imports
next to nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from ..base.storage.site_cache import Rows, open_site_cache
from ..base.version import __version__
from .bundled_folders import bundled_path, package_folder

_PACKAGES = ("site-packages", "dist-packages")
_PASSED_OVER = frozenset({"__pycache__", "node_modules"})


def program_folders() -> tuple[str, ...]:
    """The folders whose files are the program."""
    return tuple(dict.fromkeys((package_folder(), bundled_path("themes"), bundled_path("plugins"))))


def platform_digest() -> str:
    """Another one whenever the version, a package, or Python below is another one."""
    total = blake2b(f"{__version__} {sys.version} {sys.platform}".encode(), digest_size=16)
    for name in sys.path:
        if os.path.basename(os.path.normpath(name)) in _PACKAGES:
            total.update(_installed(name).encode("utf-8", "surrogateescape"))
    return total.hexdigest()


def program_digest() -> str:
    """Another one whenever any of that, or a file of the program, is not as it was."""
    total = blake2b(platform_digest().encode(), digest_size=16)
    for folder in program_folders():
        for line in _files(folder):
            total.update(line.encode("utf-8", "surrogateescape"))
    return total.hexdigest()


def tools_digest() -> str:
    """Another one whenever programs may have come or gone: those of diagrams are found by `PATH`."""
    folders = os.environ.get("PATH", "").split(os.pathsep)
    text = "\n".join(map(_stamp, folders))
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def _installed(folder: str) -> str:
    """The packages in a folder with their versions."""
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
    """A line for each file, in the order of their paths."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name in _PASSED_OVER:
            continue
        if entry.is_dir():
            yield from _files(entry.path)
        else:
            status = entry.stat()
            yield f"{entry.path}\0{status.st_size} {status.st_mtime_ns} {status.st_ino}\n"


# The cache of a site as the pipeline uses it: rows of another program count as missing.


@contextmanager
def open_rows(root: Path) -> Iterator[Rows]:
    """The rows of the site at `root`; what cannot be read or written is not kept, see `Rows.problem`."""
    with open_site_cache(root, program_digest) as rows:
        yield rows
