"""What lies in a site's `plugins/`: read once, digested, and run from these very bytes.

Consent is given to digests, so what was read for a digest is what runs: nothing is read a second time, and
Python's own bytecode files are never used. Templates of shortcodes are content, which cannot run anything,
and hidden files and `__pycache__` are nobody's code: these are not covered, and so cannot be imported.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct, field

from ..base.storage.folder import open_folder

FOLDER = "plugins"
_TEMPLATES = f"{FOLDER}/shortcodes/"
_PASSED_OVER = frozenset({"__pycache__", "node_modules"})


class PluginCode(Struct, frozen=True):
    """Paths are relative to the site's root, with forward slashes."""

    root: Path
    """Of the site, links resolved."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """Every file that is covered → hex SHA-256 of its bytes."""
    sources: Mapping[str, bytes] = field(default_factory=dict)
    """Every Python source → its bytes, which were digested."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Files that are not covered although they could be → why, in words."""


def is_covered(path: str) -> bool:
    """Whether a file at `path` belongs to what consent is given to."""
    folder, _, name = path.rpartition("/")
    parts = folder.split("/")
    if parts[0] != FOLDER or not _PASSED_OVER.isdisjoint(parts) or name.endswith("~"):
        return False
    if any(part.startswith(".") for part in (*parts, name)):
        return False
    return not (path.startswith(_TEMPLATES) and name.endswith(".html"))


def read_plugin_code(root: Path) -> PluginCode:
    """Everything under the site's `plugins/` that is covered, in the order of its paths."""
    root = root.resolve()
    digests: dict[str, str] = {}
    sources: dict[str, bytes] = {}
    left_out: dict[str, str] = {}
    for path in sorted(_paths(root)):
        try:
            data = _contents(root, path)
        except ValueError as why:
            left_out[path] = str(why)
            continue
        digests[path] = hashlib.sha256(data).hexdigest()
        if path.endswith(".py"):
            sources[path] = data
    return PluginCode(
        root,
        digests=MappingProxyType(digests),
        sources=MappingProxyType(sources),
        left_out=MappingProxyType(left_out),
    )


def _paths(root: Path) -> Iterator[str]:
    """Files and links in the folder, which may be a link itself; linked folders in it are not entered."""
    top = root / FOLDER
    with suppress(OSError, RuntimeError):
        # Python before 3.13 says RuntimeError to a link that leads to itself
        if not top.resolve(strict=True).is_relative_to(root):
            return
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if name not in _PASSED_OVER and not name.startswith(".")]
        inner = Path(folder).relative_to(root).as_posix()
        linked = [name for name in folders if Path(folder, name).is_symlink()]
        yield from (path for name in (*names, *linked) if is_covered(path := f"{inner}/{name}"))


def digest_of(root: Path, path: str) -> str:
    """Hex SHA-256 of a file of the site, whose root is resolved; ValueError says why there is none."""
    return hashlib.sha256(_contents(root, path)).hexdigest()


def _contents(root: Path, path: str) -> bytes:
    """The bytes of a file of the site, through links inside it; ValueError says why there are none."""
    try:
        file = (root / path).resolve(strict=True)
        if not file.is_relative_to(root):
            raise ValueError("it is a link that leads out of the site")
        if not file.is_file():
            raise ValueError("it is a link to a folder" if file.is_dir() else "it is no regular file")
        with open_folder(file.parent) as folder:
            return folder.read(file.name)
    except (OSError, RuntimeError) as error:
        # a link that leads nowhere is an editor's lock, or one that is broken
        raise ValueError("it cannot be read") from error
