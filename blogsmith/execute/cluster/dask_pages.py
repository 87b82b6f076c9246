"""Workers of a Dask cluster as an executor for pages. They need no files of the site."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Executor, Future
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from ...config.schema import Dask
from .dask_connection import (
    VERSION_CHECK,
    WorkerCheck,
    check_workers,
    connect,
    require_dask,
    start_cluster,
)


class PageCluster:
    """Cluster that renders pages for one build."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._executor: Executor = client.get_executor(pure=False, retries=0)

    @property
    def threads(self) -> int:
        """Number of calls that run in parallel; at least 1."""
        workers: Mapping[str, Any] = self._client.scheduler_info(n_workers=-1)["workers"]
        return sum(worker["nthreads"] for worker in workers.values()) or 1

    def submitter(self, function: Callable[[Any, list[Any]], Any], state: Any) -> Callable[[list[Any]], Any]:
        """Return a function that calls `function(state, tasks)` on a worker.

        Each worker receives the state once.

        If the scheduler is gone, each call is cancelled.
        """
        sent = self._client.scatter([state], broadcast=True)[0]

        def submit(tasks: list[Any]) -> Future[Any]:
            if self._client.status == "running":
                return self._executor.submit(function, sent, tasks)
            lost: Future[Any] = Future()
            lost.set_exception(CancelledError("the connection to the Dask scheduler is lost"))
            return lost

        return submit


@contextmanager
def open_cluster(settings: Dask, temporary: Path, workers: int, check: WorkerCheck) -> Iterator[PageCluster]:
    """Yield the cluster that a site names, or one on this machine that ends with the context.

    Raises `ClusterError`.

    temporary: folder for files of workers that are started here.
    workers: number of workers to start here.
    check: check for remote workers, in addition to the version. It may call a function of blogsmith.
    """
    with ExitStack() as stack:
        stack.enter_context(require_dask())
        if settings.scheduler:
            client = stack.enter_context(connect(settings.scheduler))
            hint = "install the same blogsmith, Python and packages on all workers"
            for one in (VERSION_CHECK, check):
                check_workers(client, settings.scheduler, [one], "render pages", hint)
        else:
            client = stack.enter_context(start_cluster(workers, temporary))
        yield PageCluster(client)
