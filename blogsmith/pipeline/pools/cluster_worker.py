"""Runs on the workers of a Dask cluster: hands the requests of a task to a process that is started there.

A process and not the thread of the task: only the main thread of a process hears the alarms by which work
that does not end is ended, and a page that ends its process does not end the worker.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock

from ...execute.cluster.dask_worker import this_task
from .spawned_process import SpawnedProcess
from .spawned_worker import WorkerStart

_IDLE_S = 20.0
"""After which a process ends that gets no more requests: its build is over."""
_LOOK_S = 0.5
"""Between two looks at whether a task is still wanted."""
_IDLE = "ended with status 0"


@dataclass(frozen=True, slots=True)
class Batch:
    """What one task is to do."""

    worker: str
    """As in `WorkerStart`."""
    keys: tuple[str, ...]
    """Names of what every process is to know: the state of the worker, then requests for all."""
    requests: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class DiedThere:
    """A process ended while it worked on a request of a task."""

    request: int
    """Its number in the task."""
    ending: str
    """As in `ProcessDied`."""


def answer_there(batch: Batch, sent: Sequence[bytes]) -> list[bytes] | DiedThere:
    """The answers to the requests of a task. sent: what the keys of the batch name."""
    task = this_task()
    kept = task.keep(_KeptProcesses)
    process = kept.acquire(batch.keys[0])
    found = process.answer(batch.requests, sent, task.is_wanted) if process else None
    if process is None or (isinstance(found, DiedThere) and found == DiedThere(0, _IDLE)):
        # it had waited too long
        process = _KeptProcess(WorkerStart(batch.worker, sent[0], _IDLE_S))
        found = process.answer(batch.requests, sent, task.is_wanted)
    if isinstance(found, list):
        kept.release(batch.keys[0], process)
        return found
    process.close()
    return found or []


class _KeptProcesses:
    """Processes of one worker that wait for more."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._idle: list[tuple[str, _KeptProcess]] = []

    def acquire(self, key: str) -> _KeptProcess | None:
        with self._lock:
            found = next((one for one in self._idle if one[0] == key), None)
            if found:
                self._idle.remove(found)
        return found[1] if found else None

    def release(self, key: str, process: _KeptProcess) -> None:
        with self._lock:
            gone = [one for one in self._idle if one[1].is_over]
            self._idle = [one for one in self._idle if not one[1].is_over]
            self._idle.append((key, process))
        for _, over in gone:
            over.close()


class _KeptProcess:
    """One process with what it was told."""

    def __init__(self, start: WorkerStart) -> None:
        self._answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._process = SpawnedProcess(start, self._answers.put)
        self._known = 1
        """How much of what all are to know it has been sent."""

    @property
    def is_over(self) -> bool:
        """Whether it has ended, idle as it was."""
        return not self._answers.empty()

    def close(self) -> None:
        self._process.close(at_once=True)

    def answer(
        self, requests: Sequence[bytes], sent: Sequence[bytes], is_wanted: Callable[[], bool]
    ) -> list[bytes] | DiedThere | None:
        """The answers to requests; None if nobody wants them any more."""
        news, self._known = sent[self._known :], len(sent)
        for request in (*news, *requests):
            self._process.send(request)
        found: list[bytes] = []
        while len(found) < len(news) + len(requests):
            try:
                answer = self._answers.get(timeout=_LOOK_S)
            except queue.Empty:
                if is_wanted():
                    continue
                return None
            if answer is None:
                return DiedThere(max(0, len(found) - len(news)), self._process.ending())
            found.append(answer)
        return found[len(news) :]
