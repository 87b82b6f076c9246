"""Runs stale sessions: selects them, chooses where they run, and records their results."""

from __future__ import annotations

import datetime as dt
import os
import shutil
import subprocess
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..base.diagnostics.model import Diagnostic, Reporter, SiteError
from ..config.load import CONFIG_NAME
from ..execute.probe.cache import ProbeCache
from ..execute.probe.requirements import Run
from ..execute.probe.requirements import unmet as unmet_needs
from ..execute.session.diagnostics import session_errors
from ..execute.session.environment import count_cores
from ..execute.session.jobs import ExecutionSetting, SessionJob, resolve_python, setting_of
from ..execute.session.pool import run_sessions
from ..execute.session.session import SessionObserver, silent_observer
from ..execute.session.signals import handle_termination
from ..execute.session.working_folder import working_folder
from ..freeze.environment import Environment
from ..freeze.record import PageRecord
from ..freeze.recording import session_record
from ..freeze.signing import sign_new_record
from ..freeze.staleness import judge_page
from ..freeze.store import page_folder, read_page, write_page
from ..model.cells import Need
from ..model.results import SessionRun
from ..project.context import SiteContext
from ..project.report import BuildLog, BuildOptions, ExecutionOptions
from .requirements import create_job, missing_requirements, required_needs, sessions_to_run
from .reuse import reusable_states
from .status import PageStatus, RunOutcome, SiteStatus

if TYPE_CHECKING:
    from ..execute.cluster.dask_cluster import DaskCluster


def run_stale_sessions(
    surveyed: SiteStatus, context: SiteContext, options: BuildOptions, log: BuildLog
) -> RunOutcome:
    """Run the sessions that must run and record their results. surveyed: state of all pages before the run.
    Return the outcome, which contains the state of the pages after the run."""
    asked = options.execution
    chosen = [page for page in surveyed.pages if not page.has_errors]
    if not any(asked.execute == "all" or page.verdict.stale_sessions() for page in chosen):
        log.add(missing_requirements(chosen, asked, {}))
        return RunOutcome(surveyed)
    with handle_termination(), working_folder() as folder, open_cluster(context, folder) as cluster:
        setting = execution_setting(context, folder)
        unmet = find_unmet_needs(chosen, asked, setting, cluster)
        log.add(missing_requirements(chosen, asked, unmet))
        jobs = [
            (page, create_job(page, session, setting, unmet, is_whole=asked.execute == "all"))
            for page in chosen
            for session in sessions_to_run(page, asked, unmet)
        ]
        with closing(_run(jobs, context, options, log, cluster)) as runs:
            outcome = _record_runs(surveyed, jobs, runs, options, log)
            return replace(outcome, unmet_needs=frozenset(map(str, unmet)))


@contextmanager
def open_cluster(context: SiteContext, folder: Path) -> Iterator[DaskCluster | None]:
    """Yield the cluster that the site names, or None if sessions run on this machine. Raises `SiteError` if
    the cluster cannot be used."""
    execution = context.config.execution
    if execution.executor == "local":
        yield None
        return
    # imported late: most sites name no cluster
    from ..execute.cluster.dask_cluster import DaskCluster
    from ..execute.cluster.dask_connection import ClusterError
    from ..execute.cluster.remote import remote_environment_for

    python = execution.python and resolve_python(execution.python, context.root)
    terms = remote_environment_for(python, execution.env, os.environ)
    try:
        with DaskCluster(execution.dask, terms, context.root, folder) as cluster:
            yield cluster
    except ClusterError as error:
        raise SiteError(context.error_at("cell-start", error.setting, str(error), error.hint)) from error


def execution_setting(context: SiteContext, folder: Path) -> ExecutionSetting:
    """Return the execution settings of the site. Raises `SiteError` if its Python does not exist. folder:
    temporary folder for everything that sessions write."""
    execution = context.config.execution
    python = resolve_python(execution.python, context.root)
    is_elsewhere = execution.executor == "dask" and execution.dask.scheduler
    if not is_elsewhere and not shutil.which(python):
        hint = "create it with `python3 -m venv`, or write the path of an installed Python"
        message = f'Python not found: "{execution.python}"'
        raise SiteError(context.error_at("cell-start", ("execute", "python"), message, hint))
    return setting_of(
        execution,
        context.root,
        os.environ,
        temporary=folder,
        exclude=(context.root / context.config.output,),
    )


def find_unmet_needs(
    pages: Sequence[PageStatus],
    asked: ExecutionOptions,
    setting: ExecutionSetting,
    cluster: DaskCluster | None,
    run: Run = subprocess.run,
) -> Mapping[Need, str]:
    """Return need → reason, as a message, for each need of these pages that is not met. Needs are checked on
    the machines where the cells would run: the cluster, or this machine if `cluster` is None. run: function
    with the parameters of `subprocess.run`, which starts the Python interpreter to check."""
    wanted = required_needs(pages, asked)
    if cluster and cluster.is_remote:
        return cluster.unmet(wanted)
    cache = ProbeCache(setting.root)
    return unmet_needs(wanted, setting.python, setting.env, run, cache=cache) if wanted else {}


