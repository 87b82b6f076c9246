"""Processes that are started fresh: for systems that do not copy a process without harm.

Each takes a second of the processor until it makes its first page, so they pay for more pages than copies do.
"""

from __future__ import annotations

import queue
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial

from .process_pool import ProcessPool
from .spawned_process import SpawnedProcess
from .spawned_worker import WorkerStart

_LOOK_S = 0.5
"""Between two looks at whether the author has broken off: not every system ends a wait for that."""


class SpawnPool(ProcessPool):
    """Fresh processes of this machine."""

    def __init__(self, count: int, worker: str, state: bytes) -> None:
        """worker, state: as in `WorkerStart`."""
        self._answers: queue.SimpleQueue[tuple[int, bytes | None]] = queue.SimpleQueue()
        self._processes: list[SpawnedProcess] = []
        self._gone: set[int] = set()
        start = WorkerStart(worker, state)
        try:
            for process in range(count):
                self._processes.append(SpawnedProcess(start, partial(self._enqueue, process)))
        except BaseException:
            self.close(is_broken_off=True)
            raise

    def __len__(self) -> int:
        return len(self._processes)

    @property
    def pids(self) -> list[int]:
        """Numbers of the processes."""
        return [process.pid for process in self._processes]

    def close(self, *, is_broken_off: bool) -> None:
        """As in `ProcessPool`."""
        for process in self._processes:
            process.close(at_once=is_broken_off)

    def _enqueue(self, process: int, answer: bytes | None) -> None:
        self._answers.put((process, answer))

    def _send(self, process: int, request: bytes) -> None:
        self._processes[process].send(request)

    def _receive(self, busy: Sequence[int]) -> Iterator[tuple[int, bytes | None]]:
        # one that dies while it has nothing to do is noticed later
        while self._gone.isdisjoint(busy):
            with suppress(queue.Empty):
                process, answer = self._answers.get(timeout=_LOOK_S)
                if answer is not None:
                    yield process, answer
                    return
                self._gone.add(process)
        yield min(self._gone.intersection(busy)), None

    def _ending(self, process: int) -> str:
        return self._processes[process].ending()
