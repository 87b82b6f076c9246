"""Checkpoints of the sessions of one preview: which are kept, for how long, and what they may cost.

A session is worth a checkpoint where running it up to there again takes much longer than to make one. If they
take too much memory, or are too many, those go first that were of use longest ago, and of these the ones that
save the least time.
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

from ...base.storage.stamps import stamp_at
from ...execute.session.checkpoints import Checkpoint, Resumed
from ...execute.session.engine import WORKER
from ...execute.session.jobs import CellStep, SessionJob, Step
from ...execute.session.process import Process
from ...execute.session.reaper import MARK_NAME
from ...execute.session.session import start_request

LEAST_S = 0.2
"""What takes less is not worth a checkpoint."""
COST_FACTOR = 25
"""A checkpoint saves at least so many times what it takes to make one."""
MOST = 24
"""At a time."""
MOST_BYTES = 2 * 1024**3
"""Memory of all of them, if that is no more than `MEMORY_SHARE` of the machine's."""
MEMORY_SHARE = 1 / 8

Hold = Callable[[Process], Process]


@dataclass(slots=True, eq=False)
class _Kept:
    checkpoint: Checkpoint
    key: str
    post: str
    saves_s: float
    """Running the session from the checkpoint before it to this one takes so long."""
    used: int
    """When it was of use last, in runs of sessions."""


class CheckpointStore:
    """Called from many threads."""

    def __init__(
        self,
        *,
        least_s: float = LEAST_S,
        cost_factor: float = COST_FACTOR,
        most: int = MOST,
        most_bytes: int | None = None,
    ) -> None:
        self._least_s, self._cost_factor, self._most = least_s, cost_factor, most
        self.most_bytes = _share_of_memory() if most_bytes is None else most_bytes
        self._lock = threading.Lock()
        self._kept: list[_Kept] = []
        self._runs = 0
        self._closed = False

    def session(
        self, job: SessionJob, declared: Mapping[int, object], date: str, hold: Hold
    ) -> RunCheckpoints | None:
        """What a run of a session needs of its checkpoints; None if it cannot have any.

        declared, date: as for `prefix_keys`. hold: told of each worker that goes on from one.
        """
        if sys.platform != "linux" or job.engine != WORKER or job.cuda:
            return None
        keys = prefix_keys(job, start_request(job, Path()), declared, date)
        return RunCheckpoints(self, keys, str(job.post), hold)

    def is_worth(self, seconds: float, cost_s: float) -> bool:
        """Whether a checkpoint that saves so much is to be made."""
        return seconds >= max(self._least_s, self._cost_factor * cost_s)

    def find(self, keys: Iterable[str]) -> list[Checkpoint]:
        """Those with one of these keys, the one furthest on first; they are of use now."""
        wanted = set(keys)
        with self._lock:
            self._runs += 1
            found = [kept for kept in self._kept if kept.key in wanted]
            for kept in found:
                kept.used = self._runs
        return [kept.checkpoint for kept in sorted(found, key=lambda kept: -kept.checkpoint.progress.steps)]

    def add(self, checkpoint: Checkpoint, key: str, post: str, saves_s: float) -> None:
        """One more; others may go for it."""
        with self._lock:
            is_known = any(kept.key == key for kept in self._kept)
            if not (is_known or self._closed):
                self._kept.append(_Kept(checkpoint, key, post, saves_s, self._runs))
        if is_known or self._closed:
            checkpoint.close()
        self.trim()

    def discard(self, checkpoint: Checkpoint) -> None:
        """It is of no use any more."""
        self._remove(lambda kept: kept.checkpoint is checkpoint)

    def drop(self, post: str) -> None:
        """Those of a post: it is gone, or is to run as a whole."""
        self._remove(lambda kept: kept.post == post)

    def clear(self) -> None:
        """All of them: code of the site may not run any more."""
        self._remove(lambda kept: True)

    def close(self) -> None:
        """Likewise, and keep none again."""
        with self._lock:
            self._closed = True
        self.clear()

    def trim(self) -> None:
        """Let go of what is too much."""
        while victim := self._victim():
            self.discard(victim.checkpoint)

    def _victim(self) -> _Kept | None:
        """What is to go first, as long as something has to."""
        with self._lock:
            kept = list(self._kept)
        if len(kept) <= self._most and self._have_room(kept):
            return None
        return min(kept, key=lambda one: (one.used, one.saves_s, one.checkpoint.progress.steps))

    def _have_room(self, kept: Sequence[_Kept]) -> bool:
        return any(
            sum(one.checkpoint.memory_bytes(shared=shared) for one in kept) <= self.most_bytes
            for shared in (False, True)
        )

    def _remove(self, is_meant: Callable[[_Kept], bool]) -> None:
        with self._lock:
            gone = [kept for kept in self._kept if is_meant(kept)]
            self._kept = [kept for kept in self._kept if kept not in gone]
            for one in gone:
                self._pass_on(one)
        for one in gone:
            one.checkpoint.close()

    def _pass_on(self, gone: _Kept) -> None:
        """The next one of the same run saves what this one has saved, too."""
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
    """Of one run of a session: a `SessionCheckpoints`."""

    _store: CheckpointStore
    _keys: tuple[str, ...]
    """Before the first step of the session, and behind each."""
    _post: str
    _hold: Hold
    _cost_s: float = field(default=0.0)

    def resume(self, stack: ExitStack) -> Resumed | None:
        """A worker that goes on from the last checkpoint that is still true; None if there is none."""
        for checkpoint in self._store.find(self._keys):
            try:
                resumed = checkpoint.resume(stack)
            except TimeoutError:
                return None
            if resumed is not None:
                self._hold(resumed.process)
                return resumed
            self._store.discard(checkpoint)
        return None

    @property
    def most_bytes(self) -> int:
        """Memory that all checkpoints together may take."""
        return self._store.most_bytes

    def is_due(self, seconds: float) -> bool:
        """Whether to make one."""
        return self._store.is_worth(seconds, self._cost_s)

    def add(self, checkpoint: Checkpoint, seconds: float, cost_s: float) -> None:
        """There is one more."""
        self._cost_s = cost_s
        self._store.add(checkpoint, self._keys[checkpoint.progress.steps], self._post, seconds)


