"""Store of the checkpoints (saved processes) of one builder's sessions. It decides which are made and which
are removed.

A checkpoint is made if this takes much less time than running the session up to that point. If there are too
many checkpoints or they use too much memory, the least recently used ones are removed. Of equally old ones,
the one that saves the least time is removed first.
"""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...base.storage.stamps import read_stamp
from .checkpoints import Checkpoint, ResumedWorker, SessionProgress
from .engine import WORKER
from .jobs import CellStep, SessionJob, Step
from .kept_checkpoints import KeptCheckpoints
from .process import Process
from .reaper import MARK_NAME
from .session import start_request

MIN_SAVED_S = 0.2
"""Minimum time in seconds that a checkpoint must save."""
COST_FACTOR = 25
"""Minimum value of this ratio: time that a checkpoint saves, divided by the time to make it."""
MAX_CHECKPOINTS = 24
"""Maximum number of checkpoints."""
MAX_BYTES = 2 * 1024**3
"""Maximum memory of all checkpoints in bytes; `MEMORY_SHARE` of the machine's memory is a further limit."""
MEMORY_SHARE = 1 / 8

Hold = Callable[[Process], Process]
Objection = Callable[[SessionProgress], str]
"""Function that returns, as a message, why no checkpoint may be made in a state of the session; empty if one
may."""


@dataclass(slots=True, eq=False)
class _StoredCheckpoint:
    checkpoint: Checkpoint
    key: str
    post: str
    saves_s: float
    """Time in seconds to run the session from the previous checkpoint to this one."""
    used: int
    """Time of the last use, counted in runs of sessions: the number of the run that used the checkpoint."""


class CheckpointStore:
    """Set of checkpoints. Its methods may be called from several threads."""

    def __init__(
        self,
        *,
        least_s: float = MIN_SAVED_S,
        cost_factor: float = COST_FACTOR,
        most: int = MAX_CHECKPOINTS,
        max_bytes: int | None = None,
    ) -> None:
        self._least_s, self._cost_factor, self._most = least_s, cost_factor, most
        self.max_bytes = _share_of_memory() if max_bytes is None else max_bytes
        self._lock = threading.Lock()
        self._kept: list[_StoredCheckpoint] = []
        self._runs = 0
        self._closed = False

    def session(
        self,
        job: SessionJob,
        declared: Mapping[int, object],
        origin: str,
        hold: Hold,
        *,
        kept: KeptCheckpoints | None = None,
        objection: Objection = lambda progress: "",
    ) -> RunCheckpoints | None:
        """Return the checkpoints for a run of a session, or None if the session cannot have any.

        declared, origin: as in `prefix_keys`. hold: called with each worker that resumes from a checkpoint.
        kept: checkpoints of earlier builders, which may be used too. objection: says why no checkpoint may be
        made.
        """
        if sys.platform != "linux" or job.engine != WORKER or job.cuda:
            return None
        keys = prefix_keys(job, start_request(job, Path()), declared, origin)
        return RunCheckpoints(self, keys, str(job.post), hold, kept, objection)

    def is_worthwhile(self, seconds: float, cost_s: float) -> bool:
        """Return whether to make a checkpoint. seconds: time that it saves. cost_s: seconds to make it."""
        return seconds >= max(self._least_s, self._cost_factor * cost_s)

    def find(self, keys: Iterable[str]) -> list[Checkpoint]:
        """Return the checkpoints with one of these keys, the latest step first. Mark them as used."""
        wanted = set(keys)
        with self._lock:
            self._runs += 1
            found = [kept for kept in self._kept if kept.key in wanted]
            for kept in found:
                kept.used = self._runs
        return [kept.checkpoint for kept in sorted(found, key=lambda kept: -kept.checkpoint.progress.steps)]

    def add(self, checkpoint: Checkpoint, key: str, post: str, saves_s: float) -> None:
        """Add a checkpoint. Close it if the store is closed or already has one with this key. Others may be
        removed to make room."""
        with self._lock:
            is_known = any(kept.key == key for kept in self._kept)
            if not (is_known or self._closed):
                self._kept.append(_StoredCheckpoint(checkpoint, key, post, saves_s, self._runs))
        if is_known or self._closed:
            checkpoint.close()
        self.trim()

    def take_all(self) -> list[tuple[str, Checkpoint]]:
        """Remove all checkpoints from the store without closing them. Return each with its key."""
        with self._lock:
            taken, self._kept = self._kept, []
        return [(one.key, one.checkpoint) for one in taken]

    def discard(self, checkpoint: Checkpoint) -> None:
        self._remove(lambda kept: kept.checkpoint is checkpoint)

    def drop(self, post: str) -> None:
        """Remove the checkpoints of a post that is gone or must run completely."""
        self._remove(lambda kept: kept.post == post)

    def clear(self) -> None:
        """Remove all checkpoints. Used when the code of the site may not run any more."""
        self._remove(lambda kept: True)

    def close(self) -> None:
        """Remove all checkpoints and accept no more."""
        with self._lock:
            self._closed = True
        self.clear()

    def trim(self) -> None:
        """Remove checkpoints until the limits are met."""
        while victim := self._find_removable():
            self.discard(victim.checkpoint)

    def _find_removable(self) -> _StoredCheckpoint | None:
        with self._lock:
            kept = list(self._kept)
        if len(kept) <= self._most and self._have_room(kept):
            return None
        return min(kept, key=lambda one: (one.used, one.saves_s, one.checkpoint.progress.steps))

    def _have_room(self, kept: Sequence[_StoredCheckpoint]) -> bool:
        return any(
            sum(one.checkpoint.memory_bytes(shared=shared) for one in kept) <= self.max_bytes
            for shared in (False, True)
        )

    def _remove(self, is_meant: Callable[[_StoredCheckpoint], bool]) -> None:
        with self._lock:
            gone = [kept for kept in self._kept if is_meant(kept)]
            self._kept = [kept for kept in self._kept if kept not in gone]
            for one in gone:
                self._credit_next(one)
        for one in gone:
            one.checkpoint.close()

    def _credit_next(self, gone: _StoredCheckpoint) -> None:
        """Add the time that a removed checkpoint saved to the next checkpoint of the same run, which now
        saves it."""
        steps = gone.checkpoint.progress.steps
        behind = [
            one
            for one in self._kept
            if one.post == gone.post and one.used == gone.used and one.checkpoint.progress.steps > steps
        ]
        if behind:
            min(behind, key=lambda one: one.checkpoint.progress.steps).saves_s += gone.saves_s


