"""Record of sessions that have run, so that no session runs twice for the same reason.

A session that failed, was stopped, or stores no result (`freeze: false`) stays stale, and would run again
after every change of the site. Instead, it waits until its code or inputs change. If cells write files that
other cells read, inputs change without the author. This causes only a few more runs, until the author changes
something.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ...base.diagnostics.model import Diagnostic, Reporter
from ...base.patterns import lazy_pattern
from ...base.storage.stamps import FileStamp, read_stamp
from ...cells.status import PageStatus
from ...execute.session.diagnostics import session_errors
from ...execute.session.jobs import SessionJob
from ...freeze.environment import Environment, FileDigests
from ...freeze.keys import session_keys
from ...freeze.record import SessionRecord, module_files
from ...freeze.store import read_page
from ...model.cells import Cell, PageCells
from ...model.results import CellRun, Failure, SessionRun
from .planner import Key, PlannedPage, same_work

Digests = Mapping[str, str | None]
"""Path relative to the site root → SHA-256 in hex; None if the file does not exist."""
_NO_FILE = frozenset({"FileNotFoundError", "NotADirectoryError"})
_NO_MODULE = frozenset({"ModuleNotFoundError", "ImportError"})
_FILE = lazy_pattern(r"'([^'\n]+)'")
_MODULE = lazy_pattern(r"No module named '([\w.]+)'")


def recorded_inputs(page: PageStatus, session: str) -> set[str]:
    """Return the files that the recorded run of a session read or imported. Add missing files that a new run
    would import instead of one of these modules."""
    name = page.verdict.recorded.get(session, session)
    record = page.record.sessions.get(name) if page.record else None
    if record is None:
        return set()
    runs: tuple[SessionRecord | CellRun, ...] = (record, *(cell.run for cell in record.cells))
    hiding = {path for run in runs for stem in run.absent for path in module_files(stem)}
    return {path for run in runs for path in (*run.reads, *run.modules)} | hiding


def declared_inputs(page: PageCells, session: str, files: FileDigests) -> set[str]:
    """Return the files that match the patterns under `depends`, in the front matter of a page and in the
    cells of one session."""
    cells = page.session_cells(session)
    patterns = (*page.depends, *(pattern for cell in cells for pattern in cell.options.depends))
    return {path for pattern in patterns for path in files.matches(pattern, page.path)}


def read_digests(paths: Iterable[str], files: FileDigests) -> dict[str, str | None]:
    """Return the digest of each file as it is now; None for a missing file."""
    return {path: files.digest(path) for path in paths}


def run_inputs(run: SessionRun) -> dict[str, str | None]:
    """Return the digests, at the end of a run, of the files that the run read or imported. Add missing files
    that a new run would import instead of one of these modules, with None as digest."""
    found: dict[str, str | None] = {}
    for part in _parts(run):
        found |= dict.fromkeys(path for stem in part.absent for path in module_files(stem))
        found |= {**part.reads, **part.modules}
    return found


def run_modules(run: SessionRun) -> set[str]:
    """Return the paths of the site's modules that a run imported. Because they are code, no run overwrites
    them."""
    return {path for part in _parts(run) for path in part.modules}


def _parts(run: SessionRun) -> tuple[SessionRun | CellRun, ...]:
    return run, *run.cells


def missing_files(run: SessionRun, job: SessionJob) -> tuple[Path, ...]:
    """Return the missing files that made a run fail, with one path for each folder where the run searched for
    them."""
    found: list[Path] = []
    runs = (one for cell in run.cells for one in (*cell.others.values(), cell))
    failures = (output for one in runs for output in one.outputs if isinstance(output, Failure))
    for failure in failures:
        if failure.name in _NO_FILE and (named := _FILE.search(failure.message)):
            found.append(job.folder / named[1])
        elif failure.name in _NO_MODULE and (module := _MODULE.search(failure.message)):
            path = module[1].replace(".", "/")
            for folder in (job.folder, job.root):
                found += [folder / f"{path}.py", folder / path]
    return tuple(file for file in found if not file.exists())


def read_stamps(paths: Iterable[str], root: Path) -> dict[str, FileStamp | None]:
    """Return the stamp of each file; None for a missing file. A stamp changes with the file, and is found
    without reading the file."""
    return {path: read_stamp(root / path) for path in paths}


def files_written_since(paths: Iterable[str], root: Path, since_ns: int) -> set[str]:
    """Return the files that were written at or after `since_ns`, in nanoseconds of the system clock."""
    return {
        path for path, stamp in read_stamps(paths, root).items() if stamp and stamp.modified_ns >= since_ns
    }


MAX_REPEATS = 2
"""Maximum number of further runs of a session because its inputs changed while cells ran."""
_MAX_INTERVALS = 64
Answer = Literal["run", "later", "no"]
"""Whether a stale session should run. `run`: now. `later`: when nothing else runs. `no`: not until its code
or inputs change."""


@dataclass(slots=True)
class SessionHistory:
    """Result of the last run of a session."""

    job: SessionJob
    state: Literal["recorded", "failed", "stopped"]
    inputs: Digests
    """Digests of all inputs of the session except its code."""
    run: SessionRun | None = None
    """Result of the run if it failed; otherwise None."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Errors that prevented a run."""
    missing_files: tuple[Path, ...] = ()
    """Files that the run searched for and did not find."""
    loops: tuple[str, ...] = ()
    """Files that changed in every run of cells. A change of one of them no longer starts the session."""

    @property
    def has_problems(self) -> bool:
        """Whether there are errors or warnings to report."""
        return bool(self.run or self.diagnostics or self.loops)


