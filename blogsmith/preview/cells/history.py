"""What is remembered of sessions that have run, so that nothing runs twice for the same reason.

A session that failed, was stopped, or keeps no result (`freeze: false`) stays stale, and would run again with
every change of the site. It waits for another code or other inputs instead. Where cells write what other
cells read, the inputs change by themselves: that counts a few times and no more, until the author changes
something.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ...base.diagnostics.model import Diagnostic, Reporter
from ...base.storage.stamps import stamp_at
from ...cells.status import PageStatus
from ...execute.session.diagnostics import run_problems
from ...execute.session.jobs import SessionJob
from ...freeze.environment import Environment, FileDigests
from ...freeze.keys import session_keys
from ...freeze.store import read_page
from ...model.cells import Cell, PageCells
from ...model.results import SessionRun
from .dependencies import Digests, declared_inputs, digests_of
from .planner import Key, PlannedPage, same_work

MOST_AGAIN = 2
"""Times that a session runs anew for inputs that changed while cells ran."""
_MOST_SPELLS = 64
Answer = Literal["run", "later", "no"]
"""Now; when nothing else runs; not for this code and these inputs."""


@dataclass(slots=True)
class SessionHistory:
    """How a session ended last."""

    job: SessionJob
    state: Literal["recorded", "failed", "stopped"]
    inputs: Digests
    """What it was made from besides its code."""
    run: SessionRun | None = None
    """Of one that failed."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """In place of a run."""
    lacked: tuple[Path, ...] = ()
    """Files that it looked for and did not find."""
    loops: tuple[str, ...] = ()
    """Files that change again and again when cells run."""

    @property
    def has_problems(self) -> bool:
        """Whether there is anything wrong with it."""
        return bool(self.run or self.diagnostics or self.loops)


@dataclass(slots=True)
class RunHistory:
    """Of one preview; used by one thread."""

    root: Path
    _past: dict[Key, SessionHistory] = field(default_factory=dict)
    _again: dict[Key, int] = field(default_factory=dict)
    _own: dict[Key, set[str]] = field(default_factory=dict)
    """Files that a session reads and then writes itself."""
    _spells: list[tuple[int, int]] = field(default_factory=list)
    """From when to when a session ran, by the system's clock."""
    open_spells: tuple[int, ...] = ()
    """Since when those run that have not ended."""

    def paths(self) -> set[str]:
        """Source paths of pages that something is to be said of, if their code is still the same."""
        return {path for (path, _), past in self._past.items() if past.has_problems}

    def keep(self, key: Key, past: SessionHistory) -> None:
        """A session has ended."""
        self._past[key] = past

    def add_interval(self, began_ns: int, ended_ns: int) -> None:
        """What was written in this time may have been written by cells."""
        self._spells = [*self._spells[1 - _MOST_SPELLS :], (began_ns, ended_ns)]

    def settings_changed(self) -> None:
        """What could not run for reasons outside of its session may run now."""
        for key in [key for key, past in self._past.items() if past.diagnostics]:
            del self._past[key]

    def forget(self, path: str) -> None:
        """Everything about a page."""
        for known in (self._past, self._again, self._own):
            for key in [key for key in known if key[0] == path]:
                del known[key]

    def may_repeat(self, key: Key) -> bool:
        """Whether a session may run once more for inputs that change while cells run; counts it."""
        self._again[key] = self._again.get(key, 0) + 1
        return self._again[key] <= MOST_AGAIN

    def own_files(self, key: Key) -> set[str]:
        """Files whose changes while a session runs are its own."""
        return self._own.setdefault(key, set())

    def is_due(self, page: PlannedPage, session: str, files: FileDigests, around: Environment) -> Answer:
        """Whether a session that is stale is to run."""
        key, job = (page.path, session), page.jobs[session]
        past = self._past.get(key)
        if past is None:
            return "run"
        cells = page.wanted.page.cells
        changed = self._changed_files(past, cells, files)
        if not same_work(past.job, job) or any(file.exists() for file in past.lacked):
            return self._reset(key)
        if past.state == "recorded" and not _is_recorded(self.root, cells, session, around):
            return self._reset(key)
        if not changed:
            return "no"
        if not self._is_of_cells(changed):
            return self._reset(key)
        if not self.may_repeat(key):
            past.loops = tuple(sorted(changed))
            return "no"
        return "later" if self._again[key] == MOST_AGAIN else "run"

    def diagnostics(self, page: PlannedPage) -> tuple[Diagnostic, ...]:
        """What is still wrong with the sessions of a page, at its present lines."""
        found: list[Diagnostic] = []
        for session, job in page.jobs.items():
            past = self._past.get((page.path, session))
            if past and past.has_problems and same_work(past.job, job):
                found += _history_diagnostics(past, page.wanted.page, session)
        return tuple(found)

    def _reset(self, key: Key) -> Answer:
        """The author has changed something: what was counted so far is over."""
        self._again.clear()
        self._past.pop(key, None)
        for past in self._past.values():
            past.loops = ()
        return "run"

    def _changed_files(self, past: SessionHistory, cells: PageCells, files: FileDigests) -> set[str]:
        declared = declared_inputs(cells, past.job.session, files)
        now = digests_of({*past.inputs, *declared}, files)
        return {path for path in now if now[path] != past.inputs.get(path)}

    def _is_of_cells(self, paths: Iterable[str]) -> bool:
        """Whether files were all written while cells ran."""
        return all(self._was_written_by_cells(self.root / path) for path in paths)

    def _was_written_by_cells(self, file: Path) -> bool:
        stamp = stamp_at(file)
        if stamp is None:
            return False
        at = stamp.modified_ns
        ended = any(began <= at <= end for began, end in self._spells)
        return ended or any(began <= at for began in self.open_spells)


def _is_recorded(root: Path, page: PageCells, session: str, around: Environment) -> bool:
    """Whether the record on disk is of the present code."""
    record = read_page(root, page.path).record
    known = record.sessions.get(session) if record else None
    if known is None:
        return False
    keys = session_keys(page, session, around.environment, around.figures, known.form)
    return {cell.key for cell in known.cells} >= _certain(page, session, keys.cells)


def _certain(page: PageCells, session: str, keys: tuple[str, ...]) -> set[str]:
    """The keys of cells that run on any machine."""
    cells = page.session_cells(session)
    return {key for cell, key in zip(cells, keys, strict=True) if not cell.options.needs}


def _history_diagnostics(past: SessionHistory, page: PageStatus, session: str) -> list[Diagnostic]:
    found = list(past.diagnostics)
    if past.run is not None:
        found += run_problems(page.cells, past.run, page.lines)
    if past.loops:
        reporter = Reporter(str(page.cells.path), page.lines)
        first: Cell | None = next(iter(page.cells.session_cells(session)), None)
        message = f"the session {session} is stale whenever cells have run: they write {past.loops[0]}"
        hint = "let one cell write the file and others read it, or run the page again when all is done"
        reporter.warn("cell-stale", message, first.place if first else None, hint)
        found += reporter.diagnostics
    return found
