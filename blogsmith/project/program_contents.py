"""A digest that shows whether two machines run the same program: content of files and versions of
packages."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from .bundled_folders import bundled_path, package_folder

_NAME = re.compile(r"[A-Za-z0-9._-]+")


def program_contents(distribution: str) -> str:
    """Return a digest that is equal on two machines if both render the same pages. distribution: name of our
    package."""
    total = blake2b(repr(sys.version_info).encode(), digest_size=16)
    for line in _versions(distribution):
        total.update(line.encode())
    for folder in (package_folder(), bundled_path("plugins")):
        for name, data in _files(Path(folder)):
            total.update(f"{name}\0{len(data)}\0".encode())
            total.update(data)
    return total.hexdigest()


def _versions(distribution: str) -> Iterator[str]:
    try:
        needed = requires(distribution) or []
    except PackageNotFoundError:
        return
    for requirement in sorted(needed):
        found = _NAME.match(requirement)
        if found and "extra ==" not in requirement:
            try:
                yield f"{found[0]} {version(found[0])}\n"
            except PackageNotFoundError:
                yield f"{found[0]}\n"


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield each file as its relative path and content, sorted."""
    for path, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in ("__pycache__", "node_modules"))
        for name in sorted(names):
            file = Path(path, name)
            yield file.relative_to(folder).as_posix(), file.read_bytes()