@dataclass(slots=True)
class RunHistory:
    """Record of all sessions of one preview; used by one thread."""

    root: Path
    _past: dict[Key, SessionHistory] = field(default_factory=dict)
    _repeat_counts: dict[Key, int] = field(default_factory=dict)
    _output_files: dict[Key, set[str]] = field(default_factory=dict)
    """Session → files that the session both reads and writes."""
    _intervals: list[tuple[int, int]] = field(default_factory=list)
    """Start and end times of finished sessions, in nanoseconds of the system clock."""
    running_since_ns: tuple[int, ...] = ()
    """Start times of the running sessions, in nanoseconds of the system clock."""

    def paths(self) -> set[str]:
        """Return the source paths of pages with diagnostics that remain valid while the code is unchanged."""
        return {path for (path, _), past in self._past.items() if past.has_problems}

    def keep(self, key: Key, past: SessionHistory) -> None:
        """Store the result of a session."""
        self._past[key] = past

    def add_interval(self, began_ns: int, ended_ns: int) -> None:
        """Record the time of a run. Cells may have written the files that were written in this time."""
        self._intervals = [*self._intervals[1 - _MAX_INTERVALS :], (began_ns, ended_ns)]

    def settings_changed(self) -> None:
        """Drop the results of sessions that could not run because of errors outside the session, so that the
        sessions are tried again."""
        for key in [key for key, past in self._past.items() if past.diagnostics]:
            del self._past[key]

    def forget(self, path: str) -> None:
        """Drop all records of a page."""
        for known in (self._past, self._repeat_counts, self._output_files):
            for key in [key for key in known if key[0] == path]:
                del known[key]

    def may_repeat(self, key: Key) -> bool:
        """Count one more run of a session because inputs changed while cells ran. Return whether that run is
        allowed."""
        self._repeat_counts[key] = self._repeat_counts.get(key, 0) + 1
        return self._repeat_counts[key] <= MAX_REPEATS

    def own_files(self, key: Key) -> set[str]:
        """Return the files that the session itself changes while it runs. Callers add to this set."""
        return self._output_files.setdefault(key, set())

    def is_due(self, page: PlannedPage, session: str, files: FileDigests, around: Environment) -> Answer:
        """Return whether and when a stale session should run. around: environment to compare with the
        dependencies of the session."""
        key, job = (page.path, session), page.jobs[session]
        past = self._past.get(key)
        if past is None:
            return "run"
        cells = page.wanted.page.cells
        changed = self._changed_files(past, cells, files)
        if not same_work(past.job, job) or any(file.exists() for file in past.missing_files):
            return self._reset(key)
        if past.state == "recorded" and not _is_recorded(self.root, cells, session, around):
            return self._reset(key)
        if not changed:
            return "no"
        if not all(self._was_written_by_cells(self.root / path) for path in changed):
            return self._reset(key)
        if not self.may_repeat(key):
            past.loops = tuple(sorted(changed))
            return "no"
        return "later" if self._repeat_counts[key] == MAX_REPEATS else "run"

    def diagnostics(self, page: PlannedPage) -> tuple[Diagnostic, ...]:
        """Return the current diagnostics about the sessions of a page, with current line numbers."""
        found: list[Diagnostic] = []
        for session, job in page.jobs.items():
            past = self._past.get((page.path, session))
            if past and past.has_problems and same_work(past.job, job):
                found += _history_diagnostics(past, page.wanted.page, session)
        return tuple(found)

    def _reset(self, key: Key) -> Answer:
        """Reset all counters, because the author has changed something."""
        self._repeat_counts.clear()
        self._past.pop(key, None)
        for past in self._past.values():
            past.loops = ()
        return "run"

    def _changed_files(self, past: SessionHistory, cells: PageCells, files: FileDigests) -> set[str]:
        declared = declared_inputs(cells, past.job.session, files)
        now = read_digests({*past.inputs, *declared}, files)
        return {path for path in now if now[path] != past.inputs.get(path)}

    def _was_written_by_cells(self, file: Path) -> bool:
        stamp = read_stamp(file)
        if stamp is None:
            return False
        at = stamp.modified_ns
        ended = any(began <= at <= end for began, end in self._intervals)
        return ended or any(began <= at for began in self.running_since_ns)


def _is_recorded(root: Path, page: PageCells, session: str, around: Environment) -> bool:
    """Return whether the recorded result on disk is that of the session's current code."""
    record = read_page(root, page.path).record
    known = record.sessions.get(session) if record else None
    if known is None:
        return False
    keys = session_keys(page, session, around.environment, around.figures, known.form)
    return {cell.key for cell in known.cells} >= _certain(page, session, keys.cells)


def _certain(page: PageCells, session: str, keys: tuple[str, ...]) -> set[str]:
    """Return the keys of cells without `needs`, which can run on any machine."""
    cells = page.session_cells(session)
    return {key for cell, key in zip(cells, keys, strict=True) if not cell.options.needs}


def _history_diagnostics(past: SessionHistory, page: PageStatus, session: str) -> list[Diagnostic]:
    found = list(past.diagnostics)
    if past.run is not None:
        found += session_errors(page.cells, past.run, page.lines)
    if past.loops:
        reporter = Reporter(str(page.cells.path), page.lines)
        first: Cell | None = next(iter(page.cells.session_cells(session)), None)
        message = f'session "{session}" is stale after every run: "{past.loops[0]}" changes while cells run'
        hint = (
            "write the file in one cell and read it in others, or run the page again when all cells have run"
        )
        reporter.warn("cell-stale", message, first.place if first else None, hint)
        found += reporter.diagnostics
    return found
