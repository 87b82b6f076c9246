"""The worker of a Dask cluster, as seen by a task of ours that runs on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# What Dask calls a task that goes on, and a worker that does: one without scheduler closes.
_RUNNING = frozenset({"executing", "long-running"})
_WORKING = frozenset({"running", "paused", "closing_gracefully"})


@dataclass(frozen=True, slots=True)
class WorkerTask:
    """The task that asks."""

    worker: Any
    key: str

    def is_wanted(self) -> bool:
        """Whether somebody waits for its result."""
        task = self.worker.state.tasks.get(self.key)
        return self.worker.status.name in _WORKING and task is not None and task.state in _RUNNING


def this_task() -> WorkerTask:
    """To be called in the thread of the task."""
    from distributed import get_worker

    worker = get_worker()
    return WorkerTask(worker, worker.get_current_task())
