"""Processes that the workers of a Dask cluster start fresh, each on its machine.

A task of the cluster is some requests. What is sent to all processes goes to each worker once, named by its
digest, and from there to its process, which waits for the next task a while. A page that ends its process is
named; pages of a worker that is lost are made by the builder itself.
"""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from typing import Any

from ...base.diagnostics.extras import DISTRIBUTION
from ...config.schema import Dask
from ...execute.cluster.dask_connection import WorkerCheck
from ...execute.cluster.dask_tasks import DaskTasks, LostTask, result_of
from ...execute.session.working_folder import working_folder
from ...project.program_contents import program_contents
from .cluster_worker import Batch, DiedThere, answer_there
from .process_pool import AHEAD, PoolAnswer, PoolJob, ProcessDied, WorkerPool, unpack_answer

_BATCH = 20
"""Requests of one task: half a second of work, beside which some milliseconds of Dask's do not count."""
_LOOK_S = 0.5
"""Between two looks at whether the author has broken off."""


class ClusterPool(WorkerPool):
    """Fresh processes of the machines of a cluster; each thread of a worker counts as one."""

    def __init__(self, settings: Dask, workers: int, job: PoolJob) -> None:
        """workers: of a cluster that is started here.

        ClusterError if none can be used; NotStorable as of `job`.
        """
        self._worker = job.name
        self._done: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self._tasks: dict[int, Any] = {}
        """First request → a task that is not over; it is cancelled when nobody holds it."""
        state = job.state(is_elsewhere=bool(settings.scheduler))
        with ExitStack() as stack:
            folder = stack.enter_context(working_folder())
            self._cluster = stack.enter_context(DaskTasks(settings, folder, workers, _program_check()))
            self._sent = [self._cluster.send(state)]
            """What every process is to know, as it stands in tasks."""
            self._threads = self._cluster.threads
            self._stack = stack.pop_all()

    def __len__(self) -> int:
        return self._threads

    def close(self, *, is_broken_off: bool) -> None:
        """As in `WorkerPool`."""
        self._tasks.clear()
        self._stack.close()

    def share(self, request: bytes) -> None:
        """As in `WorkerPool`: a process takes it before the next request that it gets."""
        if self._cluster.is_connected:
            self._sent.append(self._cluster.send(request))

    def map(self, requests: Sequence[bytes], process_of: Sequence[int] | None = None) -> Iterator[PoolAnswer]:
        """As in `WorkerPool`; any process gets any request."""
        waiting = deque(range(0, len(requests), _BATCH))
        while (waiting or self._tasks) and self._cluster.is_connected:
            while waiting and len(self._tasks) < self._threads * AHEAD:
                self._start(waiting.popleft(), requests)
            with suppress(queue.Empty):
                first, task = self._done.get(timeout=_LOOK_S)
                del self._tasks[first]
                yield from _answers(range(first, min(first + _BATCH, len(requests))), task)
        for first in (*self._tasks, *waiting):
            yield from _unmade(range(first, min(first + _BATCH, len(requests))))
        self._tasks.clear()

    def _start(self, first: int, requests: Sequence[bytes]) -> None:
        batch = Batch(self._worker, tuple(one.key for one in self._sent), requests[first : first + _BATCH])
        self._tasks[first] = self._cluster.call(
            answer_there, (batch, list(self._sent)), lambda task: self._done.put((first, task))
        )


def _answers(requests: range, task: Any) -> Iterator[PoolAnswer]:
    try:
        found = result_of(task)
    except LostTask:
        yield from _unmade(requests)
        return
    if isinstance(found, DiedThere):
        raise ProcessDied(requests[found.request], found.ending)
    for number, data in zip(requests, found, strict=True):
        yield PoolAnswer(number, 0, unpack_answer(data))


def _unmade(requests: range) -> Iterator[PoolAnswer]:
    """Nobody has answered these: the builder makes what they ask for."""
    for number in requests:
        yield PoolAnswer(number, 0, None)


def _program_check() -> WorkerCheck:
    expected = program_contents(DISTRIBUTION)
    return program_contents, DISTRIBUTION, expected, "has another blogsmith, Python or package"
