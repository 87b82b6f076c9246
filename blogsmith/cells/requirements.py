"""Needs of sessions, which are engines, versions of packages, and hardware. If this machine does not meet the
needs of a cell, the cell is skipped or reported."""

from __future__ import annotations

import platform
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from ..base.diagnostics.extras import DISTRIBUTION
from ..base.diagnostics.model import Diagnostic, Reporter
from ..base.patterns import lazy_pattern
from ..execute.kernel.session import KernelEngine
from ..execute.probe.requirements import has_device, needs_any, unmatched_needs_errors, unmet_reason
from ..execute.session.diagnostics import missing_need_error
from ..execute.session.engine import WORKER, DrawingEngine, Engine, ProgramEngine
from ..execute.session.jobs import ExecutionSetting, SessionJob, session_job
from ..freeze.staleness import needed_names, version_changes
from ..model.cells import Cell, Need, PageCells
from ..model.sweeps import ALL_SWEEPS
from ..project.report import ExecutionOptions
from .status import PageStatus

_VERSION = lazy_pattern(r"^Version: *(\S+)", re.MULTILINE)


def recorded_packages(pages: Iterable[PageStatus]) -> frozenset[str]:
    """Return the import names of all packages that recorded cells used or needed. `cuda` is included if a
    cell needed it."""
    sessions = [s for page in pages if page.record for s in page.record.sessions.values()]
    used = {name for session in sessions for name in session.origin.machine.packages}
    return frozenset(used.union(*(needed_names(cell) for session in sessions for cell in session.cells)))


def device_versions(names: Iterable[str]) -> Mapping[str, str]:
    """Return `cuda` → empty version if `names` contains `cuda` and there is a device; otherwise an empty map.
    Results do not depend on the version of CUDA."""
    return {"cuda": ""} if "cuda" in names and has_device() else {}


def installed_versions(names: Collection[str]) -> Mapping[str, str]:
    """Return import name → version of packages in the Python that runs blogsmith. The packages are not
    imported.

    Packages that are not installed are left out. Only a distribution with the import name is found, because
    mapping all import names to distributions takes longer than a build.
    """
    from importlib import metadata  # slow, and few builds need versions

    found = {"python": platform.python_version()}
    for name in names:
        try:
            ours = DISTRIBUTION if name == "blogsmith" else name
            text = metadata.distribution(ours).read_text("METADATA") or ""
        except metadata.PackageNotFoundError:
            continue
        # `metadata.version` parses the whole file as an e-mail, which takes longer than judging a page.
        version = _VERSION.search(text)
        if version:
            found[name] = version[1]
    return {**found, **device_versions(names)}


def version_notes(page: PageStatus, versions: Mapping[str, str]) -> tuple[str, ...]:
    """Return a message for every package whose recorded and installed versions differ. For a Jupyter kernel,
    return no messages, because its packages are unknown until it runs."""
    if page.record is None or page.cells.engine == "jupyter":
        return ()
    return tuple(map(str, version_changes(page.record, versions)))


def version_warning(page: PageStatus, versions: Mapping[str, str]) -> list[Diagnostic]:
    """Return a warning if results were recorded with versions that may give other results. Its location is
    the first cell. Differences in the patch level are ignored; `--strict-env` and `freeze explain` report
    them."""
    if page.record is None or page.cells.engine == "jupyter":
        return []
    changed = [str(change) for change in version_changes(page.record, versions) if not change.is_patch]
    if not changed:
        return []
    reporter = Reporter(str(page.cells.path), page.lines)
    cells = [cell for cell in page.cells.cells if cell.is_run]
    place = cells[0].place if cells else page.cells.values[0].origin.place(0)
    hint = "run `blogsmith build --strict-env` to run the cells again"
    reporter.warn("cell-versions", f"recorded with other versions: {', '.join(changed)}", place, hint)
    return reporter.diagnostics


