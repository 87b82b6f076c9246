"""Faults in the code of posts: each is reported at its line and affects no other session.

Every test runs the harmful session next to a harmless one (`run_beside_another`), which also checks that no
process is left and that it ends in time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from blogsmith.execute.session.jobs import SessionJob
from blogsmith.execute.session.reaper import MARK_NAME, Mark, find_marked, new_number, process_limit
from blogsmith.model.results import CellRun, Display, Failure, SessionRun, Stream
from tests.sessions import SLACK_S, cell, is_alive, job, limited, printed, run_beside_another, wait_for

MIB = 1024 * 1024
only_linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Increase timeouts: on a busy machine, a process that is killed reports its position later."""
    monkeypatch.setattr("blogsmith.execute.session.requests._STACK_S", 5.0)


def harmed(work: SessionJob, *, line: int, earlier: str = "before\n") -> CellRun:
    """Return the harmful cell: the first of its session, which printed `earlier`; the second never ran."""
    run = run_beside_another(work)
    first, second = run.cells
    assert (second.status, second.problem) == ("skipped", "cell 1 before it ended badly")
    assert printed(first).startswith(earlier)
    assert first.line == line
    return first


def failures(run: CellRun) -> list[Failure]:
    return [output for output in run.outputs if isinstance(output, Failure)]


@pytest.mark.parametrize(
    ("code", "line"),
    [
        pytest.param("print('before')\nwhile True:\n    x = 1\n    x = 2", (2, 3, 4), id="infinite loop"),
        pytest.param(
            "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('before')\nwhile True: pass",
            (4,),
            id="SIGINT ignored",
        ),
        pytest.param(
            "print('before')\nwhile True:\n    try:\n        while 1: pass\n    except BaseException: pass",
            (4, 5),
            id="SIGINT caught",
        ),
        pytest.param("print('before')\nsum(range(10**11))", (2,), id="long call into C"),
        pytest.param(
            "import os, signal\nprint('before')\nos.kill(os.getpid(), signal.SIGSTOP)\nwhile True: pass",
            (3, 4),
            id="SIGSTOP",
        ),
        pytest.param(
            "import threading\nprint('before')\nthreading.Event().wait()", (3,), id="waits for ever"
        ),
        pytest.param(
            "print('before')\nimport subprocess\nsubprocess.run(['sleep', '600'])", (3,), id="child"
        ),
    ],
)
def test_a_cell_that_does_not_end(tmp_path: Path, code: str, line: tuple[int, ...]) -> None:
    run = run_beside_another(limited(job(tmp_path, code, "print('never')"), timeout_s=1.0))
    first, second = run.cells
    assert (first.status, first.problem) == ("timeout", "it ran longer than 1 s")
    assert first.line in line
    assert (printed(first), printed(first, "stderr")) == ("before\n", "")
    assert second.status == "skipped"


def test_the_line_is_the_cells_own_where_a_function_of_another_cell_hangs(tmp_path: Path) -> None:
    endless = cell(2, "y = 1\nf()", timeout_s=0.5)
    run = run_beside_another(job(tmp_path, "def f():\n    while True: pass\n", endless))
    assert [(c.status, c.line) for c in run.cells] == [("ok", 0), ("timeout", 2)]


def test_os_exit(tmp_path: Path) -> None:
    first = harmed(job(tmp_path, "import os\nprint('before')\nos._exit(7)", "1"), line=3)
    assert (first.status, first.problem) == ("died", "the code ended its process with os._exit(7)")


@pytest.mark.parametrize(
    ("death", "problem"),
    [
        ("ctypes.string_at(0)", "killed by signal 11 (segmentation fault)"),
        ("os.abort()", "killed by signal 6 (abort)"),
    ],
)
def test_a_crash(tmp_path: Path, death: str, problem: str) -> None:
    code = f"import ctypes, os, sys\nprint('before')\nprint('mine', file=sys.stderr)\n{death}"
    first = harmed(job(tmp_path, code, "1"), line=4)
    assert (first.status, first.problem) == ("died", problem)
    # messages of the interpreter itself are not output of the author
    assert printed(first, "stderr") == "mine\n"


def test_killed_by_somebody_else(tmp_path: Path) -> None:
    code = "import os, signal\nprint('before')\nos.kill(os.getpid(), signal.SIGKILL)"
    first = harmed(job(tmp_path, code, "1"), line=0)
    assert (first.status, first.problem.split(";")[0]) == ("died", "killed by signal 9 (kill")


def test_sys_exit(tmp_path: Path) -> None:
    first = harmed(job(tmp_path, "import sys\nprint('before')\nsys.exit(3)", "1"), line=3)
    assert (first.status, first.problem) == ("exit", "it calls sys.exit(3)")


def test_another_program_in_its_place(tmp_path: Path) -> None:
    code = "import os\nprint('before')\nos.execvp('sleep', ['sleep', '600'])"
    first = harmed(job(tmp_path, code, "1"), line=0)
    assert (first.status, "another program" in first.problem) == ("died", True)


