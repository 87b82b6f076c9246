"""Parallel sessions: in threads of this process, or in a given `concurrent.futures.Executor`."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor

from ...model.results import SessionRun
from .checkpoints import SessionCheckpoints
from .jobs import CellStep, SessionJob
from .process import Process, spawn
from .reaper import orphan_adoption
from .session import SessionObserver, Start, not_started, run_session, silent_observer

Absent = Callable[[Mapping[str, str]], None]
FindCheckpoints = Callable[[SessionJob, Callable[[Process], Process]], SessionCheckpoints | None]
"""Function that returns the checkpoints of a session; None if the session cannot have any. It calls its
second argument with each worker that resumes."""


def no_checkpoints(job: SessionJob, hold: Callable[[Process], Process]) -> None:
    """Return None, so that the session runs from its first cell."""


class LostSessionError(Exception):
    """Error raised if an executor has lost a session. The message is the reason."""


def run_sessions(
    jobs: Sequence[SessionJob],
    *,
    workers: int,
    watch: SessionObserver = silent_observer,
    preload: tuple[str, ...] = (),
    executor: Executor | None = None,
    on_preload_errors: Absent = lambda problems: None,
    checkpoints: FindCheckpoints = no_checkpoints,
) -> Generator[SessionRun, None, None]:
    """Run sessions, `workers` in parallel. Yield their results in the order of `jobs`.

    Every process is ended if the caller stops, by Ctrl-C or by closing the iterator. So always close the
    iterator (`contextlib.closing`).

    preload: modules that a fork server imports once for all sessions. executor: runs the jobs instead of this
    process, perhaps on other machines. In that case `watch` is notified of a session only when it has ended,
    nothing is preloaded, and the result of a lost session is a problem. on_preload_errors: called at the end
    with the modules that could not be preloaded and the reasons. checkpoints: finds the checkpoints of
    sessions on this machine.
    """
    if executor is not None:
        return _run_on_executor(jobs, watch, executor)
    return _run_local(jobs, workers, watch, preload, on_preload_errors, checkpoints)


def _run_local(
    jobs: Sequence[SessionJob],
    workers: int,
    watch: SessionObserver,
    preload: tuple[str, ...],
    absent: Absent,
    checkpoints: FindCheckpoints,
) -> Generator[SessionRun, None, None]:
    with contextlib.ExitStack() as stack:
        stack.enter_context(orphan_adoption())
        live = WorkerRegistry(stack.enter_context(_worker_starter(jobs, preload, absent)))
        threads = stack.enter_context(ThreadPoolExecutor(max(1, workers), thread_name_prefix="session"))
        try:
            futures = [
                threads.submit(run_session, job, watch, live.start, checkpoints(job, live.register))
                for job in jobs
            ]
            for future in futures:
                yield future.result()
        finally:
            live.stop()
            threads.shutdown(wait=True, cancel_futures=True)


def _run_on_executor(
    jobs: Sequence[SessionJob], watch: SessionObserver, executor: Executor
) -> Generator[SessionRun, None, None]:
    futures: list[Future[SessionRun]] = []
    try:
        futures += [executor.submit(run_session, job) for job in jobs]
        for job, future in zip(jobs, futures, strict=True):
            run = _result(job, future)
            _replay(job, run, watch)
            yield run
    finally:
        for future in futures:
            future.cancel()


def _result(job: SessionJob, future: Future[SessionRun]) -> SessionRun:
    """Return the result of a session. A lost session counts as one that could not start."""
    try:
        return future.result()
    except LostSessionError as lost:
        return not_started(job, str(lost))
    except Exception as error:
        return not_started(job, f"the executor failed: {type(error).__name__}: {error}")


def _replay(job: SessionJob, run: SessionRun, watch: SessionObserver) -> None:
    """Notify an observer of the events of a session that ran elsewhere."""
    watch.on_start(job)
    steps = (step for step in job.steps if isinstance(step, CellStep))
    for step, cell in zip(steps, run.cells, strict=True):
        if cell.status != "skipped":
            watch.cell_started(job, step.number)
            for one in (*cell.others.values(), cell):
                for output in one.outputs:
                    watch.output(job, step.number, output)
        watch.cell_ended(job, step.number, cell)
    watch.on_end(job, run)


@contextlib.contextmanager
def _worker_starter(jobs: Sequence[SessionJob], preload: tuple[str, ...], absent: Absent) -> Iterator[Start]:
    """Yield the function that starts workers, either separately or by forking a server that has imported
    shared modules."""
    if not preload or not jobs:
        yield spawn
        return
    from .fork_server_client import ForkServer

    with ForkServer(jobs[0].python, preload, jobs[0].env) as server:
        yield server.start
        if server.import_errors:
            absent(server.import_errors)


class WorkerRegistry:
    """Registry of running workers, which can end all of them."""

    def __init__(self, start: Callable[[SessionJob], Process]) -> None:
        self._start = start
        self._lock = threading.Lock()
        self._processes: list[Process] = []
        self._stopped = threading.Event()

    def start(self, job: SessionJob) -> Process:
        """Start a worker. Raises `InterruptedError` after `stop`."""
        if self._stopped.is_set():
            raise InterruptedError("the run was cancelled")
        return self.register(self._start(job))

    def register(self, process: Process) -> Process:
        """Register a worker that was started in another way."""
        with self._lock:
            self._processes = [p for p in self._processes if p.wait(0) is None]
            self._processes.append(process)
        if self._stopped.is_set():
            _kill(process)
        return process

    def stop(self) -> None:
        """End all workers. Their threads clean up the rest."""
        with self._lock:
            self._stopped.set()
            processes = self._processes
        for process in processes:
            _kill(process)


def _kill(process: Process) -> None:
    if process.wait(0) is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pgid, signal.SIGKILL)
