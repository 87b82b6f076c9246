"""Running what is stale: which sessions, on which terms, and what becomes of their results."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from .cells import Cell, Need
from .errors import Diagnostic, Reporter, SiteError
from .execute.breaking_off import ending_in_order
from .execute.conversation import Watch, quiet
from .execute.environment import cores
from .execute.jobs import SessionJob, Setting, resolve_python, session_job, setting_of
from .execute.needs import unmet as unmet_needs
from .execute.pool import run_sessions
from .execute.problems import missing_need, run_problems
from .execute.working_folder import working_folder
from .freeze.record import PageRecord
from .freeze.recording import session_record
from .freeze.staleness import judge
from .freeze.store import write_page
from .freeze.surroundings import Surroundings
from .ledger import BuildOptions, ExecutionOptions, Ledger
from .load_config import CONFIG_NAME
from .runs import SessionRun
from .survey import Survey, SurveyedPage
from .workshop import Workshop


@dataclass(frozen=True, slots=True)
class Ran:
    """What running came to."""

    survey: Survey
    """With the new records, judged again."""
    cells: int = 0
    """That ran."""
    failed: frozenset[str] = frozenset()
    """Source paths of posts that did not end well, which is reported."""


def run_stale(surveyed: Survey, workshop: Workshop, options: BuildOptions, ledger: Ledger) -> Ran:
    """Run the sessions that are to be run, record what they give, and judge all pages again."""
    asked = options.execution
    chosen = [page for page in surveyed.pages if not page.wrong]
    if not any(asked.execute == "all" or page.verdict.stale_sessions() for page in chosen):
        return Ran(surveyed)
    with ending_in_order(), working_folder() as folder:
        setting = _setting(workshop, folder)
        unmet = _unmet(chosen, asked, setting)
        ledger.add(
            missing_need(page.cells.path, cell, _why(cell, unmet), page.lines)
            for page in chosen
            for cell in page.cells.cells
            if _is_lost(page, cell, unmet)
        )
        jobs = [
            (page, session_job(page.cells, session, setting, _skipped(page, session, unmet)))
            for page in chosen
            for session in _sessions(page, asked, unmet)
        ]
        with closing(_run(jobs, workshop, asked, ledger)) as runs:
            return _recorded(surveyed, jobs, runs, options, ledger)


def _setting(workshop: Workshop, folder: Path) -> Setting:
    """The site's settings; SiteError if its Python is not there."""
    config = workshop.config
    python = resolve_python(config.execution.python, workshop.root)
    if not shutil.which(python):
        place = workshop.settings.places.get(("execute", "python"))
        line = workshop.settings.lines[place.line - 1] if place else ""
        hint = "name the Python that has the packages of your posts, e.g. .venv/bin/python"
        message = f"there is no Python at {config.execution.python}"
        raise SiteError(Diagnostic("cell-start", message, CONFIG_NAME, place, line, hint))
    return setting_of(
        config.execution,
        workshop.root,
        os.environ,
        temporary=folder,
        exclude=(workshop.root / config.output,),
    )


def _unmet(pages: Sequence[SurveyedPage], asked: ExecutionOptions, setting: Setting) -> Mapping[Need, str]:
    """Only needs of what may have to run are looked at: asking torch for CUDA takes seconds."""
    needs = {
        need
        for page in pages
        for cell in page.cells.cells
        if cell.runs and (asked.execute == "all" or page.verdict.cells[cell.number].state != "fresh")
        for need in cell.options.needs
    }
    return unmet_needs(tuple(sorted(needs, key=str)), setting.python, setting.env) if needs else {}


def _sessions(page: SurveyedPage, asked: ExecutionOptions, unmet: Mapping[Need, str]) -> list[str]:
    names = page.cells.sessions() if asked.execute == "all" else page.verdict.stale_sessions(unmet)
    return [name for name in names if _can_run(page, name, unmet) and _is_asked(page, name, asked.needs)]


def _can_run(page: SurveyedPage, session: str, unmet: Mapping[Need, str]) -> bool:
    cells = page.cells.of_session(session)
    return not cells or any(not _why(cell, unmet) for cell in cells)


def _is_asked(page: SurveyedPage, session: str, names: Sequence[str]) -> bool:
    needed = {need.name for cell in page.cells.of_session(session) for need in cell.options.needs}
    return not names or not needed.isdisjoint(names)