@only_linux
def test_more_memory_than_the_limit(tmp_path: Path) -> None:
    work = limited(job(tmp_path, "print('before')\nx = bytearray(10**9)", "1"), memory_bytes=400 * 10**6)
    first = harmed(work, line=2)
    assert (first.status, first.problem) == ("memory", "it needed more memory than its limit of 400 MB")
    assert [failure.name for failure in failures(first)] == ["MemoryError"]


@only_linux
def test_memory_that_no_limit_of_the_system_counts(tmp_path: Path) -> None:
    code = (
        "import mmap\nprint('before')\nx = mmap.mmap(-1, 600_000_000)\n"
        "for n in range(0, len(x), 4096): x[n] = 1\nwhile True: pass"
    )
    run = run_beside_another(limited(job(tmp_path, code, "1"), memory_bytes=200 * 10**6))
    first = run.cells[0]
    assert (first.status, first.line in (4, 5), printed(first)) == ("memory", True, "before\n")
    assert first.problem.endswith(" MB, more than the limit of 200 MB")


@only_linux
def test_memory_of_children_counts(tmp_path: Path) -> None:
    child = "x = bytearray(150_000_000); import time; time.sleep(600)"
    code = (
        "import subprocess, sys\nprint('before')\n"
        f"for n in range(3): subprocess.Popen([sys.executable, '-c', {child!r}])\nwhile True: pass"
    )
    run = run_beside_another(limited(job(tmp_path, code, "1"), memory_bytes=300 * 10**6))
    assert (run.cells[0].status, run.cells[0].line in (3, 4)) == ("memory", True), run.cells[0]


@only_linux
def test_memory_that_processes_share_counts_once(tmp_path: Path) -> None:
    code = (
        "import os, time\nprint('before')\nx = bytearray(b'x' * 150_000_000)\n"
        "for n in range(4):\n    if os.fork() == 0:\n        time.sleep(0.3)\n        os._exit(0)\n"
        "for n in range(4): os.wait()"
    )
    run = run_beside_another(limited(job(tmp_path, code), memory_bytes=500 * 10**6))
    assert [c.status for c in run.cells] == ["ok"]


@pytest.mark.parametrize(
    ("code", "size"),
    [
        pytest.param("print('x' * 50_000_000)", 50_000_001, id="one print"),
        pytest.param("for n in range(500_000): print('x' * 99)", 50_000_000, id="many prints"),
        pytest.param(
            "import os\nfor n in range(500): os.write(1, b'x' * 100_000)",
            50_000_000,
            id="the descriptor itself",
        ),
        pytest.param(
            "import subprocess\nsubprocess.run('yes | head -c 50000000', shell=True);",
            50_000_000,
            id="a child",
        ),
    ],
)
def test_fifty_megabytes_of_output(tmp_path: Path, code: str, size: int) -> None:
    run = run_beside_another(job(tmp_path, f"print('before')\n{code}", "print('after')"))
    first, second = run.cells
    (stream,) = first.outputs
    assert isinstance(stream, Stream)
    assert stream.text.startswith("before\n")
    assert MIB // 2 < len(stream.text) <= MIB
    assert len(stream.text) + stream.dropped == size + len("before\n")
    assert (first.status, printed(second)) == ("ok", "after\n")


def test_fifty_megabytes_of_a_value(tmp_path: Path) -> None:
    run = run_beside_another(job(tmp_path, "'x' * 50_000_000", "print('after')"))
    shown = [o for o in run.cells[0].outputs if isinstance(o, Display)]
    assert sum(len(str(text)) for display in shown for text in display.data.values()) <= MIB
    assert printed(run.cells[1]) == "after\n"


@only_linux
def test_fork_bomb(tmp_path: Path) -> None:
    code = (
        "import os, time\nprint('before')\n"
        f"for n in range({process_limit() + 170}):\n"
        "    if os.fork() == 0:\n        time.sleep(600)\ntime.sleep(600)"
    )
    run = run_beside_another(job(tmp_path, code, "1"))
    first = run.cells[0]
    assert (first.status, first.problem) == ("died", f"it started more than {process_limit()} processes")
    assert printed(first) == "before\n"
    assert first.line in (3, 4, 6)


DAEMONS = {
    "new session": "subprocess.Popen(['sleep', '600'], start_new_session=True)",
    "cleared environment": "subprocess.Popen(['sleep', '600'], start_new_session=True, env={})",
    "double fork": "subprocess.run(['sh', '-c', 'setsid sleep 600 & setsid sleep 600 &'])",
    "double fork, cleared environment": (
        "subprocess.run(['env', '-i', 'sh', '-c', 'setsid sleep 600 <&- >&- 2>&- & exec true'])"
    ),
    "fork only": "os.fork() or (os.setsid(), time.sleep(600))",
}


