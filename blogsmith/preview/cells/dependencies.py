"""Files that the results of sessions depend on, and their current state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from ...base.patterns import lazy_pattern
from ...base.storage.stamps import FileStamp, read_stamp
from ...cells.status import PageStatus
from ...execute.session.jobs import SessionJob
from ...freeze.environment import FileDigests
from ...freeze.record import SessionRecord, module_files
from ...model.cells import PageCells
from ...model.results import CellRun, Failure, SessionRun

Digests = Mapping[str, str | None]
"""Path relative to the site root → SHA-256 in hex; None: the file does not exist."""
_NO_FILE = frozenset({"FileNotFoundError", "NotADirectoryError"})
_NO_MODULE = frozenset({"ModuleNotFoundError", "ImportError"})
_FILE = lazy_pattern(r"'([^'\n]+)'")
_MODULE = lazy_pattern(r"No module named '([\w.]+)'")


def recorded_inputs(page: PageStatus, session: str) -> set[str]:
    """Return the files that the recorded run of a session read or imported, and missing files that would hide
    modules it imported."""
    name = page.verdict.recorded.get(session, session)
    record = page.record.sessions.get(name) if page.record else None
    if record is None:
        return set()
    runs: tuple[SessionRecord | CellRun, ...] = (record, *(cell.run for cell in record.cells))
    hiding = {path for run in runs for stem in run.absent for path in module_files(stem)}
    return {path for run in runs for path in (*run.reads, *run.modules)} | hiding


def declared_inputs(page: PageCells, session: str, files: FileDigests) -> set[str]:
    """Return the files that match `depends` of a page and of the cells of a session."""
    cells = page.session_cells(session)
    patterns = (*page.depends, *(pattern for cell in cells for pattern in cell.options.depends))
    return {path for pattern in patterns for path in files.matches(pattern, page.path)}


def read_digests(paths: Iterable[str], files: FileDigests) -> dict[str, str | None]:
    """Return the digests of the files as they are now."""
    return {path: files.digest(path) for path in paths}


def run_inputs(run: SessionRun) -> dict[str, str | None]:
    """Return the digests that files had at the end of a run: those it read or imported, and missing files
    that would hide its modules."""
    found: dict[str, str | None] = {}
    for part in _parts(run):
        found |= dict.fromkeys(path for stem in part.absent for path in module_files(stem))
        found |= {**part.reads, **part.modules}
    return found


def run_modules(run: SessionRun) -> set[str]:
    """Return the modules of the site that a run imported. They are code, so no run rewrites them."""
    return {path for part in _parts(run) for path in part.modules}


def _parts(run: SessionRun) -> tuple[SessionRun | CellRun, ...]:
    return run, *run.cells


def missing_files(run: SessionRun, job: SessionJob) -> tuple[Path, ...]:
    """Return the files that a run failed to find, at the locations that it searched."""
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
    """Return stamps of files, to detect changes without reading; None: the file does not exist."""
    return {path: read_stamp(root / path) for path in paths}


def files_written_since(paths: Iterable[str], root: Path, since_ns: int) -> set[str]:
    """Return the files that were written at or after a time of the system clock."""
    return {
        path for path, stamp in read_stamps(paths, root).items() if stamp and stamp.modified_ns >= since_ns
    }
