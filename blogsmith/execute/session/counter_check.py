"""Counter-check of a claim: its session runs again with other constants in the claim's cell, one at a time.

A claim that stays true proves nothing about the constants. Each run is a session of its own, with the limits
and the sandbox of the first, in a copy of the site, so nothing of the site or of the running session changes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ...model.results import MAX_NOTE, CellRun, Failure, SessionRun
from .changed_constants import ChangedCode, changed_codes
from .jobs import CellStep, SessionJob
from .reaper import new_number
from .site_copy import copy_site
from .working_folder import session_folder

MOST_CHANGES = 24
"""Maximum number of changes for one claim."""
NEVER_FAILS = "never fails"
"""Start of the note about a claim that was true after every change."""
UNCHECKED = "was not counter-checked"
"""Start of the note about a claim whose counter-check could not run."""
NO_CONSTANT = "has no constant to change"
"""Note about a claim that cannot be counter-checked."""
_SLOWER, _EXTRA_S = 10, 5.0
"""Time limit of a changed cell: this many times as long as the first run, plus these seconds."""


def check_claim(
    job: SessionJob, step: CellStep, first: CellRun, run: Callable[[SessionJob], SessionRun]
) -> tuple[str, ...]:
    """Return a note about the claim if it is true after every change of a constant, or if that is unknown.

    An exception or an exceeded limit counts as a claim that failed, because the cell noticed the change. All
    changes together may take as long as the time limit of the cell.

    first: the run of the cell, whose claim is true. run: runs a session.
    """
    changes = changed_codes(step.code)[:MOST_CHANGES]
    if not changes:
        return (NO_CONSTANT,)
    end = time.monotonic() + step.timeout_s
    limit_s = min(step.timeout_s, _SLOWER * first.seconds + _EXTRA_S)
    with session_folder(job.env.get("TMPDIR"), new_number()) as folder:
        root = copy_site(job.root, folder.path / "site", (*job.exclude, folder.path))
        tried: list[ChangedCode] = []
        for change in changes:
            if time.monotonic() > end:
                return (
                    f"{UNCHECKED} within {step.timeout_s:g} s: {len(tried)} of {len(changes)} changes ran",
                )
            changed = run(_changed_job(job, step, root, change.code, limit_s)).cells[-1]
            if changed.status == "skipped":
                return _unchecked(changed.problem)
            if _is_false(changed):
                return ()
            if changed.status == "ok":
                tried.append(change)
            elif not change.is_name:
                # the copy itself may be the reason
                control = run(_changed_job(job, step, root, step.code, step.timeout_s)).cells[-1]
                return () if control.status == "ok" else _unchecked(control.problem)
    return (_note(tried),) if tried else (NO_CONSTANT,)


def _changed_job(job: SessionJob, claim: CellStep, root: Path, code: str, limit_s: float) -> SessionJob:
    """Return the job of the session up to the claim, with other code of its cell, in a copy of the site."""
    last = replace(claim, code=code, timeout_s=limit_s, counter_check=False, sweep_steps=())
    return replace(
        job,
        root=root,
        folder=root / job.folder.relative_to(job.root),
        steps=(*_steps_before(job, claim), last),
        exclude=(),
    )


def _steps_before(job: SessionJob, claim: CellStep) -> Iterator[CellStep]:
    for step in job.steps:
        if step is claim:
            return
        if isinstance(step, CellStep):
            yield replace(step, counter_check=False, sweep_steps=())


def _is_false(run: CellRun) -> bool:
    """Return whether the claim was evaluated and is not true."""
    return run.status == "error" and not any(isinstance(output, Failure) for output in run.outputs)


def _unchecked(problem: str) -> tuple[str, ...]:
    return (" ".join(f"{UNCHECKED}: in a copy of the site, {problem}".split())[:MAX_NOTE],)


def _note(tried: Sequence[ChangedCode]) -> str:
    names = list(dict.fromkeys(change.constant for change in tried))
    count = f"{len(tried)} {'change' if len(tried) == 1 else 'changes'}"
    for shown in range(len(names), 0, -1):
        more = f" and {len(names) - shown} more" if shown < len(names) else ""
        note = f"{NEVER_FAILS}: it is true after {count} of {', '.join(names[:shown])}{more}"
        if len(note) <= MAX_NOTE:
            break
    return note
