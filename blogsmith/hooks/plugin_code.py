"""Code in a site's `plugins/`: read once, hashed, and run from the same bytes.

Consent applies to digests, so the bytes that run are the bytes that were hashed: files are not read a second
time, and Python's bytecode files are never used. Three kinds of files are not covered and therefore cannot
be imported: templates of shortcodes, which are content and cannot run code; hidden files; and `__pycache__`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct, field

from ..base.patterns import lazy_pattern
from ..base.storage.folder import open_folder

FOLDER = "plugins"
_TEMPLATES = f"{FOLDER}/shortcodes/"
_MARKDOWN = lazy_pattern(rb"\bhooks\s*\.\s*markdown\b")
_IGNORED_FOLDERS = frozenset({"__pycache__", "node_modules"})


class PluginCode(Struct, frozen=True):
    """Code of a site's plugins. Paths are relative to the site root, with forward slashes."""

    root: Path
    """Root of the site, with links resolved."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """Maps each covered file to the hexadecimal SHA-256 of its content."""
    sources: Mapping[str, bytes] = field(default_factory=dict)
    """Maps each Python source to its content, the bytes that were hashed."""
    uncovered: Mapping[str, str] = field(default_factory=dict)
    """Maps a file that consent cannot cover, such as a broken link, to the reason, as a message."""


def is_covered(path: str) -> bool:
    """Return whether consent covers a file at `path`."""
    folder, _, name = path.rpartition("/")
    parts = folder.split("/")
    if parts[0] != FOLDER or not _IGNORED_FOLDERS.isdisjoint(parts) or name.endswith("~"):
        return False
    if any(part.startswith(".") for part in (*parts, name)):
        return False
    return not (path.startswith(_TEMPLATES) and name.endswith(".html"))


def changes_parser(path: str, code: PluginCode) -> bool:
    """Return whether a plugin uses the hook `markdown`. The rules of these plugins change objects of the
    Markdown parser, so they run in the process of blogsmith, not in a separate one. path: file of the
    plugin."""
    return _MARKDOWN.search(code.sources.get(path, b"")) is not None


def read_plugin_code(root: Path) -> PluginCode:
    """Read all covered files below the site's `plugins/`, sorted by path."""
    root = root.resolve()
    digests: dict[str, str] = {}
    sources: dict[str, bytes] = {}
    left_out: dict[str, str] = {}
    for path in sorted(_find_files(root)):
        try:
            data = _read_site_file(root, path)
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
        uncovered=MappingProxyType(left_out),
    )


def _find_files(root: Path) -> Iterator[str]:
    """Yield files and links in the folder, which may be a link itself. Linked folders in it are not
    entered."""
    top = root / FOLDER
    with suppress(OSError, RuntimeError):
        # Before Python 3.13, a link to itself raises RuntimeError.
        if not top.resolve(strict=True).is_relative_to(root):
            return
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if name not in _IGNORED_FOLDERS and not name.startswith(".")]
        inner = Path(folder).relative_to(root).as_posix()
        linked = [name for name in folders if Path(folder, name).is_symlink()]
        yield from (path for name in (*names, *linked) if is_covered(path := f"{inner}/{name}"))


def hash_site_file(root: Path, path: str) -> str:
    """Return the hexadecimal SHA-256 of a file of the site. root: absolute path without symbolic links. Raise
    ValueError with the reason if the file cannot be used."""
    return hashlib.sha256(_read_site_file(root, path)).hexdigest()


def _read_site_file(root: Path, path: str) -> bytes:
    """Read a file of the site, following links within the site. Raise ValueError with the reason if that
    fails."""
    try:
        file = (root / path).resolve(strict=True)
        if not file.is_relative_to(root):
            raise ValueError("it is a link to a file outside the site")
        if not file.is_file():
            raise ValueError("it is a link to a folder" if file.is_dir() else "it is not a regular file")
        with open_folder(file.parent) as folder:
            return folder.read(file.name)
    except (OSError, RuntimeError) as error:
        # A dangling link is the lock file of an editor, or a broken link.
        raise ValueError("it cannot be read") from error
