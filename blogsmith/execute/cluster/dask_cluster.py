"""Runs sessions on the workers of a Dask cluster, which either exists already or is started on this machine
for one command.

Only the modules `dask_…` use Dask, and they import it when a cluster is requested. A worker calls
`run_on_this_machine`, which starts a separate process for the session, as a builder would. So crashes of
cells do not affect the worker. If a builder ends for any reason, the scheduler cancels its tasks, and the
workers end the sessions.
"""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future, InvalidStateError
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

from ...config.schema import Dask
from ...model.cells import Need
from ...model.results import SessionRun
from ..session.jobs import SessionJob
from ..session.pool import LostSessionError
from .dask_connection import (
    VERSION_CHECK,
    WorkerCheck,
    check_workers,
    connect,
    first_line,
    require_dask,
    start_cluster,
)
from .dask_worker import this_task
from .remote import (
    NeedsVerdict,
    RemoteEnvironment,
    Run,
    WorkerResources,
    find_unmet_needs,
    format_resources,
    merge_answers,
    plan_queries,
    run_on_this_machine,
)


class DaskCluster:
    """Workers used by one run of a command; a context manager. Raises `ClusterError` if the cluster cannot be
    used."""

    def __init__(self, settings: Dask, environment: RemoteEnvironment, root: Path, temporary: Path) -> None:
        """Create a cluster that is connected when its context is entered. temporary: folder for files of
        workers that are started here."""
        self._settings = settings
        self._terms = environment
        self._root = root
        self._temporary = temporary
        self._judged = NeedsVerdict()
        self._client: _Client | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(require_dask())
            if self.is_remote:
                connected = stack.enter_context(connect(self._settings.scheduler))
                self._client = _Client(connected, self._terms)
                _check(connected, self._settings.scheduler, self._root, self._terms.python)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    @property
    def is_remote(self) -> bool:
        """Whether somebody else started the cluster. If not, its workers run on this machine."""
        return bool(self._settings.scheduler)

    def unmet(self, needs: Sequence[Need]) -> Mapping[Need, str]:
        """Map each need that no worker meets to the reason, as a message. Call this only if the cluster is
        remote."""
        assert self._client is not None, "a cluster on this machine starts when its work is known"
        offers, cuda = self._client.worker_resources(), self._settings.cuda
        answers = self._client.query_needs(plan_queries(needs, offers, cuda))
        self._judged = merge_answers(needs, offers, cuda, answers)
        return self._judged.unmet

    def start_executor(self, jobs: Sequence[SessionJob], workers: int) -> DaskExecutor:
        """Return an executor for the jobs. A cluster on this machine is started now. workers: largest number
        of workers to start."""
        cuda = self._settings.cuda
        if self._client is None:
            started = start_cluster(max(1, min(workers, len(jobs))), self._temporary)
            self._client = _Client(self._stack.enter_context(started), self._terms)
            if any(job.cuda for job in jobs):
                # one worker: sessions that share a device would distort each other's times and memory
                self._client.set_resources(cuda, min(self._client.worker_resources()))
        one_each = not self.is_remote
        made = DaskExecutor(self._client, self._judged, cuda, one_each=one_each)
        return self._stack.enter_context(made)


class _Client:
    """Wrapper of a Dask client."""

    def __init__(self, client: Any, terms: RemoteEnvironment) -> None:
        self._client = client
        self._terms = terms

    def submit(
        self, run: Run, job: SessionJob, workers: Sequence[str] | None, resources: Mapping[str, float]
    ) -> Any:
        return self._client.submit(
            run_on_worker,
            run,
            job,
            self._terms,
            workers=workers,
            resources=dict(resources) or None,
            pure=False,
            retries=0,
        )

    def worker_resources(self) -> dict[str, WorkerResources]:
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        return {address: WorkerResources(w["host"], dict(w["resources"])) for address, w in workers.items()}

    def describe_error(self, error: BaseException) -> str:
        from distributed import KilledWorker

        if isinstance(error, KilledWorker):
            return "the Dask worker died while it ran the session"
        return f"the Dask worker failed: {type(error).__name__}: {first_line(error)}"

    def query_needs(self, asked: Mapping[str, tuple[Need, ...]]) -> Mapping[str, Any]:
        """Ask workers to check needs. asked: address of a worker → needs to check there. Map each address to
        the unmet needs found there, or to the exception if the check failed."""
        if not asked:
            return {}
        found: Mapping[str, Any] = self._client.run(
            _query_worker, asked, self._terms, workers=list(asked), on_error="return"
        )
        return found

    def set_resources(self, resources: Mapping[str, float], address: str) -> None:
        self._client.run(_set_resources, dict(resources), workers=[address])


