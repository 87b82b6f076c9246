"""What a burst of hints comes to: files whose bytes really changed, and those that are not finished yet.

A save is no single act. Between its steps a file may be gone (vim, "delete and create") or empty (written
in place), or there is one more, under a name that it is about to lose. To report that would show the author
a page that was never meant, so such files are doubted for a moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..base.storage.changed_files import ChangedFiles
from .fingerprint import Fingerprint, is_same
from .tree import WatchedTree

STEP_S = 0.050
"""How long a file that was there, or had content, may be without, and how long a new one must last."""
CLOSE_S = 0.100
"""How long a new file may be written before it is closed: good editors sync a temporary file to the disk."""


@dataclass(slots=True)
class ChangeDetector:
    """Collected for one report."""

    tree: WatchedTree
    _before: dict[str, Fingerprint | None] = field(default_factory=dict)
    """Place of each file that changed → as it was at the last report."""
    _doubted: dict[str, float] = field(default_factory=dict)
    """Place → when doubting it ends, in seconds of the clock that `stamp_of` is told."""
    _writing: dict[str, bool] = field(default_factory=dict)

    @property
    def has_changes(self) -> bool:
        """Whether something changed, or may have."""
        return bool(self._before or self._doubted)

    def scan(self, places: Iterable[str], writing: Mapping[str, bool], now_s: float) -> None:
        """Look at these and at all that are doubted. writing: whether more is to come, if that is known."""
        self._writing |= writing
        for place in {*places, *self._doubted}:
            old, new = self.tree.fingerprints.get(place), self.tree.stamp_of(place)
            patience_s = _patience_s(old, new, self._writing.get(place, False))
            if patience_s and now_s < self._doubted.setdefault(place, now_s + patience_s):
                continue
            self._doubted.pop(place, None)
            self._note(place, old, new)

    def wait_s(self, now_s: float) -> float:
        """How long to wait for what is doubted."""
        return max((until_s - now_s for until_s in self._doubted.values()), default=0.0)

    def changes(self, everything: bool) -> ChangedFiles | None:
        """What to report; None if nothing is different."""
        now = {place: self.tree.fingerprints.get(place) for place in self._before}
        changed = {place for place, old in self._before.items() if not is_same(old, now[place])}
        if not changed and not everything:
            return None
        return ChangedFiles(frozenset(map(Path, changed)), everything)

    def undo(self) -> None:
        """Have all that is not told found again."""
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


def _patience_s(old: Fingerprint | None, new: Fingerprint | None, writing: bool) -> float:
    if old is None:
        return 0.0 if new is None else CLOSE_S if writing else STEP_S
    return STEP_S if old.size and (new is None or not new.size) else 0.0
