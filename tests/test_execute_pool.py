"""Many parallel sessions: order, maximum number, cancellation, and other executors."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest
from msgspec import structs

from blogsmith.execute.session.jobs import SessionJob
from blogsmith.execute.session.pool import run_sessions
from blogsmith.execute.session.session import SilentObserver, run_session
from blogsmith.model.results import CellOutput, CellRun, SessionRun, Stream
from tests.sessions import cell, is_alive, job, no_process_left, printed, wait_for

MEET = """
import pathlib, time
pathlib.Path({mine!r}).touch()
end = time.monotonic() + 50
while not pathlib.Path({other!r}).exists():
    assert time.monotonic() < end
    time.sleep(0.005)
"""


def named(root: Path, name: str, *codes: str) -> SessionJob:
    return replace(job(root, *codes), session=name)


class Counter(SilentObserver):
    """Records the maximum number of parallel sessions, and the events."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self.heard: list[tuple[str, object]] = []
        self._lock = threading.Lock()

    def on_start(self, job: SessionJob) -> None:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)

    def output(self, job: SessionJob, position: int, output: CellOutput) -> None:
        self.heard.append((job.session, output))

    def cell_ended(self, job: SessionJob, position: int, run: CellRun) -> None:
        self.heard.append((job.session, run.status))

    def on_end(self, job: SessionJob, run: SessionRun) -> None:
        with self._lock:
            self.now -= 1


def test_results_come_in_the_order_of_jobs(tmp_path: Path) -> None:
    waits = (0.2, 0.0, 0.1, 0.0)
    jobs = [
        named(tmp_path, f"s{n}", f"import time; time.sleep({s})\nprint({n})") for n, s in enumerate(waits)
    ]
    with no_process_left():
        runs = list(run_sessions(jobs, workers=2))
    assert [(run.session, printed(run.cells[0])) for run in runs] == [(f"s{n}", f"{n}\n") for n in range(4)]


def test_sessions_run_at_the_same_time(tmp_path: Path) -> None:
    """Each waits for the other; one after the other they would never end."""
    a = named(tmp_path, "a", MEET.format(mine="a", other="b"))
    b = named(tmp_path, "b", MEET.format(mine="b", other="a"))
    assert [run.cells[0].status for run in run_sessions([a, b], workers=2)] == ["ok", "ok"]


@pytest.mark.parametrize("workers", [1, 2])
def test_no_more_than_so_many(tmp_path: Path, workers: int) -> None:
    counter = Counter()
    jobs = [named(tmp_path, f"s{n}", "import time; time.sleep(0.05)") for n in range(4)]
    list(run_sessions(jobs, workers=workers, watch=counter))
    # a minimum is checked by the test above: a session here may end before the next starts
    assert (1 <= counter.most <= workers, counter.now) == (True, 0)


def test_no_jobs() -> None:
    assert list(run_sessions([], workers=2)) == []
    assert list(run_sessions([], workers=2, preload=("json",))) == []


def test_who_stops_listening_ends_everything(tmp_path: Path) -> None:
    endless = "while True: pass"
    jobs = [named(tmp_path, "quick", "1"), *(named(tmp_path, f"s{n}", endless) for n in range(3))]
    with no_process_left(), closing(run_sessions(jobs, workers=2)) as runs:
        assert next(runs).session == "quick"


BUILDER = """
import sys
from pathlib import Path
from blogsmith.execute.session.pool import run_sessions
from tests.sessions import job

code = "import os; open(f'pid{os.getpid()}', 'w').close()\\nwhile True: pass"
try:
    list(run_sessions([job(Path(sys.argv[1]), code)] * 3, workers=2))
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_ends_everything_and_goes_on(tmp_path: Path) -> None:
    (tmp_path / "build.py").write_text(BUILDER, "utf-8")
    builder = subprocess.Popen(
        [sys.executable, "build.py", str(tmp_path)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(__file__).parent.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(lambda: len(list(tmp_path.glob("content/pid*"))) == 2)
    builder.send_signal(signal.SIGINT)
    assert builder.communicate(timeout=60) == ("interrupted\n", "")
    assert [path for path in tmp_path.glob("content/pid*") if is_alive(int(path.name[3:]))] == []


def test_jobs_and_results_travel(tmp_path: Path) -> None:
    work = job(tmp_path, "print(1)\n2", cell(2, "1/0", error=True))
    run = run_session(pickle.loads(pickle.dumps(work)))
    assert pickle.loads(pickle.dumps(run)) == run


def test_executors_of_others(tmp_path: Path) -> None:
    jobs = [
        named(tmp_path, "ok", "print(1)", "2"),
        named(tmp_path, "dies", "print(2)\nimport os\nos.abort()", "3"),
        named(tmp_path, "raises", "1/0"),
    ]
    here, there = Counter(), Counter()
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        far = list(run_sessions(jobs, workers=1, watch=there, executor=executor))
    near = list(run_sessions(jobs, workers=1, watch=here))
    assert list(map(timeless, far)) == list(map(timeless, near))
    assert (here.most, there.most, there.now) == (1, 1, 0)
    assert [h for h in here.heard if h[0] == "ok"] == [h for h in there.heard if h[0] == "ok"]
    assert ("dies", Stream("stdout", "2\n")) in there.heard


def timeless(run: SessionRun) -> SessionRun:
    """Return the run without its wall time."""
    return structs.replace(run, cells=tuple(structs.replace(c, seconds=0.0) for c in run.cells))


def test_preloaded_modules_change_nothing(tmp_path: Path) -> None:
    jobs = [named(tmp_path, f"s{n}", "import json, sys\nprint(json.dumps([1]))", "1/0") for n in range(3)]
    with no_process_left():
        forked = list(run_sessions(jobs, workers=2, preload=("json",)))
    assert list(map(timeless, forked)) == list(map(timeless, run_sessions(jobs, workers=2)))
