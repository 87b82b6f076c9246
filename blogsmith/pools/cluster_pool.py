"""Pool on the workers of a Dask cluster. Each call starts a fresh process on the worker's machine.

A thread of the worker is not enough: only the main thread of a process gets the alarm signals that stop
endless work. Also, a page that kills its process must not kill the worker.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import sys
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from ..base.diagnostics.extras import DISTRIBUTION
from ..config.schema import Dask
from ..execute.cluster.dask_connection import WorkerCheck, open_cluster
from ..execute.cluster.dask_worker import this_task
from ..execute.session.working_folder import working_folder
from ..project.bundled_folders import bundled_path, package_folder
from .pool import MapTasks, ProcessPool, TaskRunnerFactory, run_calls

_NAME = re.compile(r"[A-Za-z0-9._-]+")


def program_contents(distribution: str) -> str:
    """Return a digest that is equal on two machines if both render the same pages. distribution: name of our
    package."""
    total = blake2b(repr(sys.version_info).encode(), digest_size=16)
    for line in _versions(distribution):
        total.update(line.encode())
    for folder in (package_folder(), bundled_path("plugins")):
        for name, data in _files(Path(folder)):
            total.update(f"{name}\0{len(data)}\0".encode())
            total.update(data)
    return total.hexdigest()


def _versions(distribution: str) -> Iterator[str]:
    try:
        needed = requires(distribution) or []
    except PackageNotFoundError:
        return
    for requirement in sorted(needed):
        found = _NAME.match(requirement)
        if found and "extra ==" not in requirement:
            try:
                yield f"{found[0]} {version(found[0])}\n"
            except PackageNotFoundError:
                yield f"{found[0]}\n"


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (relative path, content) of each file, sorted."""
    for path, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in ("__pycache__", "node_modules"))
        for name in sorted(names):
            file = Path(path, name)
            yield file.relative_to(folder).as_posix(), file.read_bytes()


_PER_CALL = 50
"""Number of tasks in one call. Starting the process of a call takes as long as rendering 25 pages."""


@contextmanager
def open_cluster_pool(settings: Dask, workers: int, make: TaskRunnerFactory) -> Iterator[MapTasks]:
    """Yield a function that maps tasks to results. If a worker or the scheduler is lost, the results of its
    tasks are None.

    workers: number of workers to start, used if the settings name no cluster. make: see `TaskRunnerFactory`.
    Raises `ClusterError` if no cluster can be used.
    """
    with (
        working_folder() as folder,
        open_cluster(settings, folder, workers, _program_check()) as cluster,
    ):
        submit = cluster.submitter(run_on_worker, make)
        yield lambda tasks: run_calls(submit, enumerate(tasks), _PER_CALL, cluster.threads)


def run_on_worker(make: TaskRunnerFactory, tasks: list[Any]) -> list[Any]:
    """Run tasks in a new process on the machine of a worker. Return their results as `run_tasks` does.

    Raises `ProcessDiedError`. Its `task` is an index into `tasks`.
    """
    # Processes of Dask are daemons, which may not start processes. Clear the flag: Dask sets it so that a
    # killed worker leaves no child processes, and ours end with their parent anyway.
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
    return program_contents, DISTRIBUTION, expected, "different blogsmith, Python or packages"