def choose_engine(page: PageCells, session: str) -> Engine:
    cells = page.session_cells(session)
    if cells and cells[0].is_drawing:
        return DrawingEngine(language=cells[0].language, preamble=page.preamble)
    if cells and cells[0].is_program:
        return ProgramEngine(language=cells[0].language, flags=cells[0].options.flags)
    return KernelEngine(page.kernel) if page.engine == "jupyter" else WORKER


def required_needs(pages: Sequence[PageStatus], asked: ExecutionOptions) -> tuple[Need, ...]:
    """Return the needs of sessions that may have to run. Leave out the needs of other sessions, because
    checking a need can take seconds.

    Include the needs of cells with a valid result, because these cells run again if another cell of their
    session must run.
    """
    found = {
        need
        for page in pages
        for session in (page.cells.sessions() if asked.execute == "all" else page.verdict.stale_sessions())
        for cell in page.cells.session_cells(session)
        for need in cell.options.needs
    }
    return tuple(sorted(found, key=str))


def sessions_to_run(page: PageStatus, asked: ExecutionOptions, unmet: Mapping[Need, str]) -> tuple[str, ...]:
    """Return the names of the page's sessions that must run and can run here.

    With `--needs`, a session is included only if it has a runnable cell with one of those needs. If a record
    is damaged, its sessions are included only on request, because the results may come from a machine that is
    not available here.
    """
    if page.damage and not asked.execute:
        return ()
    names = page.cells.sessions() if asked.execute == "all" else page.verdict.stale_sessions(unmet)
    return tuple(name for name in names if _can_run(page.cells.session_cells(name), asked.needs, unmet))


def _can_run(cells: Sequence[Cell], names: Sequence[str], unmet: Mapping[Need, str]) -> bool:
    """Return whether a session has a cell that can run here. A session that contains only values has no
    needs and can run unless `names` is set. names: names given by `--needs`; empty for all cells."""
    meant = [cell for cell in cells if needs_any(cell, names)] if names else cells
    return any(not unmet_reason(cell, unmet) for cell in meant) or not (cells or names)


def skip_reasons(page: PageStatus, session: str, unmet: Mapping[Need, str]) -> dict[int, str]:
    """Return number of a cell → reason, as a message, for each cell that cannot run here."""
    why = {cell.number: unmet_reason(cell, unmet) for cell in page.cells.session_cells(session)}
    return {number: reason for number, reason in why.items() if reason}


def create_job(
    page: PageStatus,
    session: str,
    setting: ExecutionSetting,
    unmet: Mapping[Need, str],
    *,
    is_whole: bool = False,
) -> SessionJob:
    """Return the job of one session of a page, without the cells that cannot run here. is_whole: whether to
    run the whole session, including sweep points whose results are recorded."""
    why = skip_reasons(page, session, unmet)
    sweeps = ALL_SWEEPS if is_whole else page.verdict.sweep_runs(session)
    return session_job(
        page.cells, session, setting, why, engine=choose_engine(page.cells, session), sweeps=sweeps
    )


def missing_requirements(
    pages: Sequence[PageStatus], asked: ExecutionOptions, unmet: Mapping[Need, str]
) -> list[Diagnostic]:
    """Return errors for cells that cannot run here. If `--needs` is used and no cell with one of those needs
    can run, return a single error. Otherwise, return one error for each cell that has no result to show."""
    cells = [
        (cell, asked.execute == "all" or page.verdict.cells[cell.number].state != "fresh")
        for page in pages
        for cell in page.cells.cells
        if cell.is_run
    ]
    return unmatched_needs_errors(asked.needs, cells, unmet) or [
        diagnostic for page in pages for diagnostic in _missing_need_errors(page, asked.needs, unmet)
    ]


def _missing_need_errors(
    page: PageStatus, names: Sequence[str], unmet: Mapping[Need, str]
) -> Iterator[Diagnostic]:
    for cell in page.cells.cells:
        why = unmet_reason(cell, unmet)
        if not why or not cell.is_run or cell.options.fallback != "error":
            continue
        if page.verdict.cells[cell.number].state == "missing" and (not names or needs_any(cell, names)):
            yield missing_need_error(page.cells.path, cell, why, page.lines)
