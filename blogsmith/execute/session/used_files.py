"""Files that a session used, each with the first cell that used it.

Digests are computed when the session has ended. A file that has changed since it was opened has no valid
digest, because the content that was read is gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from ...base.storage.stamps import file_digest, read_stamp
from ...model.results import CHANGED_DIGEST, SessionRun
from .protocol import Frame

_MODULE_ENDS = (".py", "/__init__.py")


@dataclass(slots=True)
class CellFiles:
    """Files first used by one cell, or by values between it and the next cell that ran."""

    reads: list[str] = field(default_factory=list)
    """Paths relative to the site root, as in the next two fields."""
    modules: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)

    def note(self, frame: Frame) -> None:
        """Add the files in an answer of the worker."""
        self.reads += frame.get("reads") or ()
        self.modules += frame.get("modules") or ()
        self.absent += frame.get("absent") or ()


@dataclass(slots=True)
class UsedFiles:
    """Files used by a running session."""

    root: Path
    _first: CellFiles = field(default_factory=CellFiles)
    """Files that values used before any cell ran."""
    _cells: dict[int, CellFiles] = field(default_factory=dict)
    """Position of a cell that ran, from 1 → its files."""
    _stamps: dict[str, list[int]] = field(default_factory=dict)
    """File → size, time of the last write in ns, and inode when it was opened. A file that the session itself
    may have changed has no entry."""

    def copy(self) -> UsedFiles:
        """Return a copy of the current state."""
        return deepcopy(self)

    def is_hidden(self) -> bool:
        """Return whether a new module hides one that was imported."""
        stems = {stem for used in (self._first, *self._cells.values()) for stem in used.absent}
        return any((self.root / f"{stem}{end}").exists() for stem in stems for end in _MODULE_ENDS)

    def begin_cell(self, position: int) -> None:
        """Start a cell. Skipped cells are not started: nothing of them is recorded."""
        self._cells[position] = CellFiles()

    def note(self, frame: Frame | None) -> None:
        """Add the files in an answer to the last cell that ran."""
        last = max(self._cells, default=0)
        (self._cells[last] if last else self._first).note(frame or {})
        for path, stamp in ((frame or {}).get("stamps") or {}).items():
            if stamp is None:
                self._stamps.pop(path, None)
            else:
                self._stamps[path] = stamp

    def complete_run(self, run: SessionRun) -> SessionRun:
        """Return `run` with all files and their digests. Files that the session removed are left out."""
        digests: dict[str, str] = {}
        cells = [
            replace(cell, **self._fields(self._cells.get(position, CellFiles()), digests))
            for position, cell in enumerate(run.cells, 1)
        ]
        return replace(run, cells=tuple(cells), **self._fields(self._first, digests))

    def _fields(self, used: CellFiles, digests: dict[str, str]) -> Mapping[str, object]:
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
        # Check after computing the digest, so that a save in the meantime is noticed.
        now = read_stamp(self.root / path) if then else None
        is_changed = then and (now is None or [now.size, now.modified_ns, now.inode] != then)
        return CHANGED_DIGEST if is_changed else digest
