"""Sessions for tests: a few strings of code, run by the real worker."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from blogsmith.execute.session.environment import cell_environment
from blogsmith.execute.session.jobs import CellStep, SessionJob, Step, ValueStep
from blogsmith.execute.session.pool import run_sessions
from blogsmith.execute.session.requests import GRACE_S
from blogsmith.execute.session.session import SilentObserver
from blogsmith.model.results import CellRun, SessionRun, Stream

LINUX = sys.platform == "linux"
SLACK_S = 30.0
"""Seconds added to limits for a busy machine; the exact numbers belong to `tests/bench/`."""
LIMIT_S = 60.0
"""Seconds for a cell that ends by itself. A cell that reaches the limit has failed."""


def cell(number: int, code: str, **more: Any) -> CellStep:
    """Return a cell with the defaults of tests: a limit of `LIMIT_S` and 2 GB."""
    given: dict[str, Any] = {"name": f"cell {number}", "timeout_s": LIMIT_S, "memory_bytes": 2 * 10**9} | more
    return CellStep(number=number, code=code, **given)


def value(number: int, expression: str, conversion: str = "", spec: str = "", **more: Any) -> ValueStep:
    """Return a value with the defaults of tests."""
    return ValueStep(
        number, expression, conversion, spec, **{"timeout_s": LIMIT_S, "memory_bytes": 2 * 10**9} | more
    )


def job(root: Path, *steps: str | Step, **more: Any) -> SessionJob:
    """Return a session of the post `content/post.md`; strings are cells."""
    folder = root / "content"
    folder.mkdir(exist_ok=True)
    numbered = (cell(n, step) if isinstance(step, str) else step for n, step in enumerate(steps, 1))
    given: dict[str, Any] = {
        "post": PurePosixPath("content/post.md"),
        "session": "main",
        "python": sys.executable,
        "root": root,
        "folder": folder,
        "env": cell_environment(os.environ, (), 1, root),
    }
    return SessionJob(steps=tuple(numbered), **given | more)


def limited(work: SessionJob, **limits: Any) -> SessionJob:
    """Return the session with other limits for every step."""
    return replace(work, steps=tuple(replace(step, **limits) for step in work.steps))


def printed(run: CellRun, name: str = "stdout") -> str:
    """Return the output of a cell."""
    return "".join(o.text for o in run.outputs if isinstance(o, Stream) and o.name == name)


@dataclass
class Clock(SilentObserver):
    """Measures the time of sessions, from `on_start` to `on_end`."""

    began: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def on_start(self, job: SessionJob) -> None:
        self.began[job.session] = time.monotonic()

    def on_end(self, job: SessionJob, run: SessionRun) -> None:
        self.seconds[job.session] = time.monotonic() - self.began[job.session]


def run_beside_another(work: SessionJob) -> SessionRun:
    """Run a harmful session, and check that it affects no other session.

    Another session runs at the same time and must give the same result as alone. The harmful one must end
    within its limit, the grace and `SLACK_S`; no process may be left.
    """
    other = job(
        work.root,
        "x = [1]",
        "import time\nfor n in range(5):\n    x.append(n)\n    time.sleep(0.02)\nprint(x)",
    )
    clock = Clock()
    with (
        no_process_left(),
        closing(run_sessions((work, replace(other, session="other")), workers=2, watch=clock)) as runs,
    ):
        run, undisturbed = runs
    assert [c.status for c in undisturbed.cells] == ["ok", "ok"]
    assert printed(undisturbed.cells[1]) == "[1, 0, 1, 2, 3, 4]\n"
    limit_s = max(step.timeout_s for step in work.steps)
    assert clock.seconds["main"] < limit_s + GRACE_S + SLACK_S
    return run


@contextmanager
def no_process_left() -> Iterator[None]:
    """Check that this process has no new child process; it would adopt orphans of workers."""
    before = children()
    yield
    assert children() - before == set()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("session")]


def children() -> set[int]:
    """Return child process ids, zombies included; Linux only."""
    found: set[int] = set()
    if LINUX:
        for task in Path("/proc/self/task").iterdir():
            with suppress(OSError):  # the thread has ended
                found |= set(map(int, (task / "children").read_text().split()))
    return found


def descriptors() -> set[tuple[int, int, int]]:
    """Return number, device and inode of every descriptor open in this process.

    Compare only added ones: objects of earlier tests may be deleted, and close theirs, at any time.
    """
    found = set()
    for number in [int(entry.name) for entry in Path("/dev/fd").iterdir()]:
        with suppress(OSError):  # the descriptor of the list itself
            status = os.fstat(number)
            found.add((number, status.st_dev, status.st_ino))
    return found


def is_alive(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    try:
        os.kill(pid, 0)
        return not LINUX or Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):  # including a process that ends between the two checks
        return False


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until `condition` is true; AssertionError after so many seconds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)
