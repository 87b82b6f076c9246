"""Needs of sessions, and the handling of cells whose needs this machine does not meet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..base.diagnostics.model import Diagnostic
from ..execute.engines import choose_engine
from ..execute.probe.requirements import needs_any, unmatched_needs_errors, unmet_reason
from ..execute.session.diagnostics import missing_need_error
from ..execute.session.jobs import ExecutionSetting, SessionJob, session_job
from ..model.cells import Cell, Need
from ..model.sweeps import ALL_SWEEPS
from ..project.report import ExecutionOptions
from .status import PageStatus


def required_needs(pages: Sequence[PageStatus], asked: ExecutionOptions) -> tuple[Need, ...]:
    """Return the needs of sessions that may have to run. Others are left out, because checking a need can
    take seconds.

    Needs of cells with a valid result are included: these cells run again together with their session.
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
    """Return the names of the page's sessions that must and can run.

    With `--needs`, a session is included only if it has a runnable cell with one of those needs. A damaged
    record is replaced only on request: its results may come from a machine that is not here.
    """
    if page.damage and not asked.execute:
        return ()
    names = page.cells.sessions() if asked.execute == "all" else page.verdict.stale_sessions(unmet)
    return tuple(name for name in names if _can_run(page.cells.session_cells(name), asked.needs, unmet))


def _can_run(cells: Sequence[Cell], names: Sequence[str], unmet: Mapping[Need, str]) -> bool:
    """Return whether a session has a cell that can run here. names: names given by `--needs`; empty for all
    cells. A session that contains only values has no needs."""
    meant = [cell for cell in cells if needs_any(cell, names)] if names else cells
    return any(not unmet_reason(cell, unmet) for cell in meant) or not (cells or names)


def skip_reasons(page: PageStatus, session: str, unmet: Mapping[Need, str]) -> dict[int, str]:
    """Map the number of each cell that cannot run here to the reason, as a message."""
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
    run the whole session, even if results are recorded."""
    why = skip_reasons(page, session, unmet)
    sweeps = ALL_SWEEPS if is_whole else page.verdict.sweep_runs(session)
    return session_job(
        page.cells, session, setting, why, engine=choose_engine(page.cells, session), sweeps=sweeps
    )


def missing_requirements(
    pages: Sequence[PageStatus], asked: ExecutionOptions, unmet: Mapping[Need, str]
) -> list[Diagnostic]:
    """Return errors for cells that cannot run here.

    This is one error if no cell with a need named by `--needs` can run. Otherwise, it is one for each cell
    that has no result to show.
    """
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
