"""Reuses the state of a session before an edited cell. The next build continues there instead of at the first
cell.

A state is reused only if running the whole session would give the same state. So no state is kept after a
cell whose results are not repeatable, or in a session with a cell that must always run.
"""

from __future__ import annotations

import datetime as dt
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from ..base.storage.stamps import read_stamp
from ..execute.session.checkpoint_store import CheckpointStore, Hold, RunCheckpoints
from ..execute.session.checkpoints import SessionProgress
from ..execute.session.jobs import SessionJob
from ..execute.session.kept_checkpoints import KeptCheckpoints
from ..execute.session.pool import FindCheckpoints, no_checkpoints
from ..freeze.environment import FileDigests
from ..freeze.repeatability import describe_reason
from ..model.cells import PageCells
from ..project.context import SiteContext
from ..project.program import program_digest
from ..project.report import BuildOptions
from .status import PageStatus

MIN_SAVED_S = 1.0
"""Minimum time in seconds that a state must save. Cells before the edited cell that are run again therefore
take at most about this long."""
_NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")


@contextmanager
def reusable_states(
    jobs: Iterable[tuple[PageStatus, SessionJob]],
    context: SiteContext,
    options: BuildOptions,
    environ: Mapping[str, str],
) -> Iterator[FindCheckpoints]:
    """Yield the function that gives sessions their checkpoints. If the `with` block ends without an
    exception, its new checkpoints are kept for the next build.

    environ: environment of the builder. If the variable `CI` is set, no checkpoint is kept, because the
    machine is used only once.
    """
    seconds = int(context.config.execution.keep)
    jobs = list(jobs)
    if sys.platform != "linux" or not seconds or not jobs or environ.get("CI"):
        yield no_checkpoints
        return
    store = CheckpointStore(least_s=MIN_SAVED_S)
    kept = KeptCheckpoints(seconds, store.max_bytes)
    pages = {(job.post, job.session): page for page, job in jobs}
    origin = f"{_origin(options.now.date())} {context.config.execution.preload}"
    resumed = None if options.execution.execute == "all" else kept

    def find(job: SessionJob, hold: Hold) -> RunCheckpoints | None:
        page = pages[job.post, job.session].cells
        if any(cell.options.freeze == "never" for cell in page.session_cells(job.session)):
            return None
        declared = declared_stamps(page, job.session, context.root)
        return store.session(job, declared, origin, hold, kept=resumed, objection=_why_not_repeatable)

    try:
        yield find
        kept.keep(store.take_all())
    finally:
        store.close()
        kept.close()


def declared_stamps(page: PageCells, session: str, root: Path) -> dict[int, object]:
    """Return number of a cell → stamp, which shows changes of the files that the cell declares. The number
    counts cells in the session; 0 is for the files that the page declares."""
    files = FileDigests(root)
    patterns = {0: page.depends}
    patterns |= {number: c.options.depends for number, c in enumerate(page.session_cells(session), 1)}
    return {
        number: [
            (path, read_stamp(root / path))
            for path in sorted({path for one in own for path in files.matches(one, page.path)})
        ]
        for number, own in patterns.items()
        if own
    }


def _why_not_repeatable(progress: SessionProgress) -> str:
    """Return the reason why another run may give another state, as a message; empty if it would give the same
    state."""
    reasons = sorted(progress.used.reasons) if progress.used else []
    return f"it may differ in another run: {describe_reason(reasons[0])}" if reasons else ""


def _origin(today: dt.date) -> str:
    """Return a string that changes with the date, the program, and the parts of this process that a worker
    inherits. The job of a session does not contain these."""
    import resource

    names = [name for name in dir(resource) if name.startswith("RLIMIT_")]
    limits = [resource.getrlimit(getattr(resource, name)) for name in names]
    umask, spaces = "", []
    with suppress(OSError):
        umask = next(line for line in Path("/proc/self/status").read_text().splitlines() if "Umask" in line)
        spaces = [os.readlink(f"/proc/self/ns/{name}") for name in _NAMESPACES]  # noqa: PTH115
    around = (limits, umask, spaces, sorted(os.sched_getaffinity(0)), os.getpriority(os.PRIO_PROCESS, 0))
    return f"{today} {program_digest()} {around}"
