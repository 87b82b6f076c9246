"""One session that runs in a thread of its own and can be cancelled at any time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from ...base.diagnostics.model import Diagnostic, SiteError
from ...base.storage.stamps import FileStamp
from ...cells.run import open_cluster
from ...execute.session.checkpoint_store import Hold, RunCheckpoints
from ...execute.session.jobs import SessionJob
from ...execute.session.pool import WorkerRegistry, run_sessions
from ...execute.session.process import Process
from ...execute.session.session import SessionObserver, not_started, run_session
from ...model.results import SessionRun
from ...project.context import SiteContext


@dataclass(slots=True, eq=False)
class SessionTask:
    """A run of a session of a page, from the queue to its end."""

    path: str
    """Source path of the post."""
    job: SessionJob
    priority: int
    place: tuple[int, int] = (0, 0)
    """Index of the page in running order, and index of the session in the page."""
    is_low_priority: bool = False
    """Whether the task starts only when no other task runs or waits."""
    start_stamps: Mapping[str, FileStamp | None] = field(default_factory=dict)
    """Path of each file that the session is known to use → stamp at the start of the run; None for a missing
    file."""
    changed: frozenset[str] = frozenset()
    """Files whose changes caused this run to be started again."""
    loops: tuple[str, ...] = ()
    """Files that changed too often, so that the session is not started again for them."""
    began_ns: int = 0
    """Start time in nanoseconds of the system clock; 0: not started."""
    cancelled: bool = False
    """Whether the session was cancelled, so that its result is ignored."""
    run: SessionRun | None = None
    """Result of the run; None until it has ended."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Errors that prevented the session from running; their cause is outside the session."""
    is_on_cluster: bool = False
    is_over: bool = False
    """Whether the thread of the task has ended and the schedule has handled the end."""
    _live: WorkerRegistry | None = None
    _executor: Executor | None = None
    _thread: threading.Thread | None = None

    @property
    def session(self) -> str:
        """Name of the session."""
        return self.job.session

    @property
    def is_waiting(self) -> bool:
        """Whether the task has not been started."""
        return self._thread is None

    def start(
        self,
        start: Callable[[SessionJob], Process],
        watch: SessionObserver,
        ended: Ended,
        checkpoints: Callable[[Hold], RunCheckpoints | None],
    ) -> None:
        """Run the session on this machine. start: function that starts the worker process. ended: function
        that the task's thread calls at the end. checkpoints: function that returns the checkpoints to resume
        from and to extend. Its argument is a function that must be called with each new process."""
        live = self._live = WorkerRegistry(start)
        self._begin(lambda: run_session(self.job, watch, live.start, checkpoints(live.register)), ended)

    def start_on_cluster(
        self, context: SiteContext, folder: Path, workers: int, watch: SessionObserver, ended: Ended
    ) -> None:
        """Run the session on the cluster in the settings. workers: maximum number of workers to start. watch,
        ended: as in `start`."""
        self.is_on_cluster = True
        self._begin(lambda: self._elsewhere(context, folder, workers, watch), ended)

    def cancel(self) -> None:
        """Kill the processes of the session, which ends the task's thread. Any thread may call this."""
        self.cancelled = True
        live, executor = self._live, self._executor
        if live is not None:
            live.stop()
        if executor is not None:
            executor.shutdown(cancel_futures=True)

    def join(self, timeout_s: float) -> None:
        """Wait for the thread of the task to end, at most `timeout_s` seconds."""
        if self._thread is not None and self._thread.is_alive():
            self._thread.join(max(0.0, timeout_s))

    def _begin(self, run: Callable[[], SessionRun], ended: Ended) -> None:
        self.began_ns = time.time_ns()
        self._thread = threading.Thread(
            target=self._work, args=(run, ended), name=f"cells of {self.path}", daemon=True
        )
        self._thread.start()

    def _work(self, run: Callable[[], SessionRun], ended: Ended) -> None:
        try:
            self.run = run()
        except SiteError as error:
            self.diagnostics = tuple(error.diagnostics)
        except Exception as error:
            # an internal error, which the page shows while the preview continues
            self.run = not_started(self.job, f"{type(error).__name__}: {error}")
        finally:
            ended(self)

    def _elsewhere(
        self, context: SiteContext, folder: Path, workers: int, watch: SessionObserver
    ) -> SessionRun:
        with open_cluster(context, folder) as cluster:
            if cluster is None:
                return not_started(self.job, "the site does not name a cluster")
            if cluster.is_remote:
                cluster.unmet(self.job.needs)  # these decide which workers are suitable
            executor = self._executor = cluster.start_executor([self.job], workers)
            if self.cancelled:
                return not_started(self.job, "it was cancelled before it started")
            running = run_sessions([self.job], workers=1, watch=watch, executor=executor)
            with closing(running):
                return next(running)


Ended = Callable[[SessionTask], None]
