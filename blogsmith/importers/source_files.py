"""The files of a source: nothing outside its folder is read, whatever its links and settings say, and nothing
that is no file, such as a pipe; texts are read whatever their encoding."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Collection, Iterator
from functools import lru_cache
from io import BufferedReader
from pathlib import Path, PosixPath, PurePosixPath, WindowsPath
from typing import TYPE_CHECKING, Any, SupportsIndex

from ..base.storage.folder import open_folder
from ..base.storage.links import is_junction
from ..model.units import name_set

if TYPE_CHECKING:
    _SystemPath = PosixPath
else:
    _SystemPath = WindowsPath if os.name == "nt" else PosixPath

SKIPPED = name_set(
    "node_modules vendor __pycache__ _site .git .github .vscode .idea .bundle .jekyll-cache .sass-cache "
    ".ipynb_checkpoints .venv venv"
)
"""Folders of tools and outputs, in every system."""
_LARGEST = 10_000_000
"""Bytes of a text that is read; as for our own posts."""
_DEEPEST = 50
_RESERVED = re.compile("[\ue000-\ue03f]")
"""Private characters, with which translations mark places of a text; of an author they say nothing."""
_TERMINAL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
"""What moved the cursor or coloured text in a terminal whose output was copied (ECMA-48, 5.4): without its
first character, which no page may hold, the rest would be read as text."""


class _SourcePath(_SystemPath):
    """A path at which nothing is to be found that lies outside its source."""

    __slots__ = ()
    given = ""
    """The source's folder as the user names it, absolute; these two are those of a class for each source."""
    top = ""
    """The same, links resolved."""

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        # its class is none that a module has
        return _source_path, (self.given, self.top, str(self))

    @property
    def is_inside(self) -> bool:
        """Whether it leads to something of the source, and by no link to what is hidden there."""
        real, written = os.path.realpath(self), os.path.abspath(self)
        if not _is_below(real, self.top):
            return False
        start = self.given if _is_below(written, self.given) else self.top
        follows_link = real != os.path.normpath(os.path.join(self.top, os.path.relpath(written, start)))
        return not (follows_link and any(part.startswith(".") for part in Path(real[len(self.top) :]).parts))

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """As of any path; of what is outside FileNotFoundError."""
        if not self.is_inside:
            raise FileNotFoundError(errno.ENOENT, "it is not in the source", str(self))
        return os.stat(self, follow_symlinks=follow_symlinks)

    def exists(self, *, follow_symlinks: bool = True) -> bool:
        """Whether anything of the source is there."""
        return self._mode is not None

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Whether a regular file of the source is there."""
        return self._mode is not None and stat.S_ISREG(self._mode)

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Whether a folder of the source is there."""
        return self._mode is not None and stat.S_ISDIR(self._mode)

    @property
    def _mode(self) -> int | None:
        try:
            return self.stat().st_mode
        except (OSError, ValueError):
            return None


def source_root(root: Path) -> Path:
    """The folder of a source; it and all paths joined to it lead nowhere else."""
    return _source_class(os.path.abspath(root), os.path.realpath(root))(root)


@lru_cache(maxsize=8)
def _source_class(given: str, top: str) -> type[_SourcePath]:
    # in Python 3.11 a path knows nothing of the one it was made from but its class
    return type("SourcePath", (_SourcePath,), {"given": given, "top": top})


def _source_path(given: str, top: str, path: str) -> Path:
    """Return a path in another process."""
    return _source_class(given, top)(path)


def _is_below(path: str, top: str) -> bool:
    return path == top or path.startswith(os.path.join(top, ""))


def open_file(file: Path) -> BufferedReader:
    """A regular file to read; OSError for what is none, or lies outside its source."""
    file.stat()
    folder, name = os.path.split(os.path.realpath(file))
    with open_folder(folder) as above:
        return above.open_file(name)


def walk_files(root: Path, skipped: Collection[str] = SKIPPED) -> Iterator[PurePosixPath]:
    """Every file below a folder, sorted, relative to it; folders that begin with a dot and `skipped` left
    out, linked folders too."""
    below = root if isinstance(root, _SourcePath) else source_root(root)

    def visit(folder: Path, path: PurePosixPath, depth: int) -> Iterator[PurePosixPath]:
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            return
        for entry in entries:
            if entry.is_symlink():
                if (folder / entry.name).is_file():
                    yield path / entry.name
            elif entry.is_file():
                yield path / entry.name
            elif entry.is_dir() and not is_junction(entry):
                is_wanted = entry.name not in skipped and not entry.name.startswith(".")
                if is_wanted and depth:
                    yield from visit(folder / entry.name, path / entry.name, depth - 1)

    if below.is_dir():
        yield from visit(below, PurePosixPath(), _DEEPEST)


def outer_links(root: Path) -> Iterator[PurePosixPath]:
    """Links below a folder that lead out of it, and are not followed."""
    top = source_root(root)
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED and not name.startswith("."))
        for name in sorted([*folders, *files]):
            path = Path(folder, name).relative_to(root)
            if os.path.islink(root / path) and not (top / path).exists():
                yield PurePosixPath(path.as_posix())


def read_text(file: Path) -> str | None:
    """A text with newlines as \\n, without what steers terminals; Latin-1 where it is no UTF-8; None for what
    is no text, is too large or cannot be read."""
    try:
        with open_file(file) as stream:
            data = stream.read(_LARGEST + 1)
    except (OSError, ValueError):
        return None
    if b"\0" in data or len(data) > _LARGEST:
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    text = _TERMINAL.sub("", text) if "\x1b" in text else text
    return _RESERVED.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))
