"""Plan of the sessions of the site that must run now, with a job for each session."""

from __future__ import annotations

import subprocess
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from msgspec import structs

from ...base.diagnostics.model import Diagnostic, SiteError
from ...cells.requirements import create_job, missing_requirements, sessions_to_run
from ...cells.run import execution_setting, find_unmet_needs, open_cluster
from ...cells.status import PageStatus
from ...execute.session.jobs import CellStep, ExecutionSetting, SessionJob
from ...model.cells import Need, PageCells
from ...model.sweeps import ALL_SWEEPS, SweepRuns
from ...project.context import SiteContext
from ...project.report import ExecutionOptions
from .messages import CellWork, RequestedPage

_Sweeps = Mapping[str, SweepRuns]
"""Name of a session → runs of its sweeps to execute."""
Key = tuple[str, str]
"""Source path of a post and name of a session."""
PREPARED_PAGES = 50
"""Number of pages, from the first in running order, whose jobs are always made, so that their workers can
start in advance."""


@dataclass(frozen=True, slots=True)
class PlannedPage:
    """A page of the site with its cells and their jobs."""

    wanted: RequestedPage
    place: int
    """Index of the page in running order."""
    jobs: Mapping[str, SessionJob] = field(default_factory=dict)
    """Name of a session → its job. Empty if the page has errors or its jobs are not needed now."""
    due: tuple[str, ...] = ()
    """Sessions that can run and whose results are stale or missing."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Reasons why some cells of the page cannot run on this machine."""

    @property
    def path(self) -> str:
        """Path of the page's source."""
        return str(self.wanted.page.cells.path)


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The sessions that must run now."""

    work: CellWork
    pages: tuple[PlannedPage, ...] = ()


class Planner:
    """Maker of plans. Caches values that are expensive to compute between two plans."""

    def __init__(self, folder: Path) -> None:
        """Create a planner. folder: folder for all files that sessions write."""
        self._folder = folder
        self._probe = RequirementProbe()
        self._setting: ExecutionSetting | None = None
        self._jobs: dict[
            str, tuple[PageCells, ExecutionSetting, Mapping[Need, str], _Sweeps, Mapping[str, SessionJob]]
        ] = {}

    def plan(self, work: CellWork, forced: Collection[str], known: Collection[str]) -> RunPlan:
        """Return the sessions that must run. forced: source paths of pages to run even if their recorded
        results are valid. known: source paths of pages whose jobs are also needed, although they may have
        nothing to run."""
        if not work.may_run:
            return RunPlan(work, tuple(PlannedPage(wanted, n) for n, wanted in enumerate(work.pages)))
        pages = [wanted.page for wanted in work.pages if not wanted.page.has_errors]
        try:
            setting = self._present(work.context)
            unmet = self._find_unmet_needs(work, pages, forced, setting)
        except SiteError as error:
            return self._plan_nothing(work, error)
        lost = _group_by_path(missing_requirements(pages, work.asked, unmet))
        found = []
        for place, wanted in enumerate(work.pages):
            planned = self._page(place, wanted, work.asked, forced, unmet)
            is_asked = planned.due or place < PREPARED_PAGES or planned.path in known
            if is_asked and not wanted.page.has_errors:
                is_whole = work.asked.execute == "all" or planned.path in forced
                jobs = self._make_jobs(wanted.page, setting, unmet, is_whole=is_whole)
                planned = replace(planned, jobs=jobs)
            found.append(replace(planned, diagnostics=lost.get(planned.path, ())))
        return RunPlan(work, tuple(found))

    def close(self) -> None:
        """Cancel checks of requirements that are in progress."""
        self._probe.close()

    def _page(
        self,
        place: int,
        wanted: RequestedPage,
        asked: ExecutionOptions,
        forced: Collection[str],
        unmet: Mapping[Need, str],
    ) -> PlannedPage:
        page = wanted.page
        if page.has_errors:
            return PlannedPage(wanted, place)
        if str(page.cells.path) in forced:
            asked = structs.replace(asked, execute="all", needs=())
        return PlannedPage(wanted, place, {}, sessions_to_run(page, asked, unmet))

    def _present(self, context: SiteContext) -> ExecutionSetting:
        """Return the settings for running cells. While they are equal to the last ones, return the same
        object."""
        setting = execution_setting(context, self._folder)
        if setting != self._setting:
            self._setting = setting
        return self._setting or setting

    def _find_unmet_needs(
        self, work: CellWork, pages: Sequence[PageStatus], forced: Collection[str], setting: ExecutionSetting
    ) -> Mapping[Need, str]:
        ordinary = [page for page in pages if str(page.cells.path) not in forced]
        whole = [page for page in pages if str(page.cells.path) in forced]
        if not any(cell.options.needs for page in pages for cell in page.cells.cells):
            return {}
        execution = work.context.config.execution
        is_elsewhere = execution.executor == "dask" and bool(execution.dask.scheduler)
        with open_cluster(work.context, self._folder) if is_elsewhere else nullcontext() as cluster:
            found = find_unmet_needs(ordinary, work.asked, setting, cluster, self._probe.run)
            if not whole:
                return found
            all_of_them = structs.replace(work.asked, execute="all")
            return {**found, **find_unmet_needs(whole, all_of_them, setting, cluster, self._probe.run)}

    def _make_jobs(
        self, page: PageStatus, setting: ExecutionSetting, unmet: Mapping[Need, str], *, is_whole: bool
    ) -> Mapping[str, SessionJob]:
        path = str(page.cells.path)
        before = self._jobs.get(path)
        sessions = page.cells.sessions()
        sweeps = {name: ALL_SWEEPS if is_whole else page.verdict.sweep_runs(name) for name in sessions}
        if before and before[0] is page.cells and before[1] is setting and before[2:4] == (unmet, sweeps):
            return before[4]
        jobs = {name: create_job(page, name, setting, unmet, is_whole=is_whole) for name in sessions}
        self._jobs[path] = page.cells, setting, unmet, sweeps, jobs
        return jobs

    def _plan_nothing(self, work: CellWork, error: SiteError) -> RunPlan:
        """Return a plan that runs nothing. Every page with stale results gets the errors in `error`."""
        found = []
        for place, wanted in enumerate(work.pages):
            due = not wanted.page.has_errors and wanted.page.verdict.stale_sessions()
            said = tuple(error.diagnostics) if due else ()
            found.append(PlannedPage(wanted, place, diagnostics=said))
        return RunPlan(work, tuple(found))


def same_work(one: SessionJob, other: SessionJob) -> bool:
    """Return whether two jobs compute the same results. The position of their code in the post does not
    matter."""
    if one.steps is other.steps:
        return one == other
    return _without_message_fields(one) == _without_message_fields(other)


def _without_message_fields(job: SessionJob) -> SessionJob:
    steps = (
        replace(step, name="", first_line=1, file="") if isinstance(step, CellStep) else step
        for step in job.steps
    )
    return replace(job, steps=tuple(steps))


def _group_by_path(diagnostics: Sequence[Diagnostic]) -> dict[str, tuple[Diagnostic, ...]]:
    found: dict[str, tuple[Diagnostic, ...]] = {}
    for diagnostic in diagnostics:
        found[diagnostic.path] = (*found.get(diagnostic.path, ()), diagnostic)
    return found


class RequirementProbe:
    """Runs programs, as `subprocess.run` does, to probe what cells need. Another thread can interrupt it by
    `close`."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[Any] | None = None
        self._closed = False

    def run(self, command: Sequence[str], **how: Any) -> subprocess.CompletedProcess[Any]:
        """Run a program. how: arguments for `subprocess.run`; only those that callers use are supported.
        Raises OSError after `close`."""
        timeout = how.pop("timeout", None)
        if how.pop("capture_output", False):
            how |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        if self._closed:
            raise InterruptedError("the preview is stopping")
        with subprocess.Popen(list(command), **how) as child:
            self._child = child
            self._end_if_closed()
            try:
                out, err = child.communicate(timeout=timeout)
            except BaseException:
                child.kill()
                raise
            finally:
                self._child = None
        return subprocess.CompletedProcess(list(command), child.returncode, out, err)

    def close(self) -> None:
        """End the running program, and start no more."""
        self._closed = True
        self._end_if_closed()

    def _end_if_closed(self) -> None:
        child = self._child
        if self._closed and child is not None:
            child.kill()
