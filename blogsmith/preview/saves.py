"""What has changed on disk since the whole site was looked at last."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ..freeze.store import OUTPUTS, folder_of
from ..watch.changes import Changes


@dataclass(frozen=True, slots=True)
class Save:
    """One report of the watcher."""

    paths: tuple[str, ...]
    """Relative to the root where they are inside, sorted."""
    everything: bool
    """Other files may have changed as well."""


@dataclass(slots=True)
class Saves:
    """Belongs to one engine.

    A look that is broken off starts anew with all that has changed since the last whole one.
    """

    root: Path
    _paths: set[str] = field(default_factory=set)
    everything: bool = True
    """At first nothing is known."""

    @property
    def paths(self) -> tuple[str, ...]:
        """Of all changed files, sorted."""
        return tuple(sorted(self._paths))

    def add(self, changes: Changes) -> Save:
        """Take a report."""
        save = Save(tuple(sorted(self._named(changes.paths))), changes.everything)
        self._paths.update(save.paths)
        self.everything |= save.everything
        return save

    def add_record(self, post: str) -> str:
        """The recorded results of a post have changed; gives their path."""
        path = str(folder_of(PurePosixPath(post)) / OUTPUTS)
        self._paths.add(path)
        return path

    def done(self) -> tuple[str, ...]:
        """The whole site was looked at; gives what had changed."""
        paths, self._paths, self.everything = self.paths, set(), False
        return paths

    def _named(self, paths: Iterable[Path]) -> Iterable[str]:
        for path in paths:
            inside = path.is_relative_to(self.root)
            yield path.relative_to(self.root).as_posix() if inside else path.as_posix()
