"""Trees of files and folders: their contents at any depth, and access to folders in them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from .folder import Folder


@dataclass(frozen=True, slots=True)
class OwnTree:
    """Contents of a folder, as paths relative to it with forward slashes."""

    files: frozenset[str] = frozenset()
    """Everything that is not a real folder; links to folders are included here."""
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
    """Folders below one, opened on demand. Parents that consecutive paths share stay open."""

    def __init__(self, top: Folder, *, mode: int | None = None) -> None:
        """Use `top` as the root. mode: permissions for missing folders, which are created; None: they are
        not."""
        self._top = top
        self._mode = mode
        self._open: list[tuple[str, Folder]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._leave(0)

    def folder(self, path: str) -> Folder:
        """Open the folder at `path`. It stays open until a folder outside it is requested."""
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
        """Open the folder of a file. Return it with the file's name in it."""
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
