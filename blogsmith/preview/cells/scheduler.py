"""Schedule of sessions. It starts the sessions that must run, the page being viewed first, and cancels those
that are no longer needed.

When all sessions of a page that run together have ended, their results are recorded and reported together.
"""

from __future__ import annotations

import datetime as dt
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from msgspec import structs

from ...base.diagnostics.model import Diagnostic, SiteError
from ...cells.reuse import declared_stamps
from ...cells.run import preload_warnings, record_page
from ...cells.status import adopt_record, read_environment
from ...execute.session.checkpoint_store import CheckpointStore, Hold, RunCheckpoints
from ...execute.session.diagnostics import session_errors
from ...execute.session.environment import count_cores
from ...execute.session.jobs import SessionJob
from ...freeze.environment import Environment, FileDigests
from ...freeze.signing import sign_new_record
from ...freeze.staleness import judge_page
from ...freeze.store import page_folder, read_page
from ...model.results import SessionRun
from ..protocol import Event, Publish
from .events import RunEventPublisher
from .history import (
    RunHistory,
    SessionHistory,
    declared_inputs,
    files_written_since,
    missing_files,
    read_digests,
    read_stamps,
    recorded_inputs,
    run_inputs,
    run_modules,
)
from .messages import FOREGROUND, CellWork, PageOutcome
from .planner import PREPARED_PAGES, PlannedPage, Planner, RunPlan, same_work
from .task import SessionTask
from .worker_pool import WorkerPool


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
        """Whether a session of the page has run and no session is running any more."""
        return bool(self.tasks) and all(task.is_over for task in self.tasks.values())

    def update(self, planned: PlannedPage) -> None:
        """Replace the planned page by its current version."""
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
        """Queue a session instead of its previous task. patient: value of `is_low_priority`. The other
        arguments are as in `SessionTask`."""
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
        """Return the outcome of the page. Store its diagnostics in `last_diagnostics`. more: further fields
        of the outcome."""
        self.last_diagnostics = diagnostics
        return PageOutcome(self.planned.path, self.planned.wanted.url, diagnostics, **more)  # type: ignore[arg-type]

    def finish(self, root: Path, date: dt.date, around: Environment, memory: RunHistory) -> tuple[int, bool]:
        """Record the results of successful sessions with `date`, store those of all sessions in `memory`, and
        remove the finished tasks. Return the number of cells that ran, and whether the recorded results have
        changed."""
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
        """Return the digests of the known inputs of a session except its code. run: result of the session;
        None if it has not ended."""
        page = self.planned.wanted.page
        known = declared_inputs(page.cells, session, files)
        if run is None:
            return read_digests(known | recorded_inputs(page, session), files)
        return read_digests(known, files) | run_inputs(run)


_JOIN_S = 1.0
_CLUSTER_S = 8.0
"""Maximum time in seconds to close a cluster. A cluster that is still starting can be closed only after its
start."""


@dataclass(frozen=True, slots=True)
class ScheduleCallbacks:
    """Callbacks of a schedule."""

    publish: Publish
    done: Callable[[PageOutcome], None]
    now: Callable[[], dt.datetime]
    ended: Callable[[SessionTask], None]
    """Called from the thread of a session when it has ended."""
    waits: Callable[[], None]
    """Called from any thread when there is output for `flush`."""


