"""The program that builds: its own files, the packages it uses, and the Python below, as one digest.

What is kept from one build to the next holds for this program only. Stamps of files do instead of their
bytes: a program that was installed anew, or edited, counts as another one.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from .. import __version__
from .bundled import bundled_folder

_PACKAGES = ("site-packages", "dist-packages")
_PASSED_OVER = frozenset({"__pycache__", "node_modules"})


def program_digest() -> str:
    """Another one whenever the program, a package, or the folders of packages are not as they were."""
    package = Path(__file__).resolve().parents[1]
    own = (package, bundled_folder("themes"), bundled_folder("plugins"))
    total = hashlib.blake2b(f"{__version__} {sys.version} {sys.platform}".encode(), digest_size=16)
    for folder in dict.fromkeys(own):
        for line in _files(str(folder)):
            total.update(line.encode("utf-8", "surrogateescape"))
    for name in sys.path:
        if Path(name).name in _PACKAGES:
            total.update(_installed(name).encode("utf-8", "surrogateescape"))
    return total.hexdigest()


def tools_digest() -> str:
    """Another one whenever programs may have come or gone: those of diagrams are found by `PATH`."""
    folders = os.environ.get("PATH", "").split(os.pathsep)
    text = "\n".join(map(_stamp, folders))
    return hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def _installed(folder: str) -> str:
    """The packages in a folder with their versions."""
    try:
        names = [entry.name for entry in os.scandir(folder)]
    except OSError:
        return ""
    return "\n".join(sorted(name for name in names if name.endswith((".dist-info", ".egg-info", ".pth"))))


def _stamp(path: str) -> str:
    try:
        found = Path(path).stat()
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
