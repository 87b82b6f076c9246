"""Worker of a Dask cluster, as seen by a task that runs on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# Dask's states of a running task and of a working worker. A worker without scheduler closes.
_RUNNING = frozenset({"executing", "long-running"})
_WORKING = frozenset({"running", "paused", "closing_gracefully"})


@dataclass(frozen=True, slots=True)
class WorkerTask:
    """Task that is running on a worker."""

    worker: Any
    key: str

    def is_wanted(self) -> bool:
        """Return whether a client still waits for the result."""
        task = self.worker.state.tasks.get(self.key)
        return self.worker.status.name in _WORKING and task is not None and task.state in _RUNNING


def this_task() -> WorkerTask:
    """Return the current task. Call this in the thread of the task."""
    from distributed import get_worker

    worker = get_worker()
    return WorkerTask(worker, worker.get_current_task())
