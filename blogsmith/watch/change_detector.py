"""Turns hints into changes: files whose bytes differ, reported when they are complete.

A save has several steps. Between them a file may be missing (vim, "delete and create") or empty (written in
place), or a temporary file may exist. The author must not see an incomplete page, so these files are pending
for a moment before they are reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..base.storage.changed_files import ChangedFiles
from .fingerprint import Fingerprint, is_same
from .tree import WatchedTree

INCOMPLETE_S = 0.050
"""Time in seconds that a file may be missing or empty during a save, and that a new file must exist before it
is reported."""
CLOSE_S = 0.100
"""Time in seconds that a new file may stay open. Good editors sync a temporary file to disk before they close
it."""


@dataclass(slots=True)
class ChangeDetector:
    """Collects the changes of one report."""

    tree: WatchedTree
    _before: dict[str, Fingerprint | None] = field(default_factory=dict)
    """Path of each changed file → its fingerprint at the last report; None if it did not exist."""
    _pending: dict[str, float] = field(default_factory=dict)
    """Path of each pending file → end of the waiting time, by the clock that `scan` gets."""
    _writing: dict[str, bool] = field(default_factory=dict)

    @property
    def has_changes(self) -> bool:
        """Whether there are changed or pending files."""
        return bool(self._before or self._pending)

    def scan(self, places: Iterable[str], writing: Mapping[str, bool], now_s: float) -> None:
        """Check the files at these places, and all pending files. writing: path → whether the file is still
        open, where known."""
        self._writing |= writing
        for place in {*places, *self._pending}:
            old, new = self.tree.fingerprints.get(place), self.tree.read_fingerprint(place)
            patience_s = _waiting_time_s(old, new, self._writing.get(place, False))
            if patience_s and now_s < self._pending.setdefault(place, now_s + patience_s):
                continue
            self._pending.pop(place, None)
            self._note(place, old, new)

    def wait_s(self, now_s: float) -> float:
        """Return how long to wait for pending files, in seconds."""
        return max((until_s - now_s for until_s in self._pending.values()), default=0.0)

    def changes(self, everything: bool) -> ChangedFiles | None:
        """Return the changes to report, or None if nothing has changed. everything: see `ChangedFiles`."""
        now = {place: self.tree.fingerprints.get(place) for place in self._before}
        changed = {place for place, old in self._before.items() if not is_same(old, now[place])}
        if not changed and not everything:
            return None
        return ChangedFiles(frozenset(map(Path, changed)), everything)

    def undo(self) -> None:
        """Restore the previous fingerprints, so that unreported changes are found again."""
        for place, old in self._before.items():
            if old is None:
                self.tree.fingerprints.pop(place, None)
            else:
                self.tree.fingerprints[place] = old

    def _note(self, place: str, old: Fingerprint | None, new: Fingerprint | None) -> None:
        if not is_same(old, new):
            self._before.setdefault(place, old)
        if new is None:
            self.tree.fingerprints.pop(place, None)
        else:
            self.tree.fingerprints[place] = new


def _waiting_time_s(old: Fingerprint | None, new: Fingerprint | None, writing: bool) -> float:
    if old is None:
        return 0.0 if new is None else CLOSE_S if writing else INCOMPLETE_S
    return INCOMPLETE_S if old.size and (new is None or not new.size) else 0.0
