"""The sessions of one page that run together. When all have ended, their results are recorded and reported
together."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from msgspec import structs

from ...base.diagnostics.model import Diagnostic, SiteError
from ...cells.run import record_page
from ...cells.status import adopt_record
from ...execute.session.diagnostics import session_errors
from ...execute.session.jobs import SessionJob
from ...freeze.environment import Environment, FileDigests
from ...freeze.signing import sign_new_record
from ...freeze.staleness import judge_page
from ...freeze.store import page_folder, read_page
from ...model.results import SessionRun
from .dependencies import declared_inputs, missing_files, read_digests, recorded_inputs, run_inputs
from .events import RunEventPublisher
from .history import RunHistory, SessionHistory
from .messages import PageOutcome
from .planner import PlannedPage
from .task import SessionTask


@dataclass(slots=True, eq=False)
class PageRun:
    """State of a page whose cells run or have run."""

    planned: PlannedPage
    events: RunEventPublisher
    tasks: dict[str, SessionTask] = field(default_factory=dict)
    """Name of a session → its task. Finished tasks stay until all tasks have finished."""
    last_diagnostics: tuple[Diagnostic, ...] = ()
    """Diagnostics of the last outcome."""

    @property
    def is_complete(self) -> bool:
        """Return whether a session has run and none is running any more."""
        return bool(self.tasks) and all(task.is_over for task in self.tasks.values())

    def update(self, planned: PlannedPage) -> None:
        """Replace the page by its current state."""
        self.planned = planned
        self.events.replace_page(planned.wanted.page.cells)

    def queue(
        self,
        job: SessionJob,
        place: tuple[int, int],
        *,
        patient: bool = False,
        changed: frozenset[str] = frozenset(),
    ) -> None:
        """Queue a session instead of its previous task. The arguments are as in `SessionTask`."""
        self.drop(job.session)
        # a copy, so that events of this job differ from those of others
        own = replace(job)
        priority = self.planned.wanted.priority
        self.tasks[job.session] = SessionTask(
            self.planned.path, own, priority, place, patient, changed=changed
        )
        self.events.queue(own)

    def drop(self, session: str) -> None:
        """Cancel a session whose result is not needed."""
        task = self.tasks.pop(session, None)
        if task is not None:
            self.events.discard(session)
            task.cancel()

    def drop_all(self) -> None:
        """Cancel all sessions of the page."""
        if self.tasks:
            for session in list(self.tasks):
                self.drop(session)
            self.events.finish("stopped")

    def outcome(self, diagnostics: tuple[Diagnostic, ...], **more: object) -> PageOutcome:
        """Return the outcome of the page, and store its diagnostics as the last ones."""
        self.last_diagnostics = diagnostics
        return PageOutcome(self.planned.path, self.planned.wanted.url, diagnostics, **more)  # type: ignore[arg-type]

    def finish(self, root: Path, date: dt.date, around: Environment, memory: RunHistory) -> tuple[int, bool]:
        """Record the results of successful sessions, store those of all sessions in `memory`, and remove the
        finished tasks. Return the number of cells that ran, and whether the recorded results have changed."""
        tasks = {name: task for name, task in self.tasks.items() if task.is_over}
        for name in tasks:
            del self.tasks[name]
        page = self.planned.wanted.page
        good: dict[str, SessionRun] = {}
        for name, task in tasks.items():
            if task.run is not None and not session_errors(page.cells, task.run, page.lines):
                good[name] = task.run
        files = FileDigests(root)
        problems: tuple[Diagnostic, ...] = ()
        changed = False
        try:
            changed = bool(good) and self._record(good, root, date, around)
        except SiteError as error:
            problems, good = tuple(error.diagnostics), {}
        for name, task in tasks.items():
            past = SessionHistory(
                task.job, "recorded" if name in good else "failed", self.inputs(name, task.run, files)
            )
            past.loops = task.loops
            if name not in good:
                past.run, past.diagnostics = task.run, (*task.diagnostics, *problems)
                past.missing_files = missing_files(task.run, task.job) if task.run else ()
            memory.keep((self.planned.path, name), past)
        runs = [task.run for task in tasks.values() if task.run]
        ran = sum(cell.status != "skipped" for run in runs for cell in run.cells[run.resumed :])
        return ran, changed

    def _record(self, good: Mapping[str, SessionRun], root: Path, date: dt.date, around: Environment) -> bool:
        """Record the runs. Return whether the record has changed."""
        page = adopt_record(self.planned.wanted.page, root)
        # Another page, an earlier run or another process may have changed the record since the site was
        # read.
        before = read_page(root, page.cells.path).record
        page = structs.replace(page, record=before, verdict=judge_page(page.cells, before, around))
        record = record_page(page, good, root, around, date)
        problems = sign_new_record(root, page_folder(page.cells.path), record, good.keys(), os.environ)
        if problems:
            raise SiteError(*problems)
        return record != before

    def inputs(self, session: str, run: SessionRun | None, files: FileDigests) -> dict[str, str | None]:
        """Return the known inputs of a session other than its code. run: its result, if it has ended."""
        page = self.planned.wanted.page
        known = declared_inputs(page.cells, session, files)
        if run is None:
            return read_digests(known | recorded_inputs(page, session), files)
        return read_digests(known, files) | run_inputs(run)
