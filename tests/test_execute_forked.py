"""The fork server: its workers equal spawned ones, and it does not fork where it must not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from blogsmith.execute.session.fork_server_client import ForkServer
from blogsmith.execute.session.jobs import SessionJob
from blogsmith.execute.session.pool import run_sessions
from blogsmith.execute.session.session import run_session, silent_observer
from blogsmith.model.results import SessionRun, ShapeMismatch, Stream
from tests.sessions import (
    LINUX,
    cell,
    descriptors,
    is_alive,
    job,
    no_process_left,
    printed,
    value,
    wait_for,
)

PARENT = "import os\nprint(os.getppid())"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ForkServer]:
    """Yield a fork server that has imported a module of the standard library."""
    with started(job(tmp_path), "decimal") as running:
        yield running


def started(work: SessionJob, *modules: str) -> ForkServer:
    return ForkServer(work.python, modules, work.env)


def forked(server: ForkServer, work: SessionJob) -> SessionRun:
    """Return the run of a session whose worker is forked."""
    assert server.fork_obstacle(work) == ""
    return run_session(work, silent_observer, server.start)


def is_forked(run: SessionRun) -> bool:
    """Return whether a run of `PARENT` has another parent than this process."""
    return int(printed(run.cells[0])) != os.getpid()


def without_times(run: SessionRun) -> SessionRun:
    return structs.replace(run, cells=tuple(structs.replace(one, seconds=0.0) for one in run.cells))


def test_a_forked_session_is_like_a_spawned_one(tmp_path: Path, server: ForkServer) -> None:
    (tmp_path / "data.txt").write_text("read me", "utf-8")
    (tmp_path / "content" / "local.py").write_text("x = 3\n", "utf-8")
    work = job(
        tmp_path,
        "import sys, os, decimal\nprint('out'); print('err', file=sys.stderr)",
        "os.write(1, b'below'), None",
        "import local\nopen('../data.txt').read(), local.x, decimal.Decimal(1) / 3",
        "import subprocess\nprint('before', end=' ')\nsubprocess.run(['echo', 'program'])\nprint('after')",
        "sys.argv, sys.path[:2], __name__, os.getcwd(), sys.stdin.read(), os.getpgrp() == os.getpid()",
        "{name: text for name, text in os.environ.items() if name not in ('TMPDIR', 'BLOGSMITH_SESSION')}",
        "from signal import *\ngetsignal(SIGCHLD), getsignal(SIGPIPE), set_wakeup_fd(-1)",
        "import tempfile\ntempfile.gettempdir() == os.environ['TMPDIR']",
        cell(9, "import random\nrandom.random()", seed=7),
        "def f():\n    return 1 / 0\nf()",
        value(1, "local.x", spec="03"),
    )
    with no_process_left():
        run = forked(server, work)
        assert without_times(run) == without_times(run_session(work))
    assert [one.status for one in run.cells] == ["ok"] * 9 + ["error"]
    assert printed(run.cells[3]) == "before program\nafter\n"
    assert run.cells[2].reads.keys() == {"data.txt"}
    assert run.cells[2].modules.keys() == {"content/local.py"}


def test_what_c_code_prints_stands_in_its_cell(tmp_path: Path) -> None:
    """C buffers are flushed at the end of a cell, even if the server has loaded the library."""
    (tmp_path / "c_module.py").write_text("import ctypes\nlibrary = ctypes.CDLL(None)\n", "utf-8")
    work = job(tmp_path, "import c_module\nc_module.library.printf(b'from C');", "print('next')")
    work = replace(work, env={**work.env, "PYTHONPATH": str(tmp_path)})
    with started(work, "c_module") as server:
        run = forked(server, work)
    assert [printed(one) for one in run.cells] == ["from C", "next\n"]


def test_shapes_of_a_function_in_an_earlier_cell(tmp_path: Path) -> None:
    code = "class A:\n    shape = (3, 4)\ndef f(\n    x,  # (n, n)\n):\n    return x"
    run = run_session(job(tmp_path, cell(1, code, shapes=True), "print()", cell(3, "f(A());", shapes=True)))
    assert [one.shapes for one in run.cells[:2]] == [(), ()]
    assert run.cells[2].shapes == (ShapeMismatch(4, "(n, n)", "(n, n)", "(3, 4)", cell=1),)


def test_workers_are_the_servers_children(tmp_path: Path, server: ForkServer) -> None:
    runs = [forked(server, job(tmp_path, PARENT)) for _ in range(2)]
    assert [is_forked(run) for run in runs] == [True, True]
    assert printed(runs[0].cells[0]) == printed(runs[1].cells[0])
    assert not is_forked(run_session(job(tmp_path, PARENT)))


def test_each_session_has_its_own_random_numbers_and_variables(tmp_path: Path) -> None:
    code = "import random\nprint(random.random())\nassert 'x' not in globals()\nx = 1"
    work = job(tmp_path, code)
    with started(work, "random") as server:
        runs = [forked(server, work) for _ in range(3)]
        seeded = replace(work, steps=(cell(1, code, seed=1),))
        alike = [forked(server, seeded), run_session(seeded)]
    assert [run.cells[0].status for run in (*runs, *alike)] == ["ok"] * 5
    assert len({printed(run.cells[0]) for run in runs}) == 3
    assert len({printed(run.cells[0]) for run in alike}) == 1


@pytest.mark.parametrize(
    "code",
    [
        "import os; os._exit(7)",
        "import sys; sys.exit(3)",
        "import ctypes; ctypes.string_at(0)",
        "import os; os.abort()",
        "import os; os.closerange(0, 256)",
        "while True: pass",
    ],
)
def test_bad_endings_are_told_as_of_spawned_workers(tmp_path: Path, server: ForkServer, code: str) -> None:
    work = job(tmp_path, cell(1, f"print('kept')\n{code}", timeout_s=1.0), PARENT)
    with no_process_left():
        run, spawned = forked(server, work), run_session(work)
    first = run.cells[0]
    assert (first.status, first.problem, first.line) == (
        spawned.cells[0].status,
        spawned.cells[0].problem,
        spawned.cells[0].line,
    )
    assert printed(first).startswith("kept\n")
    # the server goes on
    assert is_forked(forked(server, job(tmp_path, PARENT)))


def test_children_that_escape_are_found(tmp_path: Path, server: ForkServer) -> None:
    if not LINUX:
        pytest.skip("processes are found through /proc")
    code = """
        import os, time
        from pathlib import Path
        if os.fork() == 0:
            os.setsid()
            if os.fork():
                os._exit(0)
            Path("escaped").write_text(str(os.getpid()))
            time.sleep(60)
        while not Path("escaped").exists() or not Path("escaped").read_text():
            time.sleep(0.01)
        mark = os.environ["BLOGSMITH_SESSION"]
        print(f"BLOGSMITH_SESSION={mark}\\0" in Path("/proc/self/environ").read_text())
        """
    with no_process_left():
        run = forked(server, job(tmp_path, textwrap.dedent(code)))
    assert printed(run.cells[0]) == "True\n"
    pid = int((tmp_path / "content" / "escaped").read_text("utf-8"))
    wait_for(lambda: not is_alive(pid))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cuda": True}, "CUDA does not survive a fork"),
        ({"threads": 2}, "it uses 2 threads, and threads do not survive a fork"),
        ({"python": os.path.realpath(sys.executable)}, f"it runs in {os.path.realpath(sys.executable)}"),
        ({"env": {"LANG": "C.UTF-8"}}, "its environment variable .* differs"),
    ],
    ids=["cuda", "threads", "python", "environment"],
)
def test_what_is_not_forked(tmp_path: Path, server: ForkServer, change: dict[str, Any], words: str) -> None:
    import re

    work = replace(job(tmp_path, PARENT), **change)
    if work.python == sys.executable and "python" in change:
        pytest.skip("this Python is no link")
    assert re.fullmatch(words, server.fork_obstacle(work))
    assert not is_forked(run_session(work, silent_observer, server.start))


def test_modules_that_are_missing(tmp_path: Path) -> None:
    work = job(tmp_path, PARENT)
    with started(work, "decimal", "no_such_module") as some:
        assert some.import_errors == {
            "no_such_module": "ModuleNotFoundError: No module named 'no_such_module'"
        }
        assert is_forked(forked(some, work))
    with started(work, "no_such_module") as none:
        assert none.fork_obstacle(work) == "none of the modules can be imported"
        assert not is_forked(run_session(work, silent_observer, none.start))
    with ForkServer(str(tmp_path / "python"), ("decimal",), work.env) as nowhere:
        lost = replace(work, python=str(tmp_path / "python"))
        assert nowhere.fork_obstacle(lost).endswith('/python": No such file or directory')
        assert "cannot start " in run_session(lost, silent_observer, nowhere.start).problem


@pytest.mark.parametrize(
    ("module", "words"),
    [
        (
            "import threading, time\nthreading.Thread(target=time.sleep, args=(99,), daemon=True).start()",
            "importing the modules left 1 other threads running",
        ),
        ("import os; os._exit(3)", "the fork server ended while it imported its modules"),
        ("import sys; sys.exit(3)", "none of the modules can be imported"),
        ("print('noise')", ""),
    ],
)
def test_modules_that_behave_badly(tmp_path: Path, module: str, words: str) -> None:
    (tmp_path / "odd_module.py").write_text(module, "utf-8")
    work = job(tmp_path, PARENT)
    work = replace(work, env={**work.env, "PYTHONPATH": str(tmp_path)})
    with no_process_left(), started(work, "odd_module") as server:
        assert server.fork_obstacle(work) == words
        run = run_session(work, silent_observer, server.start)
        assert [o.name for o in run.cells[0].outputs if isinstance(o, Stream)] == ["stdout"]
        assert is_forked(run) == (not words)


def test_a_server_that_dies(tmp_path: Path, server: ForkServer) -> None:
    """Its workers continue; later ones are spawned."""
    code = f"import os, signal\nos.kill(os.getppid(), {signal.SIGKILL})\n"
    first = forked(
        server, job(tmp_path, code + "import time; time.sleep(0.1); print('on')", "print('and on')")
    )
    assert [one.status for one in first.cells] == ["ok", "ok"]
    wait_for(lambda: server.has_died)
    assert not is_forked(run_session(job(tmp_path, PARENT), silent_observer, server.start))
    assert server.fork_obstacle(job(tmp_path)) == "the fork server has ended"


def test_nothing_is_left_open(tmp_path: Path) -> None:
    if not LINUX:
        pytest.skip("descriptors are counted in /proc")

    work = job(tmp_path, PARENT)
    with no_process_left():
        before = descriptors()
        with started(work, "decimal") as server:
            forked(server, work)
            one = descriptors()
            inside = [
                printed(
                    forked(server, job(tmp_path, "import os\nprint(len(os.listdir('/proc/self/fd')))")).cells[
                        0
                    ]
                )
                for _ in range(3)
            ]
            assert descriptors() - one == set()
        assert descriptors() - before == set()
    assert len(set(inside)) == 1
    # at most what a spawned worker has
    assert int(inside[0]) <= int(
        printed(run_session(job(tmp_path, "import os\nprint(len(os.listdir('/proc/self/fd')))")).cells[0])
    )


def test_a_server_ends_with_its_builder(tmp_path: Path) -> None:
    program = f"""
        import os, sys
        from blogsmith.execute.session.fork_server_client import ForkServer
        server = ForkServer(sys.executable, ("decimal",), dict(os.environ)).__enter__()
        print(server._server.pid, flush=True)
        os.kill(os.getpid(), {signal.SIGKILL})
        """
    words = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL
    pid = int(done.stdout)
    wait_for(lambda: not is_alive(pid))
    # this process adopts orphans once it has run a session
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)


def test_many_sessions_at_once(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    code = (
        "import numpy as np\na = np.random.default_rng(0).random((60, 60))\nprint(np.linalg.norm(a @ a) > 0)"
    )
    jobs = [replace(job(tmp_path, PARENT, code), session=f"s{n}") for n in range(8)]
    with no_process_left(), closing(run_sessions(jobs, workers=4, preload=("numpy",))) as running:
        runs = list(running)
    assert [is_forked(run) for run in runs] == [True] * 8
    assert [printed(run.cells[1]) for run in runs] == ["True\n"] * 8
    assert {run.machine.packages["numpy"] for run in runs} == {runs[0].machine.packages["numpy"]}


def test_figures_of_a_preloaded_matplotlib(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    work = job(tmp_path, "import matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show(); print('behind')")
    with started(work, "matplotlib.pyplot") as server:
        run = forked(server, work)
        assert without_times(run) == without_times(run_session(work))
    assert [type(output).__name__ for output in run.cells[0].outputs] == ["Display", "Stream"]


@pytest.mark.parametrize("module", ["numpy", "torch"])
def test_random_numbers_of_libraries(tmp_path: Path, module: str) -> None:
    """A fork inherits their state: without a fresh seed all sessions would draw the same numbers."""
    if find_spec(module) is None:
        pytest.skip(f"{module} is not installed here")
    draw = {"numpy": "numpy.random.rand(3).tolist()", "torch": "torch.randn(3).tolist()"}[module]
    code = f"import {module}\nprint({draw})"
    work = job(tmp_path, code)
    seeded = replace(work, steps=(cell(1, code, seed=5),))
    with started(work, module) as server:
        runs = [forked(server, work) for _ in range(3)]
        alike = [forked(server, seeded), run_session(seeded)]
    assert [run.cells[0].status for run in (*runs, *alike)] == ["ok"] * 5
    assert len({printed(run.cells[0]) for run in runs}) == 3
    assert len({printed(run.cells[0]) for run in alike}) == 1


def test_torch_computes_in_forked_workers(tmp_path: Path) -> None:
    if find_spec("torch") is None:
        pytest.skip("torch is not installed here")
    code = """
        import torch
        torch.manual_seed(0)
        q = torch.randn(2, 4, 64, 32)
        out = torch.nn.functional.scaled_dot_product_attention(q, q, q)
        print(float(out.sum()), torch.get_num_threads())
        """
    work = job(tmp_path, textwrap.dedent(code))
    with started(work, "torch") as server:
        runs = [forked(server, work), forked(server, work), run_session(work)]
    assert [run.cells[0].status for run in runs] == ["ok"] * 3
    assert len({printed(run.cells[0]) for run in runs}) == 1
