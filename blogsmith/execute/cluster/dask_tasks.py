"""Functions called on the workers of a Dask cluster, with data that each worker is sent once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from ...config.schema import Dask
from .dask_connection import (
    VERSION_CHECK,
    WorkerCheck,
    check_workers,
    connect,
    dask_installed,
    start_cluster,
)


class DaskTasks:
    """The workers of a cluster while a build needs them; a context manager. Raises ClusterError."""

    def __init__(self, settings: Dask, temporary: Path, workers: int, check: WorkerCheck) -> None:
        """temporary: folder for files of workers that are started here; workers: how many these are.

        check: what must hold on workers elsewhere besides the version; a function of ours may ask.
        """
        self._settings = settings
        self._temporary = temporary
        self._workers = workers
        self._check = check
        self._stack = ExitStack()
        self._client: Any = None

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(dask_installed())
            scheduler = self._settings.scheduler
            if scheduler:
                self._client = stack.enter_context(connect(scheduler))
                hint = "workers need the same blogsmith, Python and packages"
                for check in (VERSION_CHECK, self._check):
                    check_workers(self._client, scheduler, [check], "make pages", hint)
            else:
                self._client = stack.enter_context(start_cluster(self._workers, self._temporary))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    @property
    def threads(self) -> int:
        """How many tasks run at once; at least one."""
        workers: Mapping[str, Any] = self._client.scheduler_info(n_workers=-1)["workers"]
        return sum(worker["nthreads"] for worker in workers.values()) or 1

    @property
    def is_connected(self) -> bool:
        """Whether the scheduler is there; once it is gone, calls are never answered."""
        return bool(self._client.status == "running")

    def send(self, data: bytes) -> Any:
        """Data for every worker, named by its digest; what stands for it in calls."""
        return self._client.scatter(data, broadcast=True, hash=True)

    def call(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], done: Callable[[Any], object]
    ) -> Any:
        """Call a function somewhere. done: is called in a thread with what `result_of` reads."""
        task = self._client.submit(function, *arguments, pure=False)
        task.add_done_callback(done)
        return task


class LostTask(Exception):
    """A worker or the scheduler is gone; the text says it."""


def result_of(task: Any) -> Any:
    """What a call has given; LostTask if nothing comes of it any more."""
    from distributed import KilledWorker

    if task.status == "cancelled":
        raise LostTask("the connection to the Dask scheduler is lost")
    try:
        return task.result()
    except KilledWorker as error:
        raise LostTask("the Dask worker that ran it died") from error
