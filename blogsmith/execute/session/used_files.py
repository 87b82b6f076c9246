"""Files that a session used, each with the cell that was the first to do so.

Digests are taken when the session is over. A file that is no longer what it was when it was opened has none
that would be true: what was read is gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from ...base.storage.stamps import file_digest, stamp_at
from ...model.results import CHANGED, SessionRun
from .protocol import Frame

_MODULE_ENDS = (".py", "/__init__.py")


@dataclass(slots=True)
class Used:
    """What one cell was the first to use, and the values between it and the next one that ran."""

    reads: list[str] = field(default_factory=list)
    """Relative to the site root; likewise the next two."""
    modules: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)

    def note(self, frame: Frame) -> None:
        """Add what an answer of the worker says."""
        self.reads += frame.get("reads") or ()
        self.modules += frame.get("modules") or ()
        self.absent += frame.get("absent") or ()


@dataclass(slots=True)
class UsedFiles:
    """Of a session while it runs."""

    root: Path
    _first: Used = field(default_factory=Used)
    """What values used before any cell ran."""
    _cells: dict[int, Used] = field(default_factory=dict)
    """Position of a cell that ran, from 1 → its own."""
    _stamps: dict[str, list[int]] = field(default_factory=dict)
    """File → size, time of the last write in ns and inode when it was opened; none if the session itself
    may have changed it."""

    def copy(self) -> UsedFiles:
        """The same as it is now."""
        return deepcopy(self)

    def is_hidden(self) -> bool:
        """Whether a module is there now that would be imported in place of one that was."""
        stems = {stem for used in (self._first, *self._cells.values()) for stem in used.absent}
        return any((self.root / f"{stem}{end}").exists() for stem in stems for end in _MODULE_ENDS)

    def begin(self, position: int) -> None:
        """A cell runs. One that is skipped is not told: nothing of it is recorded."""
        self._cells[position] = Used()

    def note(self, frame: Frame | None) -> None:
        """Add what the worker says to the last cell that ran."""
        last = max(self._cells, default=0)
        (self._cells[last] if last else self._first).note(frame or {})
        for path, stamp in ((frame or {}).get("stamps") or {}).items():
            if stamp is None:
                self._stamps.pop(path, None)
            else:
                self._stamps[path] = stamp

    def add_to(self, run: SessionRun) -> SessionRun:
        """`run` with all of it, files with their digests; a file that the session removed is left out."""
        digests: dict[str, str] = {}
        cells = [
            replace(cell, **self._fields(self._cells.get(position, Used()), digests))
            for position, cell in enumerate(run.cells, 1)
        ]
        return replace(run, cells=tuple(cells), **self._fields(self._first, digests))

    def _fields(self, used: Used, digests: dict[str, str]) -> Mapping[str, object]:
        return {
            "reads": self._with_digests(used.reads, digests),
            "modules": self._with_digests(used.modules, digests),
            "absent": tuple(sorted(set(used.absent))),
        }

    def _with_digests(self, paths: Iterable[str], digests: dict[str, str]) -> dict[str, str]:
        for path in paths:
            if path not in digests:
                digests[path] = self._digest_as_read(path)
        return {path: digests[path] for path in sorted(paths) if digests[path]}

    def _digest_as_read(self, path: str) -> str:
        digest, then = file_digest(self.root / path), self._stamps.get(path)
        # after the digest is taken, so that a save meanwhile is seen
        now = stamp_at(self.root / path) if then else None
        is_changed = then and (now is None or [now.size, now.modified_ns, now.inode] != then)
        return CHANGED if is_changed else digest