def _check(client: Any, scheduler: str, root: Path, python: str) -> None:
    site = str(root / "blogsmith.yaml")
    checks: list[WorkerCheck] = [VERSION_CHECK, (os.path.isfile, site, True, f"no file {site}")]
    if python:
        checks.append((shutil.which, python, python, f"no Python at {python}"))
    hint = "install the same blogsmith on all workers, and put the site at the same path"
    check_workers(client, scheduler, checks, "run sessions", hint)


def run_on_worker(run: Run, job: SessionJob, terms: RemoteEnvironment) -> SessionRun:
    """Run a session as a task of a Dask worker, and return its result."""
    # `start_cluster` blocks Ctrl-C in workers, but the sessions that they start must receive it.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    return run_on_this_machine(run, job, terms, this_task().is_wanted)


async def _query_worker(
    asked: Mapping[str, tuple[Need, ...]], terms: RemoteEnvironment, dask_worker: Any
) -> Mapping[Need, str]:
    return await find_unmet_needs(asked, terms, dask_worker.address)


async def _set_resources(resources: Mapping[str, float], dask_worker: Any) -> None:
    await dask_worker.set_resources(**resources)


# Executor on the workers of a Dask cluster. Each session runs on a worker that meets its needs. A session
# waits while workers are busy. If no suitable worker has existed for `GRACE_S`, the session is lost. When a
# worker dies, Dask treats every session that was assigned to it as a possible cause. So a cluster of our own
# is given no more sessions than it can run in parallel.


GRACE_S = 30.0
"""Seconds that a session waits for a suitable worker.

A worker that dies is restarted, which takes some seconds on a busy machine, and may die again.
"""
_POLL_S = 2.0
_JOIN_TIMEOUT_S = 1.0
_NO_SCHEDULER = "the connection to the Dask scheduler is lost"


class Task(Protocol):
    """A future of Dask, as an executor uses it."""

    status: str

    def result(self) -> Any: ...
    def release(self) -> None: ...
    def add_done_callback(self, fn: Callable[[Task], object]) -> object: ...


class Cluster(Protocol):
    """Client of a cluster, as an executor needs it."""

    def submit(
        self, run: Run, job: SessionJob, workers: Sequence[str] | None, resources: Mapping[str, float]
    ) -> Task:
        """Start a session, and return the task that runs it. workers: addresses of workers that may run it;
        None for any worker with these resources."""

    def worker_resources(self) -> Mapping[str, WorkerResources]:
        """Map the address of each current worker to its resources."""

    def describe_error(self, error: BaseException) -> str:
        """Return a message that says why a task failed unexpectedly."""


@dataclass(frozen=True, slots=True)
class _Queued:
    """Session that has not been assigned to a worker."""

    run: Run
    job: SessionJob
    future: Future[SessionRun]


@dataclass(slots=True)
class _Submitted:
    """Session that was submitted and has not finished."""

    future: Future[SessionRun]
    task: Task
    workers: Sequence[str] | None
    resources: Mapping[str, float]
    last_seen: float
    """Time at which a suitable worker was last seen, in seconds of the monotonic clock."""

    def can_run_on(self, address: str, offer: WorkerResources) -> bool:
        return offer.has(self.resources) and (self.workers is None or address in self.workers)


