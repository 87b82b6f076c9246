"""Changes on disk since the last complete update of the site."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ..base.storage.changed_files import ChangedFiles
from ..config.load import CONFIG_NAME
from ..freeze.store import OUTPUTS, page_folder
from ..model.remote_images import RECORD

_OF_SITE = frozenset(
    (
        *("content", "static", "themes", "layouts", "partials", "shortcodes", "languages", "plugins"),
        *("_freeze", CONFIG_NAME, RECORD),
    )
)
"""Files and folders in the site root that pages are made from. Cells and plugins may read other files."""


@dataclass(frozen=True, slots=True)
class ChangeReport:
    """Changes that an update of the site must process."""

    paths: tuple[str, ...]
    """Sorted paths. Paths inside the site root are relative to it."""
    everything: bool
    """Whether other files may have changed as well."""


FIRST_RETRY_S = 0.2
RETRIES = 5
"""Number of retries after a change that the watcher has not reported, with doubled pauses. The watcher's own
scan usually finds the change earlier."""


@dataclass(slots=True)
class UnreportedChanges:
    """Changed files that an update read before the watcher reported them.

    The watcher waits a moment before it reports a change. If the change is undone in that moment, it is never
    reported, although the update has already used it. The site is therefore updated again.
    """

    _retries: dict[str, int] = field(default_factory=dict)
    """Path of a changed file → number of remaining retries."""

    @property
    def retry_s(self) -> float | None:
        """Seconds until the next retry; None if none is needed."""
        if not self._retries:
            return None
        return float(FIRST_RETRY_S * 2 ** (RETRIES - max(self._retries.values())))

    def note(
        self, before: Mapping[str, object], now: Mapping[str, object], reported: Collection[str]
    ) -> None:
        """Record the result of an update. before, now: path → stamp before and after the update. reported:
        paths that the watcher has reported."""
        self._retries = {path: left - 1 for path, left in self._retries.items() if left > 1}
        for path in before.keys() | now.keys():
            if path not in reported and before.get(path) != now.get(path):
                self._retries[path] = RETRIES

    def report(self, paths: Iterable[str]) -> None:
        """Drop the paths that the watcher has reported."""
        for path in paths:
            self._retries.pop(path, None)


@dataclass(slots=True)
class PendingChanges:
    """The changes that one preview must process. After an aborted update, the next one gets all changes since
    the last complete update."""

    root: Path
    _paths: set[str] = field(default_factory=set)
    everything: bool = True
    """Whether any file may have changed. True at the start, because nothing is known yet."""
    unreported: UnreportedChanges = field(default_factory=UnreportedChanges)
    _processing: ChangeReport = field(default_factory=lambda: ChangeReport((), everything=False))
    """The changes that the update in progress processes."""

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of all changed files, sorted."""
        return tuple(sorted(self._paths))

    def add(self, changes: ChangedFiles) -> ChangeReport:
        """Add a report of the watcher. Return it with sorted paths."""
        save = ChangeReport(tuple(sorted(self._site_paths(changes.paths))), changes.everything)
        self._paths.update(save.paths)
        self.everything |= save.everything
        self.unreported.report(save.paths)
        return save

    def add_record(self, post: str) -> str:
        """Add the file with the recorded results of a post, and return its path."""
        path = str(page_folder(PurePosixPath(post)) / OUTPUTS)
        self._paths.add(path)
        return path

    def begin(self) -> ChangeReport:
        """Start an update of the whole site, and return all changes."""
        self._processing = ChangeReport(self.paths, self.everything)
        self._paths, self.everything = set(), False
        return self._processing

    def abort(self, *, everything: bool = False) -> None:
        """Abort the update, so that its changes are processed again. everything: whether the next update must
        check all files."""
        self._paths.update(self._processing.paths)
        self.everything |= self._processing.everything or everything
        self._processing = ChangeReport((), everything=False)

    def finish(self) -> None:
        """Finish the update."""
        self._processing = ChangeReport((), everything=False)

    def only_pages(self) -> bool:
        """Return whether only posts, their records and copied files have changed, as far as is known."""
        known = {*self._paths, *self._processing.paths}
        everything = self.everything or self._processing.everything
        return not everything and all(path.startswith(("content/", "static/", "_freeze/")) for path in known)

    def _site_paths(self, paths: Iterable[Path]) -> Iterable[str]:
        for path in paths:
            inside = path.is_relative_to(self.root)
            yield path.relative_to(self.root).as_posix() if inside else path.as_posix()


def is_site_source(path: str) -> bool:
    """Return whether pages are made from the file at `path`. Cells and plugins may read other files."""
    return path.startswith("/") or path.partition("/")[0] in _OF_SITE
