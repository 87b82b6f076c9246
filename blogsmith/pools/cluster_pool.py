"""Tasks on the workers of a Dask cluster, each of which starts a fresh process on its machine.

A process and not the thread of Dask: only the main thread of a process hears the alarms by which work that
does not end is ended, and a page that ends its process does not end the worker.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

from ..base.diagnostics.extras import DISTRIBUTION
from ..config.schema import Dask
from ..execute.cluster.dask_connection import WorkerCheck
from ..execute.cluster.dask_pages import open_cluster
from ..execute.cluster.dask_worker import this_task
from ..execute.session.working_folder import working_folder
from ..project.program_contents import program_contents
from .pool import MakeAnswer, MapTasks, ProcessPool, run_calls

_PER_CALL = 50
"""Tasks of one call: a process starts for it, which takes as long as 25 pages."""


@contextmanager
def open_cluster_pool(settings: Dask, workers: int, make: MakeAnswer) -> Iterator[MapTasks]:
    """Give what works on tasks; results of a worker or scheduler that is lost are None.

    workers: of a cluster that is started here. ClusterError if none can be used.
    """
    with (
        working_folder() as folder,
        open_cluster(settings, folder, workers, _program_check()) as cluster,
    ):
        submit = cluster.submitter(answer_there, make)
        yield lambda tasks: run_calls(submit, enumerate(tasks), _PER_CALL, cluster.threads)


def answer_there(make: MakeAnswer, tasks: list[Any]) -> list[Any]:
    """On a worker: the results of tasks, as `answer_tasks` gives them. ProcessDied names one of `tasks`."""
    # Dask's own processes may start none by default: it would kill a worker without ending these
    multiprocessing.current_process().daemon = False
    task = this_task()

    def look() -> None:
        if not task.is_wanted():
            raise CancelledError

    with ProcessPool("spawn", 1, make, look) as pool:
        found = dict(pool.map(tasks))
    return [found[number] for number in range(len(tasks))]


def _program_check() -> WorkerCheck:
    expected = program_contents(DISTRIBUTION)
    return program_contents, DISTRIBUTION, expected, "has another blogsmith, Python or package"