def _skipped(page: SurveyedPage, session: str, unmet: Mapping[Need, str]) -> dict[int, str]:
    """Number of a cell → why it cannot run here."""
    why = {cell.number: _why(cell, unmet) for cell in page.cells.of_session(session)}
    return {number: reason for number, reason in why.items() if reason}


def _why(cell: Cell, unmet: Mapping[Need, str]) -> str:
    return "; ".join(unmet[need] for need in cell.options.needs if need in unmet)


def _is_lost(page: SurveyedPage, cell: Cell, unmet: Mapping[Need, str]) -> bool:
    """Whether there is nothing to show of a cell, here and from elsewhere."""
    missing = cell.runs and page.verdict.cells[cell.number].state == "missing"
    return missing and cell.options.fallback == "error" and bool(_why(cell, unmet))


def _run(
    jobs: Sequence[tuple[SurveyedPage, SessionJob]],
    workshop: Workshop,
    asked: ExecutionOptions,
    ledger: Ledger,
) -> Generator[SessionRun, None, None]:
    execution = workshop.config.execution
    watch: Watch = asked.watch or quiet
    expect: Callable[[int], None] | None = getattr(watch, "expect", None)
    if expect:
        expect(sum(len(page.cells.of_session(job.session)) for page, job in jobs))
    workers = asked.jobs or execution.jobs or cores()

    def absent(problems: Mapping[str, str]) -> None:
        ledger.add(_absent(problems, workshop))

    running = run_sessions(
        [job for _, job in jobs], workers=workers, watch=watch, preload=execution.preload, absent=absent
    )
    with closing(running):
        yield from running


def _absent(problems: Mapping[str, str], workshop: Workshop) -> list[Diagnostic]:
    """Warnings for modules of `preload` that cannot be imported; sessions run all the same."""
    reporter = Reporter(CONFIG_NAME, workshop.settings.lines)
    for module, why in problems.items():
        index = workshop.config.execution.preload.index(module)
        place = workshop.settings.places.get(("execute", "preload", index))
        reporter.warn("cell-preload", f"{module} cannot be preloaded: {why}", place)
    return reporter.diagnostics


def _recorded(
    surveyed: Survey,
    jobs: Sequence[tuple[SurveyedPage, SessionJob]],
    runs: Iterator[SessionRun],
    options: BuildOptions,
    ledger: Ledger,
) -> Ran:
    """Write what ended well, report what did not: each page as soon as its sessions have ended.

    So whoever breaks off loses only what runs at that moment.
    """
    records: dict[str, PageRecord] = {}
    count, failed = 0, set()
    for path, group in groupby(jobs, key=lambda job: str(job[0].cells.path)):
        good = {}
        for page, job in group:
            run = next(runs)
            problems = run_problems(page.cells, run, page.lines)
            ledger.add(problems)
            count += _note_times(page, run, ledger)
            if problems:
                failed.add(path)
            else:
                good[job.session] = run
        if good:
            records[path] = _record(page, good, surveyed, options)
    # the end of the generator: it tells what could not be preloaded
    next(runs, None)
    around = surveyed.after_running()
    pages = (_with_record(page, records.get(str(page.cells.path)), around) for page in surveyed.pages)
    return Ran(replace(surveyed, pages=tuple(pages)), count, frozenset(failed))


def _note_times(page: SurveyedPage, run: SessionRun, ledger: Ledger) -> int:
    ran = 0
    for cell, result in zip(page.cells.of_session(run.session), run.cells, strict=False):
        if result.status != "skipped":
            ledger.cell_times[f"{page.cells.path}: {cell.name}"] = result.seconds
            ran += 1
    return ran


def _record(
    page: SurveyedPage, runs: Mapping[str, SessionRun], surveyed: Survey, options: BuildOptions
) -> PageRecord:
    """Sessions that did not run or failed keep what is recorded of them."""
    around, names = surveyed.after_running(), page.verdict.recorded
    date = options.now.date().isoformat()
    made = {}
    for name, run in runs.items():
        known = page.record.sessions.get(names[name]) if page.record and name in names else None
        session = session_record(page.cells, run, around, date, known)
        if session is not None:
            made[name] = session
    keep = {name: known for name, known in names.items() if name not in made}
    return write_page(surveyed.root, page.cells.path, PageRecord(made), keep)


def _with_record(page: SurveyedPage, record: PageRecord | None, around: Surroundings) -> SurveyedPage:
    if record is None:
        return page
    return replace(page, record=record, verdict=judge(page.cells, record, around))