@dataclass(slots=True, eq=False)
class RunCheckpoints:
    """Checkpoints of one run of a session; implements `SessionCheckpoints`."""

    _store: CheckpointStore
    _keys: tuple[str, ...]
    """Key before the first step of the session, then a key after each step."""
    _post: str
    _hold: Hold
    _waiting: KeptCheckpoints | None
    _objection: Objection
    _cost_s: float = field(default=0.0)

    def resume(self, stack: ExitStack) -> ResumedWorker | None:
        """Return a worker that resumes from the last valid checkpoint, or None if there is none."""
        for checkpoint in self._store.find(self._keys):
            try:
                resumed = checkpoint.resume(stack)
            except TimeoutError:
                return None
            if resumed is not None:
                self._hold(resumed.process)
                return resumed
            self._store.discard(checkpoint)
        resumed = self._waiting.resume(self._keys, stack) if self._waiting else None
        return resumed and replace(resumed, process=self._hold(resumed.process))

    @property
    def max_bytes(self) -> int:
        """Maximum memory of all checkpoints together."""
        return self._store.max_bytes

    def is_due(self, seconds: float) -> bool:
        """Return whether to make a checkpoint now. seconds: time since the last one."""
        return self._store.is_worthwhile(seconds, self._cost_s)

    def objection(self, progress: SessionProgress) -> str:
        """Return why no checkpoint of this state may be made, as a message; empty if it may."""
        return self._objection(progress)

    def add(self, checkpoint: Checkpoint, seconds: float, cost_s: float) -> None:
        self._cost_s = cost_s
        self._store.add(checkpoint, self._keys[checkpoint.progress.steps], self._post, seconds)


def _share_of_memory() -> int:
    names = os.sysconf_names if hasattr(os, "sysconf_names") else {}
    if "SC_PHYS_PAGES" not in names:
        return 0
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(MAX_BYTES, int(memory * MEMORY_SHARE))


# Keys of the first steps of sessions: two jobs with the same key have executed the same steps so far.


_SESSION_VARIABLES = frozenset((MARK_NAME, "TMPDIR"))
"""Names of environment variables whose values differ in each session."""


def prefix_keys(
    job: SessionJob, start: Mapping[str, object], declared: Mapping[int, object], origin: str
) -> tuple[str, ...]:
    """Return the key before the first step of a job, and the key after each step.

    Keys depend on the exact code, because tracebacks show it. They do not depend on files that the code
    reads, because these are unknown before the code runs.

    start: request that starts the session, without its folder. declared: number of a cell in the session →
    state of the files that the cell declares; 0 → state of the files that the page declares. origin: date of
    the records, and anything else that must be unchanged.
    """
    interpreter = [(str(path), read_stamp(path)) for path in _interpreter_files(Path(job.python))]
    environment = sorted(item for item in job.env.items() if item[0] not in _SESSION_VARIABLES)
    parts = (origin, str(job.post), job.session, interpreter, environment, sorted(start.items()))
    key = _digest("", repr((*parts, declared.get(0))))
    keys = [key]
    for step in job.steps:
        own = declared.get(step.number) if isinstance(step, CellStep) else None
        key = _digest(key, repr((_without_message_fields(step), own)))
        keys.append(key)
    return tuple(keys)


def _interpreter_files(python: Path) -> Iterator[Path]:
    """Yield the files that change when Python or the environment is reinstalled."""
    yield python
    yield python.parent.parent / "pyvenv.cfg"


def _without_message_fields(step: Step) -> Step:
    """Return the step without the values that only affect messages."""
    return replace(step, name="", first_line=1, file="") if isinstance(step, CellStep) else step


def _digest(before: str, text: str) -> str:
    return hashlib.sha256(f"{before} {text}".encode("utf-8", "surrogatepass")).hexdigest()
