"""Sessions on the workers of a Dask cluster: one that exists, or one on this machine while a command runs.

The modules `dask_…` alone know Dask, and import it when a cluster is asked for. What runs on a worker is
`run_there`, which starts the process of the session as a builder would; so faults of cells end there. A task
whose client is gone is cancelled by the scheduler, and its worker sees that: so sessions end with their
builder, however that ends.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from ...config.schema import Dask
from ...model.cells import Need
from ...model.results import SessionRun
from ..session.jobs import SessionJob
from .dask_connection import (
    VERSION_CHECK,
    WorkerCheck,
    check_workers,
    connect,
    dask_installed,
    first_line,
    start_cluster,
)
from .dask_executor import DaskExecutor
from .dask_worker import this_task
from .remote import RemoteEnvironment, Run, run_there
from .remote_needs import NeedsVerdict, WorkerResources, judge, questions, unmet_there


class DaskCluster:
    """The workers of one run; a context manager. Raises ClusterError."""

    def __init__(self, settings: Dask, terms: RemoteEnvironment, root: Path, temporary: Path) -> None:
        """temporary: folder for files of workers that are started here."""
        self._settings = settings
        self._terms = terms
        self._root = root
        self._temporary = temporary
        self._judged = NeedsVerdict()
        self._client: _Client | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(dask_installed())
            if self.is_elsewhere:
                connected = stack.enter_context(connect(self._settings.scheduler))
                self._client = _Client(connected, self._terms)
                _check(connected, self._settings.scheduler, self._root, self._terms.python)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    @property
    def is_elsewhere(self) -> bool:
        """Whether it exists without us; if not, its workers are as this machine."""
        return bool(self._settings.scheduler)

    def unmet(self, needs: Sequence[Need]) -> Mapping[Need, str]:
        """Each need that no worker meets → why, in words. For a cluster elsewhere."""
        assert self._client is not None, "a cluster on this machine starts when its work is known"
        offers, cuda = self._client.offers(), self._settings.cuda
        answers = self._client.answers(questions(needs, offers, cuda))
        self._judged = judge(needs, offers, cuda, answers)
        return self._judged.unmet

    def executor(self, jobs: Sequence[SessionJob], workers: int) -> DaskExecutor:
        """What runs the jobs; a cluster on this machine starts now. workers: the most it gets."""
        cuda = self._settings.cuda
        if self._client is None:
            started = start_cluster(max(1, min(workers, len(jobs))), self._temporary)
            self._client = _Client(self._stack.enter_context(started), self._terms)
            if any(job.cuda for job in jobs):
                # one worker: sessions that share a device would spoil each other's times and memory
                self._client.offer(cuda, min(self._client.offers()))
        one_each = not self.is_elsewhere
        made = DaskExecutor(self._client, self._judged, cuda, one_each=one_each)
        return self._stack.enter_context(made)


class _Client:
    """A client of Dask, in our terms."""

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

    def offers(self) -> dict[str, WorkerResources]:
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        return {address: WorkerResources(w["host"], dict(w["resources"])) for address, w in workers.items()}

    def why(self, error: BaseException) -> str:
        from distributed import KilledWorker

        if isinstance(error, KilledWorker):
            return "the Dask worker that ran it died"
        return f"its Dask worker could not run it: {type(error).__name__}: {first_line(error)}"

    def answers(self, asked: Mapping[str, tuple[Need, ...]]) -> Mapping[str, Any]:
        """What the asked workers do not meet; an exception of those that cannot say."""
        if not asked:
            return {}
        found: Mapping[str, Any] = self._client.run(
            _unmet_at, asked, self._terms, workers=list(asked), on_error="return"
        )
        return found

    def offer(self, resources: Mapping[str, float], address: str) -> None:
        """Let a worker offer resources."""
        self._client.run(_set_resources, dict(resources), workers=[address])


def _check(client: Any, scheduler: str, root: Path, python: str) -> None:
    site = str(root / "blogsmith.yaml")
    checks: list[WorkerCheck] = [VERSION_CHECK, (os.path.isfile, site, True, f"has no {site}")]
    if python:
        checks.append((shutil.which, python, python, f"has no Python at {python}"))
    hint = "workers need the same blogsmith, and the site at the same path"
    check_workers(client, scheduler, checks, "run sessions", hint)


def run_on_worker(run: Run, job: SessionJob, terms: RemoteEnvironment) -> SessionRun:
    """Run a session as a task of a Dask worker."""
    # workers do not hear Ctrl-C, by `start_cluster`; the sessions that they start are to
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    return run_there(run, job, terms, this_task().is_wanted)


async def _unmet_at(
    asked: Mapping[str, tuple[Need, ...]], terms: RemoteEnvironment, dask_worker: Any
) -> Mapping[Need, str]:
    return await unmet_there(asked, terms, dask_worker.address)


async def _set_resources(resources: Mapping[str, float], dask_worker: Any) -> None:
    await dask_worker.set_resources(**resources)
