"""One session that runs in a thread of its own, and can be ended at any moment."""

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
from ...cells.run import cluster_of
from ...execute.session.jobs import SessionJob
from ...execute.session.pool import Live, run_sessions
from ...execute.session.process import Process
from ...execute.session.session import SessionObserver, not_started, run_session
from ...model.results import SessionRun
from ...project.context import SiteContext
from .checkpoints import Hold, RunCheckpoints


@dataclass(slots=True, eq=False)
class SessionTask:
    """A session of a page, from its place in the queue to its end."""

    path: str
    """Source of the post."""
    job: SessionJob
    priority: int
    place: tuple[int, int] = (0, 0)
    """Of its page among the pages, and of the session in it."""
    patient: bool = False
    """It starts when nothing else runs or waits."""
    at_start: Mapping[str, FileStamp | None] = field(default_factory=dict)
    """Files that it is known to use, with their stamps when it started."""
    changed: frozenset[str] = frozenset()
    """Of those, the ones for whose sake it was started again."""
    loops: tuple[str, ...] = ()
    """Of those, the ones that changed once too often to start it again."""
    began_ns: int = 0
    """When it started, by the system's clock; 0: it waits."""
    cancelled: bool = False
    """What it gives counts no longer."""
    run: SessionRun | None = None
    """What it gave."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Why it could not run at all, if that is no matter of the session."""
    is_elsewhere: bool = False
    """It runs on a cluster."""
    is_over: bool = False
    """Its thread has ended, and that was taken note of."""
    _live: Live | None = None
    _executor: Executor | None = None
    _thread: threading.Thread | None = None

    @property
    def session(self) -> str:
        """Its name."""
        return self.job.session

    @property
    def is_waiting(self) -> bool:
        """Whether it has not been started."""
        return self._thread is None

    def start(
        self,
        start: Callable[[SessionJob], Process],
        watch: SessionObserver,
        ended: Ended,
        checkpoints: Callable[[Hold], RunCheckpoints | None],
    ) -> None:
        """Run it here.

        start: makes its process; ended: called from its thread when everything is over. checkpoints: gives
        what it goes on from and adds to, and is handed what is to be told of processes.
        """
        live = self._live = Live(start)
        self._begin(lambda: run_session(self.job, watch, live.start, checkpoints(live.hold)), ended)

    def start_elsewhere(
        self, context: SiteContext, folder: Path, workers: int, watch: SessionObserver, ended: Ended
    ) -> None:
        """Run it on the cluster that the site names."""
        self.is_elsewhere = True
        self._begin(lambda: self._elsewhere(context, folder, workers, watch), ended)

    def cancel(self) -> None:
        """End its processes; its thread follows. From any thread."""
        self.cancelled = True
        live, executor = self._live, self._executor
        if live is not None:
            live.stop()
        if executor is not None:
            executor.shutdown(cancel_futures=True)

    def join(self, timeout_s: float) -> None:
        """Wait for its thread."""
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
            # an internal error: the page says so, and the preview goes on
            self.run = not_started(self.job, f"{type(error).__name__}: {error}")
        finally:
            ended(self)

    def _elsewhere(
        self, context: SiteContext, folder: Path, workers: int, watch: SessionObserver
    ) -> SessionRun:
        with cluster_of(context, folder) as cluster:
            if cluster is None:
                return not_started(self.job, "the site names no cluster")
            if cluster.is_elsewhere:
                cluster.unmet(self.job.needs)  # so it knows which workers are suitable
            executor = self._executor = cluster.executor([self.job], workers)
            if self.cancelled:
                return not_started(self.job, "it was broken off before it began")
            running = run_sessions([self.job], workers=1, watch=watch, executor=executor)
            with closing(running):
                return next(running)


Ended = Callable[[SessionTask], None]