class DaskExecutor(Executor):
    """Executor that accepts only `submit(run_session, job)`. If a session is lost, its future raises
    `LostSessionError`. If a future is cancelled, the worker ends the session. Shutting down cancels all
    sessions."""

    def __init__(
        self, cluster: Cluster, judged: NeedsVerdict, cuda: Mapping[str, float], *, one_each: bool = False
    ) -> None:
        """Create an executor and start its monitoring thread. judged: needs that each worker meets. cuda:
        resources that a session with CUDA requires. one_each: run one session at a time on each worker."""
        self._cluster = cluster
        self._judged = judged
        self._cuda = cuda
        self._one_each = one_each
        self._lock = threading.RLock()
        self._queue: list[_Queued] = []
        self._waiting: list[_Submitted] = []
        self._closed = threading.Event()
        self._poll_thread = threading.Thread(target=self._poll_futures, name="dask-workers", daemon=True)
        self._poll_thread.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Start a session, and return the future of its result. fn: called like `run_session`. args: the job
        of the session."""
        (job,) = args
        future: Future[SessionRun] = Future()
        with self._lock:
            self._queue.append(_Queued(fn, job, future))
        self._start_some()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Cancel all unfinished sessions without waiting for them."""
        self._closed.set()
        with self._lock:
            futures = [each.future for each in self._queue] + [each.future for each in self._waiting]
            self._queue, self._waiting = [], []
        for future in futures:
            future.cancel()
        self._poll_thread.join(_JOIN_TIMEOUT_S)

    def _start_some(self) -> None:
        """Submit waiting sessions to workers that have room for them. Called whenever room may have become
        free."""
        with self._lock:
            self._waiting = [each for each in self._waiting if not each.future.done()]
            offers: Mapping[str, WorkerResources] = {}
            if self._one_each and self._queue:
                with suppress(Exception):  # if the scheduler does not answer, no session can start
                    offers = self._cluster.worker_resources()
            queue, self._queue = self._queue, []
            for each in queue:
                if not self._has_room(each.job, offers):
                    self._queue.append(each)
                elif not each.future.done():
                    self._start(each)

    def _has_room(self, job: SessionJob, offers: Mapping[str, WorkerResources]) -> bool:
        if not self._one_each or not self._waiting:
            return True
        able = sum(offer.has(self._cuda) for offer in offers.values())
        with_cuda = sum(bool(each.resources) for each in self._waiting)
        return len(self._waiting) < len(offers) and not (job.cuda and with_cuda >= able)

    def _start(self, queued: _Queued) -> None:
        future = queued.future
        try:
            waiting = self._submit(queued)
        except Exception as error:
            reason = (
                str(error) if isinstance(error, LostSessionError) else self._cluster.describe_error(error)
            )
            with suppress(InvalidStateError):
                future.set_exception(LostSessionError(reason))
            return
        self._waiting.append(waiting)
        # not `cancel`, which waits for an answer; without a client, the scheduler drops the task anyway
        future.add_done_callback(lambda done: waiting.task.release() if done.cancelled() else None)
        waiting.task.add_done_callback(lambda task: self._settle(future, task))

    def _submit(self, queued: _Queued) -> _Submitted:
        job, resources = queued.job, self._cuda if queued.job.cuda else {}
        offers = self._cluster.worker_resources()
        able = {address for address, offer in offers.items() if offer.has(resources)}
        fit = self._judged.suitable(job.needs, able)
        # If there is no worker at all, one is probably being restarted.
        if offers and not fit:
            raise LostSessionError(_no_worker_message(job, resources))
        # Restrict to addresses only if necessary: a restarted worker has a new address.
        workers = None if fit == able else sorted(fit)
        task = self._cluster.submit(queued.run, job, workers, resources)
        return _Submitted(queued.future, task, workers, resources, time.monotonic())

    def _settle(self, future: Future[SessionRun], task: Task) -> None:
        """Finish a session. Called from a thread of Dask when its task is done."""
        with suppress(InvalidStateError):  # nobody waits for the session any longer
            if task.status == "cancelled":
                future.set_exception(LostSessionError(_NO_SCHEDULER))
            else:
                self._finish(future, task)
        self._start_some()

    def _finish(self, future: Future[SessionRun], task: Task) -> None:
        try:
            run = task.result()
        except BaseException as error:
            future.set_exception(LostSessionError(self._cluster.describe_error(error)))
        else:
            future.set_result(run)

    def _poll_futures(self) -> None:
        while not self._closed.wait(_POLL_S):
            with self._lock:
                waiting = [each for each in self._waiting if not each.future.done()]
            if waiting:
                # If the scheduler is gone, Dask cancels all tasks itself.
                with suppress(Exception):
                    self._fail_lost_sessions(waiting, self._cluster.worker_resources())
                    self._start_some()

    def _fail_lost_sessions(
        self, waiting: Sequence[_Submitted], offers: Mapping[str, WorkerResources]
    ) -> None:
        now = time.monotonic()
        for each in waiting:
            if any(each.can_run_on(address, offer) for address, offer in offers.items()):
                each.last_seen = now
            elif now - each.last_seen > GRACE_S:
                with suppress(InvalidStateError):
                    each.future.set_exception(LostSessionError(_lost_workers_message(each.resources)))
                each.task.release()


def _no_worker_message(job: SessionJob, resources: Mapping[str, float]) -> str:
    needed = [str(need) for need in job.needs] or [format_resources(resources)]
    return f"no Dask worker meets all needs of the session: {', '.join(filter(None, needed))}"


def _lost_workers_message(resources: Mapping[str, float]) -> str:
    purpose = f"offer {format_resources(resources)}" if resources else "can run the session"
    return f"no Dask workers are left that {purpose}"