def _share_of_memory() -> int:
    names = os.sysconf_names if hasattr(os, "sysconf_names") else {}
    if "SC_PHYS_PAGES" not in names:
        return 0
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(MOST_BYTES, int(memory * MEMORY_SHARE))


# Keys of the beginnings of a session: two jobs with the same key have done the same up to there.


_OWN = frozenset((MARK_NAME, "TMPDIR"))
"""Variables that every session has for itself."""


def prefix_keys(
    job: SessionJob, start: Mapping[str, object], declared: Mapping[int, object], date: str
) -> tuple[str, ...]:
    """The key before the first step of a job, and behind each of them.

    Code counts as it is written: tracebacks show it. Of files that were read nothing is in a key, since
    nobody knows them before. start: the request that starts a session, but for its folder. declared: number
    of a cell in its session → what tells states of its declared files apart; 0: of the page. date: of the
    records that are made.
    """
    interpreter = [(str(path), stamp_at(path)) for path in _interpreter_files(Path(job.python))]
    environment = sorted(item for item in job.env.items() if item[0] not in _OWN)
    parts = (date, str(job.post), job.session, interpreter, environment, sorted(start.items()))
    key = _digest("", repr((*parts, declared.get(0))))
    keys = [key]
    for step in job.steps:
        own = declared.get(step.number) if isinstance(step, CellStep) else None
        key = _digest(key, repr((_bare(step), own)))
        keys.append(key)
    return tuple(keys)


def _interpreter_files(python: Path) -> Iterator[Path]:
    """What is another file, or changes, when Python or the environment is made anew."""
    yield python
    yield python.parent.parent / "pyvenv.cfg"


def _bare(step: Step) -> Step:
    """Without what only messages tell."""
    return replace(step, name="", first_line=1, file="") if isinstance(step, CellStep) else step


def _digest(before: str, text: str) -> str:
    return hashlib.sha256(f"{before} {text}".encode("utf-8", "surrogatepass")).hexdigest()