@only_linux
@pytest.mark.parametrize("start", DAEMONS.values(), ids=list(DAEMONS))
def test_a_child_that_wants_to_stay(tmp_path: Path, start: str) -> None:
    run = run_beside_another(
        job(tmp_path, f"import os, subprocess, time\nprint('before')\n{start}\ntime.sleep(0.1)")
    )
    assert (run.cells[0].status, printed(run.cells[0])) == ("ok", "before\n")


@only_linux
def test_a_kernel_that_keeps_no_marks(tmp_path: Path) -> None:
    """Without marks of the kernel, the environment shows the owner of a process."""
    mark = Mark(new_number(), in_limits=False)
    child = subprocess.Popen(["sleep", "600"], env={**os.environ, MARK_NAME: str(mark.number)})
    other = subprocess.Popen(["sleep", "600"])
    try:
        wait_for(lambda: find_marked(mark) == [child.pid])
    finally:
        for process in (child, other):
            process.kill()
            process.wait()
    assert find_marked(mark) == []


@only_linux
def test_a_child_of_a_cell_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import os, signal, subprocess, time\n"
        "child = subprocess.Popen(['sleep', '600'], start_new_session=True, env={})\n"
        "open('child', 'w').write(str(child.pid))\nprint('before')\nos._exit(1)"
    )
    harmed(job(tmp_path, code, "1"), line=5)
    assert not is_alive(int((tmp_path / "content" / "child").read_text()))


def test_closed_descriptors(tmp_path: Path) -> None:
    run = run_beside_another(
        job(tmp_path, "import os\nprint('before')\nos.closerange(0, 256)\nprint('on')", "1 + 1")
    )
    assert [c.status for c in run.cells] == ["ok", "ok"]
    assert printed(run.cells[0]) == "before\non\n"


def test_every_descriptor_closed_below_python(tmp_path: Path) -> None:
    code = (
        "import ctypes, time\nprint('before')\nlibc = ctypes.CDLL(None)\n"
        "for n in range(4096): libc.close(n)\ntime.sleep(600)"
    )
    first = harmed(job(tmp_path, code, "1"), line=0)
    assert (first.status, "closed its connection" in first.problem) == ("died", True)


def test_text_that_is_none(tmp_path: Path) -> None:
    code = (
        "import os, sys\nprint('before \\ud800 after')\nsys.stdout.buffer.write(b'\\xff\\xfe\\n')\n"
        "sys.stdout.flush()\nos.write(1, b'\\xc3\\x28\\n')\n'\\udfff'"
    )
    run = run_beside_another(job(tmp_path, code, "print('on')"))
    assert [c.status for c in run.cells] == ["ok", "ok"]
    assert printed(run.cells[0]) == "before \ufffd after\n\ufffd\ufffd\n\ufffd(\n"
    assert printed(run.cells[1]) == "on\n"


def test_input(tmp_path: Path) -> None:
    first = harmed(job(tmp_path, "print('before')\nx = input('? ')", "1"), line=2, earlier="before\n? ")
    assert (first.status, [failure.name for failure in failures(first)]) == ("error", ["EOFError"])


def test_threads_that_go_on(tmp_path: Path) -> None:
    loud = (
        "import threading, time\nprint('before')\ngo, said = threading.Event(), threading.Event()\n"
        "def work():\n    go.wait()\n    print('late')\n    said.set()\n    while True: time.sleep(0.01)\n"
        "threading.Thread(target=work).start()"
    )
    began = time.monotonic()
    run = run_beside_another(job(tmp_path, loud, "go.set()\n_ = said.wait()\nprint('second')"))
    assert [printed(c) for c in run.cells] == ["before\n", "late\nsecond\n"]
    assert time.monotonic() - began < SLACK_S


BUILDER = """
import sys
from pathlib import Path
from blogsmith.execute.session.session import run_session
from tests.sessions import job

code = "import os; open('pid', 'w').write(str(os.getpid())); os.rename('pid', 'ready')\\nwhile True: pass"
run_session(job(Path(sys.argv[1]), code))
"""


@only_linux
def test_the_builder_is_killed(tmp_path: Path) -> None:
    """Nobody is left to kill the worker, so the system does it."""
    (tmp_path / "build.py").write_text(BUILDER, "utf-8")
    builder = subprocess.Popen(
        [sys.executable, "build.py", str(tmp_path)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(__file__).parent.parent)},
    )
    ready = tmp_path / "content" / "ready"
    wait_for(ready.exists)
    builder.kill()
    builder.wait()
    pid = int(ready.read_text())
    wait_for(lambda: not is_alive(pid))


def test_recursion_is_an_error_like_any_other(tmp_path: Path) -> None:
    run: SessionRun = run_beside_another(
        job(tmp_path, cell(1, "def f(): f()\nprint('before')\nf()", error=True), "print('on')")
    )
    assert [c.status for c in run.cells] == ["error", "ok"]
    assert [failure.name for failure in failures(run.cells[0])] == ["RecursionError"]
