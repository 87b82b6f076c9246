"""What a folder holds, however deep, and the way to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from .folder import Folder


@dataclass(frozen=True, slots=True)
class OwnTree:
    """The contents of a folder, as paths relative to it with forward slashes."""

    files: frozenset[str] = frozenset()
    """Everything that is not a real folder; links to folders are files here."""
    folders: frozenset[str] = frozenset()


def scan(folder: Folder) -> OwnTree:
    """What is in `folder`, no link followed."""
    files: list[str] = []
    folders: list[str] = []
    _scan(folder, "", files, folders)
    return OwnTree(frozenset(files), frozenset(folders))


def ancestors(paths: Iterable[str]) -> frozenset[str]:
    """Every folder on the way to one of `paths`."""
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(found)


class Descent:
    """The folders below one, entered one after another; what neighbouring paths share stays open."""

    def __init__(self, top: Folder, *, mode: int | None = None) -> None:
        """mode: permissions of folders that are missing, which are made then."""
        self._top = top
        self._mode = mode
        self._open: list[tuple[str, Folder]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._leave(0)

    def folder(self, path: str) -> Folder:
        """The folder at `path`; open until one is asked for that does not lie in it."""
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
        """The folder that a file lies in, and its name there."""
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