def _run(
    jobs: Sequence[tuple[PageStatus, SessionJob]],
    context: SiteContext,
    options: BuildOptions,
    log: BuildLog,
    cluster: DaskCluster | None,
) -> Generator[SessionRun, None, None]:
    execution, asked = context.config.execution, options.execution
    watch: SessionObserver = asked.watch or silent_observer
    watch.expect_cells(sum(len(page.cells.session_cells(job.session)) for page, job in jobs))
    workers = asked.jobs or execution.jobs or count_cores()

    def absent(problems: Mapping[str, str]) -> None:
        log.add(preload_warnings(problems, context))

    sessions = [job for _, job in jobs]
    with ExitStack() as stack:
        running = run_sessions(
            sessions,
            workers=workers,
            watch=watch,
            preload=execution.preload,
            executor=cluster.start_executor(sessions, workers) if cluster and sessions else None,
            on_preload_errors=absent,
            checkpoints=stack.enter_context(reusable_states(jobs, context, options, os.environ)),
        )
        yield from stack.enter_context(closing(running))


def preload_warnings(problems: Mapping[str, str], context: SiteContext) -> list[Diagnostic]:
    """Return warnings for modules in `preload` that cannot be imported. Sessions run without them."""
    reporter = Reporter(CONFIG_NAME, context.settings.lines)
    for module, why in problems.items():
        index = context.config.execution.preload.index(module)
        place = context.settings.locations.get(("execute", "preload", index))
        hint = f"install the package of `{module}`, or remove `{module}` from `execute: preload:`"
        reporter.warn("cell-preload", f'cannot preload module "{module}": {why}', place, hint)
    return reporter.diagnostics


def _record_runs(
    surveyed: SiteStatus,
    jobs: Sequence[tuple[PageStatus, SessionJob]],
    runs: Iterator[SessionRun],
    options: BuildOptions,
    log: BuildLog,
) -> RunOutcome:
    """Record each page as soon as its sessions have ended, and report sessions that failed. If the caller
    stops early, the results of pages whose sessions are still running are lost."""
    records: dict[str, PageRecord] = {}
    count, failed = 0, set()
    for path, group in groupby(jobs, key=lambda job: str(job[0].cells.path)):
        good = {}
        for page, job in group:
            run = next(runs)
            problems = session_errors(page.cells, run, page.lines)
            log.add(problems)
            count += _log_times(page, run, log)
            if problems:
                failed.add(path)
            else:
                good[job.session] = run
        if good:
            around, date = surveyed.rescan(), options.now.date()
            record = records[path] = record_page(page, good, surveyed.root, around, date)
            folder = page_folder(page.cells.path)
            log.add(sign_new_record(surveyed.root, folder, record, good.keys(), os.environ))
    # Exhaust the generator: it reports modules that could not be preloaded.
    next(runs, None)
    around = surveyed.rescan()
    pages = (
        _with_record(page, records.get(str(page.cells.path)), surveyed.root, around)
        for page in surveyed.pages
    )
    return RunOutcome(replace(surveyed, pages=tuple(pages)), count, frozenset(failed))


def _log_times(page: PageStatus, run: SessionRun, log: BuildLog) -> int:
    ran = 0
    cells = list(zip(page.cells.session_cells(run.session), run.cells, strict=False))
    for cell, result in cells[run.resumed :]:
        if result.status != "skipped" or result.others:
            log.cell_times[f"{page.cells.path}: {cell.name}"] = result.seconds
            ran += 1
    return ran


def record_page(
    page: PageStatus, runs: Mapping[str, SessionRun], root: Path, around: Environment, date: dt.date
) -> PageRecord:
    """Record the sessions of a page that succeeded, and leave its other records unchanged. Return the new
    record. around: environment with the files as they are after the run. Raises `SiteError` if the record
    cannot be written."""
    names = page.verdict.recorded
    made = {}
    for name, run in runs.items():
        known = page.record.sessions.get(names[name]) if page.record and name in names else None
        session = session_record(page.cells, run, around, date.isoformat(), known)
        if session is not None:
            made[name] = session
    keep = {name: known for name, known in names.items() if name not in made}
    return write_page(root, page.cells.path, PageRecord(made), keep)


def _with_record(page: PageStatus, record: PageRecord | None, root: Path, around: Environment) -> PageStatus:
    if record is None:
        return page
    read = read_page(root, page.cells.path)
    warnings = () if read.record is None else read.diagnostics
    verdict = judge_page(page.cells, record, around)
    return replace(page, record=record, verdict=verdict, damage=(), warnings=warnings, signer=read.signer)
