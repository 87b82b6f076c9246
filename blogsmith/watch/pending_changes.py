"""What has changed on disk since the whole site was looked at last."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ..base.storage.changed_files import ChangedFiles
from ..config.load import CONFIG_NAME
from ..freeze.store import OUTPUTS, folder_of
from ..model.remote_images import RECORD

_OF_SITE = frozenset(
    (
        *("content", "static", "themes", "layouts", "partials", "shortcodes", "languages", "plugins"),
        *("_freeze", CONFIG_NAME, RECORD),
    )
)
"""Files and folders at the root that pages are made from, whatever their code reads."""


@dataclass(frozen=True, slots=True)
class Save:
    """One report of the watcher."""

    paths: tuple[str, ...]
    """Relative to the root where they are inside, sorted."""
    everything: bool
    """Other files may have changed as well."""


FIRST_RETRY_S = 0.2
RETRIES = 5
"""Looks after a change that nobody reported, each after twice the time; the watcher's net takes less."""


@dataclass(slots=True)
class UnreportedChanges:
    """Files that a look found changed before the watcher told of them.

    The watcher waits a moment before it tells of a new file, and compares with what it told last. What a look
    finds by accident and what is undone in that moment it never tells of: so the site is looked at again.
    """

    _left: dict[str, int] = field(default_factory=dict)
    """Path → looks to come."""

    @property
    def retry_s(self) -> float | None:
        """How long until the next look; None: none is needed."""
        if not self._left:
            return None
        return float(FIRST_RETRY_S * 2 ** (RETRIES - max(self._left.values())))

    def note(
        self, before: Mapping[str, object], now: Mapping[str, object], reported: Collection[str]
    ) -> None:
        """A look has come to its end. before, now: path → stamp. reported: paths that it knew of."""
        self._left = {path: left - 1 for path, left in self._left.items() if left > 1}
        for path in before.keys() | now.keys():
            if path not in reported and before.get(path) != now.get(path):
                self._left[path] = RETRIES

    def report(self, paths: Iterable[str]) -> None:
        """The watcher tells of these."""
        for path in paths:
            self._left.pop(path, None)


@dataclass(slots=True)
class PendingChanges:
    """Belongs to one engine.

    A look that is broken off starts anew with all that has changed since the last whole one.
    """

    root: Path
    _paths: set[str] = field(default_factory=set)
    everything: bool = True
    """At first nothing is known."""
    unreported: UnreportedChanges = field(default_factory=UnreportedChanges)
    _taken: Save = field(default_factory=lambda: Save((), everything=False))
    """What the look that is under way knows of."""

    @property
    def paths(self) -> tuple[str, ...]:
        """Of all changed files, sorted."""
        return tuple(sorted(self._paths))

    def add(self, changes: ChangedFiles) -> Save:
        """Take a report."""
        save = Save(tuple(sorted(self._site_paths(changes.paths))), changes.everything)
        self._paths.update(save.paths)
        self.everything |= save.everything
        self.unreported.report(save.paths)
        return save

    def add_record(self, post: str) -> str:
        """The recorded results of a post have changed; gives their path."""
        path = str(folder_of(PurePosixPath(post)) / OUTPUTS)
        self._paths.add(path)
        return path

    def begin(self) -> Save:
        """A look at the whole site begins with all of it."""
        self._taken = Save(self.paths, self.everything)
        self._paths, self.everything = set(), False
        return self._taken

    def abort(self, *, everything: bool = False) -> None:
        """That look is broken off. everything: the next one is to know nothing."""
        self._paths.update(self._taken.paths)
        self.everything |= self._taken.everything or everything
        self._taken = Save((), everything=False)

    def finish(self) -> None:
        """That look has come to its end."""
        self._taken = Save((), everything=False)

    def only_pages(self) -> bool:
        """Whether nothing has changed, as far as is known, but posts and what is copied."""
        known = {*self._paths, *self._taken.paths}
        everything = self.everything or self._taken.everything
        return not everything and all(path.startswith(("content/", "static/", "_freeze/")) for path in known)

    def _site_paths(self, paths: Iterable[Path]) -> Iterable[str]:
        for path in paths:
            inside = path.is_relative_to(self.root)
            yield path.relative_to(self.root).as_posix() if inside else path.as_posix()


def is_of_site(path: str) -> bool:
    """Whether pages are made from a file, by its place; what code reads may be elsewhere."""
    return path.startswith("/") or path.partition("/")[0] in _OF_SITE