class Scheduler:
    """Schedule of sessions, for the deciding thread. Other threads may call `kill`, `interrupt` and
    `current`."""

    def __init__(self, root: Path, folder: Path, calls: ScheduleCallbacks) -> None:
        """Create an empty schedule. folder: folder for all files that sessions write."""
        self._root, self._folder, self._calls = root, folder, calls
        self._planner, self._memory, self._warm = Planner(folder), RunHistory(root), WorkerPool()
        self._checkpoints = CheckpointStore()
        self._lock = threading.Lock()
        self._running: set[SessionTask] = set()
        """Tasks whose threads have not ended, including cancelled ones."""
        self._pages: dict[str, PageRun] = {}
        self._work: CellWork | None = None
        self._is_new = False
        self._forced: set[str] = set()
        self._prepared: list[SessionJob] = []

    # -- news --

    def update(self, work: CellWork) -> None:
        """Set the current state of the site."""
        before, self._work, self._is_new = self._work, work, True
        if before and before.context.config.execution != work.context.config.execution:
            self._memory.settings_changed()

    def run_again(self, url: str) -> None:
        """Run all cells of a page, even those with valid results. url: its URL path."""
        for wanted in self._work.pages if self._work else ():
            if wanted.url == url:
                path = str(wanted.page.cells.path)
                self._memory.forget(path)
                self._checkpoints.drop(path)
                self._forced.add(path)
                self._is_new = True

    def stop(self, url: str) -> None:
        """Stop the run of a page, or all runs if `url` is empty. A stopped session starts again only after a
        change."""
        for page in list(self._pages.values()):
            if page.tasks and (not url or page.planned.wanted.url == url):
                self._stop(page)

    def handle_ended(self, tasks: Iterable[SessionTask]) -> None:
        """Handle sessions whose threads have ended."""
        for task in tasks:
            with self._lock:
                self._running.discard(task)
            task.is_over = True
            self._memory.add_interval(task.began_ns, time.time_ns())
            self._checkpoints.trim()
            page = self._pages.get(task.path)
            if page and page.tasks.get(task.session) is task and not task.cancelled:
                changed = self._changed_inputs(page, task)
                if changed and self._may_repeat(task, changed):
                    page.queue(task.job, task.place, changed=changed)

    def step(self) -> None:
        """Process the events since the last call: make a new plan, record results and start sessions."""
        if self._is_new and self._work is not None:
            self._is_new = False
            plan = self._plan(self._work)
            self._finish_pages()
            self._start_some()
            self._prepare(plan)
        else:
            self._finish_pages()
            self._start_some()

    def flush(self, now: float) -> float | None:
        """Send output that is due at `now`. Return the time when the next output is due, or None if no output
        is waiting."""
        due = [found for page in self._pages.values() if (found := page.events.flush(now)) is not None]
        return min(due, default=None)

    # -- from any thread --

    def kill(self, url: str) -> None:
        """Kill the processes of a page, or of all pages if `url` is empty. The caller must call `stop` or
        `close` afterwards."""
        with self._lock:
            running = list(self._running)
        for task in running:
            page = self._pages.get(task.path)
            if not url or (page and page.planned.wanted.url == url):
                if page:
                    # discard events first, because the end of a killed process is not an event of a cell
                    page.events.discard(task.session)
                task.cancel()

    def interrupt(self) -> None:
        """Interrupt starts of workers and checks of requirements, so that no caller waits for them."""
        self._planner.close()
        self._warm.close()

    def current(self) -> list[Event]:
        """Return events that describe the sessions that are running now."""
        return [event for page in list(self._pages.values()) if page.tasks for event in page.events.current()]

    def close(self) -> None:
        """Stop everything and wait for the end."""
        self.kill("")
        self.interrupt()
        began = time.monotonic()
        for task in list(self._running):
            limit_s = _CLUSTER_S if task.is_on_cluster else _JOIN_S
            task.join(began + limit_s - time.monotonic())
        self._checkpoints.close()

    # -- planning --

    def _plan(self, work: CellWork) -> RunPlan:
        if not work.may_run:
            self._checkpoints.clear()
        known = self._memory.paths() | {path for path, page in self._pages.items() if page.tasks}
        self._memory.running_since_ns = tuple(task.began_ns for task in self._running)
        plan = self._planner.plan(work, self._forced, known | self._forced)
        for path in self._pages.keys() - {planned.path for planned in plan.pages}:
            self._pages.pop(path).drop_all()
            self._memory.forget(path)
            self._checkpoints.drop(path)
        files = FileDigests(self._root)
        around = read_environment(self._root, work.context.config)
        for planned in plan.pages:
            self._update(planned, files, partial(self._memory.is_due, files=files, around=around))
        self._forced.clear()
        return plan

    def _update(
        self, planned: PlannedPage, files: FileDigests, is_due: Callable[[PlannedPage, str], str]
    ) -> None:
        page = self._pages.get(planned.path)
        if page is None:
            if not planned.due and not planned.diagnostics:
                return
            cells, url = planned.wanted.page.cells, planned.wanted.url
            page = self._pages[planned.path] = PageRun(
                planned, RunEventPublisher(url, cells, self._calls.publish, self._calls.waits)
            )
        was_running = bool(page.tasks)
        page.update(planned)
        self._end_unwanted(page)
        for number, session in enumerate(planned.due):
            place = planned.place, number
            if planned.path in self._forced:
                page.queue(planned.jobs[session], place)
            elif session not in page.tasks and (answer := is_due(planned, session)) != "no":
                page.queue(planned.jobs[session], place, patient=answer == "later")
        if was_running and not page.tasks:
            page.events.finish("stopped")
        said = self._diagnostics(page)
        if said != page.last_diagnostics:
            self._calls.done(page.outcome(said, has_more=bool(page.tasks)))

    def _end_unwanted(self, page: PageRun) -> None:
        """Cancel sessions whose code has changed. Restart those whose files have changed while they ran."""
        planned = page.planned
        for session, task in list(page.tasks.items()):
            job = planned.jobs.get(session)
            task.priority, task.place = planned.wanted.priority, (planned.place, task.place[1])
            if job is None or not same_work(task.job, job):
                page.drop(session)
            elif not task.is_waiting and not task.is_over:
                changed = self._changed_inputs(page, task)
                if changed and self._may_repeat(task, changed):
                    page.queue(job, task.place, changed=changed)

    def _changed_inputs(self, page: PageRun, task: SessionTask) -> frozenset[str]:
        """Return the files that have changed since a session started. The session may have read an older
        version of them."""
        now = read_stamps(task.start_stamps, self._root)
        changed = {path for path, stamp in now.items() if stamp != task.start_stamps[path]}
        if task.run is not None:
            changed |= files_written_since(run_modules(task.run), self._root, task.began_ns)
        return frozenset(changed - self._memory.own_files((task.path, task.session)))

    def _may_repeat(self, task: SessionTask, changed: frozenset[str]) -> bool:
        """Return whether to restart a session because files have changed. A file that changed in each of the
        last two runs is assumed to be output of the session itself."""
        key = (task.path, task.session)
        again = changed & task.changed
        self._memory.own_files(key).update(path for path in again if not path.endswith(".py"))
        left = changed - self._memory.own_files(key)
        if left and self._memory.may_repeat(key):
            return True
        task.loops = tuple(sorted(left))
        return False

    def _diagnostics(self, page: PageRun) -> tuple[Diagnostic, ...]:
        absent: list[Diagnostic] = []
        if self._work is not None:
            preload = self._work.context.config.execution.preload
            problems = {name: why for name, why in self._warm.problems.items() if name in preload}
            absent = preload_warnings(problems, self._work.context)
        return (*self._memory.diagnostics(page.planned), *page.planned.diagnostics, *absent)

    # -- tasks --

    def _stop(self, page: PageRun) -> None:
        files = FileDigests(self._root)
        for session, task in list(page.tasks.items()):
            if not task.is_over or task.cancelled:
                inputs = page.inputs(session, None, files)
                self._memory.keep((page.planned.path, session), SessionHistory(task.job, "stopped", inputs))
                page.drop(session)
        self._finish(page, stopped=True)

    def _finish_pages(self) -> None:
        for page in list(self._pages.values()):
            if page.is_complete:
                self._finish(page)

    def _finish(self, page: PageRun, *, stopped: bool = False) -> None:
        assert self._work is not None
        around = read_environment(self._root, self._work.context.config)
        ran, changed = page.finish(self._root, self._calls.now().date(), around, self._memory)
        page.events.finish("stopped" if stopped else "finished")
        self._calls.done(
            page.outcome(self._diagnostics(page), ran=ran, stopped=stopped, record_changed=changed)
        )

    def _start_some(self) -> None:
        if self._work is None:
            return
        execution = self._work.context.config.execution
        slots = self._work.asked.jobs or execution.jobs or count_cores()
        waiting = [task for page in self._pages.values() for task in page.tasks.values() if task.is_waiting]
        waiting.sort(key=lambda task: (task.is_low_priority, task.priority, task.place))
        for task in waiting:
            if task.is_low_priority and (self._running or not waiting[0].is_low_priority):
                return
            if len(self._running) < slots:
                self._start(task, slots)
            else:
                self._make_room(task)

    def _make_room(self, task: SessionTask) -> None:
        """If `task` has a higher priority than a running session, cancel the one with the lowest priority and
        queue it again. Do nothing if another session is already ending."""
        if any(other.cancelled for other in self._running):
            return
        last = max(self._running, key=lambda other: (other.priority, other.place))
        page = self._pages.get(last.path)
        if last.priority > task.priority and page is not None:
            page.queue(last.job, last.place)

    def _start(self, task: SessionTask, slots: int) -> None:
        assert self._work is not None
        page, context = self._pages[task.path], self._work.context
        surveyed = page.planned.wanted.page
        known = recorded_inputs(surveyed, task.session)
        known |= declared_inputs(surveyed.cells, task.session, FileDigests(self._root))
        task.start_stamps = read_stamps(known, self._root)
        with self._lock:
            self._running.add(task)
        if context.config.execution.executor == "dask":
            task.start_on_cluster(context, self._folder, slots, page.events, self._calls.ended)
        else:
            start = partial(self._warm.start, preload=context.config.execution.preload)
            task.start(start, page.events, self._calls.ended, self._find_checkpoints(page, task))

    def _find_checkpoints(self, page: PageRun, task: SessionTask) -> Callable[[Hold], RunCheckpoints | None]:
        """Return a function that returns the checkpoints of a session. It returns None if the page is not
        open, or if all cells must run."""
        assert self._work is not None
        if task.priority != FOREGROUND or self._work.asked.execute == "all":
            return lambda hold: None
        declared = declared_stamps(page.planned.wanted.page.cells, task.session, self._root)
        date = self._calls.now().date().isoformat()
        return partial(self._checkpoints.session, task.job, declared, date)

    def _prepare(self, plan: RunPlan) -> None:
        """Start workers in advance for the first pages."""
        execution = plan.work.context.config.execution
        jobs = [job for planned in plan.pages[:PREPARED_PAGES] for job in planned.jobs.values()]
        if jobs != self._prepared and execution.executor == "local":
            self._prepared = jobs
            self._warm.prepare(jobs, execution.preload)
