"""Files that a session used, each with the first cell that used it.

Digests are computed when the session has ended. A file that has changed since it was opened has no valid
digest, because the content that was read is gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from ...base.storage.path_states import (
    CHANGED,
    NONE,
    OWN_NAMES,
    STATE,
    STATE_KEY,
    is_outside,
    key_path,
    read_state,
)
from ...base.storage.stamps import file_digest, read_stamp
from ...model.results import CHANGED_DIGEST, REASON, SessionRun, Uses
from .protocol import Frame

_LATER, _WITHDRAWN, _UNSURE = "", "-", "?"
"""Values that the worker sends instead of a state, see `worker/path_states.py`."""
_MODULE_ENDS = (".py", "/__init__.py")


@dataclass(slots=True)
class CellFiles:
    """Files that were first used by one cell, or by values between this cell and the next one that ran."""

    reads: list[str] = field(default_factory=list)
    """Paths of files that were read, relative to the site root. The next two fields contain paths in the same
    form."""
    modules: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    states: set[str] = field(default_factory=set)
    """Keys of paths whose state matters."""
    named: dict[str, list[object]] = field(default_factory=dict)
    """File that the code names → `named`, `argument` or `database`, followed by the stamp of the file."""
    variables: set[str] = field(default_factory=set)
    reasons: set[str] = field(default_factory=set)

    def note(self, frame: Frame) -> None:
        self.reads += frame.get("reads") or ()
        self.modules += frame.get("modules") or ()
        self.absent += frame.get("absent") or ()
        uses = frame.get("uses") or {}
        self.named |= {
            name: found for name, found in (uses.get("named") or {}).items() if name not in self.named
        }
        self.variables.update(uses.get("variables") or ())
        self.reasons.update(reason for reason in uses.get("reasons") or () if re.fullmatch(REASON, reason))


@dataclass(slots=True)
class UsedFiles:
    """Files used by a running session."""

    root: Path
    _first: CellFiles = field(default_factory=CellFiles)
    """Files that were used by values before any cell ran."""
    _cells: dict[int, CellFiles] = field(default_factory=dict)
    """1-based position of a cell that ran → files that were first used by this cell."""
    _stamps: dict[str, list[int]] = field(default_factory=dict)
    """File → its size, time of the last write in ns and inode when it was opened. A file that the session
    itself may have changed has no entry."""

    _states: dict[str, str] = field(default_factory=dict)
    """Key of a path → its state as the worker sent it."""
    _is_known: bool = False
    """Whether the worker reports the files that it uses. Jupyter kernels never report them."""
    ignored: frozenset[str] = OWN_NAMES
    """Names in the site root that results do not depend on."""

    def copy(self) -> UsedFiles:
        return deepcopy(self)

    def is_hidden(self) -> bool:
        """Return whether a file that was created meanwhile hides a module that the session imported."""
        stems = {stem for used in (self._first, *self._cells.values()) for stem in used.absent}
        return any((self.root / f"{stem}{end}").exists() for stem in stems for end in _MODULE_ENDS)

    @property
    def reasons(self) -> set[str]:
        """Reasons why the results so far are not repeatable, as in `Uses.reasons`."""
        return self._first.reasons.union(*(cell.reasons for cell in self._cells.values()))

    def begin_cell(self, position: int) -> None:
        """Start the list of files of a cell that runs. Do not call this for skipped cells."""
        self._cells[position] = CellFiles()

    def note(self, frame: Frame | None) -> None:
        """Add the files that an answer reports to the last cell that ran."""
        last = max(self._cells, default=0)
        cell = self._cells[last] if last else self._first
        cell.note(frame or {})
        uses = (frame or {}).get("uses")
        self._is_known = self._is_known or uses is not None
        for key, state in ((uses or {}).get("states") or {}).items():
            if key not in self._states:
                cell.states.add(key)
            self._states[key] = state
        for path, stamp in ((frame or {}).get("stamps") or {}).items():
            if stamp is None:
                self._stamps.pop(path, None)
            else:
                self._stamps[path] = stamp

    def current_states(self) -> dict[str, str] | None:
        """Return the present state of each path that was queried, listed or named, by key. None if one of
        them differs from the state that the session found. Files that Python has opened are not included,
        because a checkpoint compares these itself."""
        found = {}
        for used in (self._first, *self._cells.values()):
            for key in used.states:
                sent = self._states[key]
                if sent == _WITHDRAWN:
                    continue
                now = read_state(self.root, key, sent.removeprefix(_UNSURE), self.ignored)
                if self._final_state(key) not in ("", now):
                    return None
                found[key] = now
            found |= {f"{name}\0": str(read_stamp(Path(key_path(self.root, name)))) for name in used.named}
        return found

    def complete_run(self, run: SessionRun) -> SessionRun:
        """Return `run` with all files and their digests. Files that the session removed are left out."""
        digests: dict[str, str] = {}
        cells = [
            replace(cell, **self._fields(self._cells.get(position, CellFiles()), digests))
            for position, cell in enumerate(run.cells, 1)
        ]
        return replace(run, cells=tuple(cells), **self._fields(self._first, digests))

    def _fields(self, used: CellFiles, digests: dict[str, str]) -> Mapping[str, object]:
        reads = [
            *used.reads,
            *(name for name in used.named if not is_outside(name) and self._is_same(used, name)),
        ]
        known = {*self._first.reads, *(path for cell in self._cells.values() for path in cell.reads)}
        reads = [path for path in reads if path in used.reads or path not in known]
        return {
            "reads": self._with_digests(dict.fromkeys(reads), digests),
            "modules": self._with_digests(used.modules, digests),
            "absent": tuple(sorted(set(used.absent))),
            "uses": self._uses(used) if self._is_known else None,
        }

    def _is_same(self, used: CellFiles, name: str) -> bool:
        """Return whether a named file is the same as before the cell. If so, the session did not write it."""
        now = read_stamp(self.root / name)
        return now is not None and [now.size, now.modified_ns, now.inode] == used.named[name][1:]

    def _uses(self, used: CellFiles) -> Uses:
        states = {key: self._final_state(key) for key in sorted(used.states)}
        reasons = used.reasons | {
            f"database {name.rpartition('/')[2]}"[:90]
            for name, found in used.named.items()
            if found[0] == "database" and found[1] and not self._is_same(used, name)
        }
        return Uses(
            states={
                key: state
                for key, state in states.items()
                if re.fullmatch(STATE, state) and re.match(STATE_KEY, key)
            },
            variables=dict.fromkeys(sorted(used.variables), ""),
            reasons=tuple(sorted(reasons)),
        )

    def _final_state(self, key: str) -> str:
        """Return the state of a path to record; empty if the session itself has changed the path."""
        sent = self._states[key]
        if sent == _WITHDRAWN:
            return ""
        seen = sent.removeprefix(_UNSURE)
        now = read_state(self.root, key, seen, self.ignored)
        if sent == _LATER:
            return "" if is_outside(key) and now == NONE else now
        is_same = now == seen
        if seen.startswith("names "):
            is_same = seen == f"names {_modified_ns(key_path(self.root, key))}"
        if sent.startswith(_UNSURE):
            # another program may have changed it for the cell; names in a folder are recorded anyway
            return now if is_same or seen.startswith("names ") else ""
        return now if is_same else (CHANGED if seen.startswith("names ") else seen)

    def _with_digests(self, paths: Iterable[str], digests: dict[str, str]) -> dict[str, str]:
        for path in paths:
            if path not in digests:
                digests[path] = self._digest_as_read(path)
        return {path: digests[path] for path in sorted(paths) if digests[path]}

    def _digest_as_read(self, path: str) -> str:
        digest, then = file_digest(self.root / path), self._stamps.get(path)
        # Check again after computing the digest, so that a save in the meantime is noticed.
        now = read_stamp(self.root / path) if then else None
        is_changed = then and (now is None or [now.size, now.modified_ns, now.inode] != then)
        return CHANGED_DIGEST if is_changed else digest


def _modified_ns(folder: str) -> str:
    """Return the time of the last change of a folder in ns; empty if it does not exist."""
    try:
        return str(Path(folder).stat().st_mtime_ns)
    except (OSError, ValueError):
        return ""
