"""Keys of the beginnings of a session: two jobs with the same key have done the same up to there."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from ...base.storage.stamps import stamp_at
from .jobs import CellStep, SessionJob, Step
from .reaper import MARK_NAME

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
