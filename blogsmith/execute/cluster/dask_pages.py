"""The workers of a Dask cluster as an executor for pages, which need no files of the site there."""

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
    dask_installed,
    start_cluster,
)


class PageCluster:
    """A cluster while a build needs it."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._executor: Executor = client.get_executor(pure=False, retries=0)

    @property
    def threads(self) -> int:
        """How many calls run at once; at least one."""
        workers: Mapping[str, Any] = self._client.scheduler_info(n_workers=-1)["workers"]
        return sum(worker["nthreads"] for worker in workers.values()) or 1

    def submitter(self, function: Callable[[Any, list[Any]], Any], state: Any) -> Callable[[list[Any]], Any]:
        """Return what calls `function(state, tasks)` on a worker; each worker is sent the state once.

        Once the scheduler is gone, each call is cancelled.
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
    """Give the cluster that a site names, or one on this machine that ends here. Raises ClusterError.

    temporary: folder for files of workers that are started here; workers: how many these are.
    check: what must hold on workers elsewhere besides the version; a function of ours may ask.
    """
    with ExitStack() as stack:
        stack.enter_context(dask_installed())
        if settings.scheduler:
            client = stack.enter_context(connect(settings.scheduler))
            hint = "workers need the same blogsmith, Python and packages"
            for one in (VERSION_CHECK, check):
                check_workers(client, settings.scheduler, [one], "make pages", hint)
        else:
            client = stack.enter_context(start_cluster(workers, temporary))
        yield PageCluster(client)
