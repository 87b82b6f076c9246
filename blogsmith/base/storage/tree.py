"""Trees of files and folders: listing all contents of a folder, and opening many folders below one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from msgspec import Struct

from .folder import Folder


class OwnTree(Struct, frozen=True):
    """Contents of a folder at any depth, as relative paths with forward slashes."""

    files: frozenset[str] = frozenset()
    """Paths of everything that is not a folder. A link to a folder counts as a file."""
    folders: frozenset[str] = frozenset()


def scan(folder: Folder) -> OwnTree:
    """Return the contents of `folder` without following links."""
    files: list[str] = []
    folders: list[str] = []
    _scan(folder, "", files, folders)
    return OwnTree(frozenset(files), frozenset(folders))


def ancestors(paths: Iterable[str]) -> frozenset[str]:
    """Return every folder above one of `paths`."""
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(found)


class OpenFolderPath:
    """Folders below one folder, opened when needed. Parents that consecutive paths share stay open."""

    def __init__(self, top: Folder, *, mode: int | None = None) -> None:
        """Use `top` as the folder that paths are relative to. mode: create missing folders with these
        permissions; None: do not create any."""
        self._top = top
        self._mode = mode
        self._open: list[tuple[str, Folder]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._leave(0)

    def folder(self, path: str) -> Folder:
        """Open the folder at `path`. It stays open until the caller requests a folder outside it."""
        parts = path.split("/") if path else []
        shared = 0
        while shared < min(len(parts), len(self._open)) and self._open[shared][0] == parts[shared]:
            shared += 1
        self._leave(shared)
        for part in parts[shared:]:
            here = self._open[-1][1] if self._open else self._top
            there = here.enter(part, make=self._mode is not None, mode=self._mode)
            self._open.append((part, there))
        return self._open[-1][1] if self._open else self._top

    def parent(self, path: str) -> tuple[Folder, str]:
        """Open the folder that contains a file. Return it with the name of the file in it."""
        folder, _, name = path.rpartition("/")
        return self.folder(folder), name

    def _leave(self, depth: int) -> None:
        while len(self._open) > depth:
            self._open.pop()[1].close()


def _scan(folder: Folder, prefix: str, files: list[str], folders: list[str]) -> None:
    for name, is_folder in folder.entries():
        (folders if is_folder else files).append(prefix + name)
        if is_folder:
            with folder.enter(name) as inner:
                _scan(inner, f"{prefix}{name}/", files, folders)
