"""Checkpoints: a session resumed from one gives the same result as a run from its first cell."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from blogsmith.execute.session.checkpoint_store import CheckpointStore
from blogsmith.execute.session.jobs import CellStep, SessionJob, Step
from blogsmith.execute.session.pool import WorkerRegistry
from blogsmith.execute.session.process import spawn
from blogsmith.execute.session.reaper import new_number
from blogsmith.execute.session.session import SilentObserver, run_session
from blogsmith.model.results import CellRun, SessionRun
from tests.sessions import LINUX, cell, children, is_alive, job, no_process_left, printed, value, wait_for

pytestmark = pytest.mark.skipif(not LINUX, reason="checkpoints are made on Linux only")


class Refusals(SilentObserver):
    """Records why there was no checkpoint."""

    def __init__(self) -> None:
        self.reasons: list[str] = []

    def on_refusal(self, job: SessionJob, position: int, reason: str) -> None:
        self.reasons.append(reason)


class Writer:
    """Runs a session repeatedly, as its author edits it."""

    def __init__(self, root: Path, **limits: Any) -> None:
        self.root = root
        self.store = CheckpointStore(**{"least_s": 0.0, "cost_factor": 0.0, **limits})
        self.refusals = Refusals()
        self.declared: dict[int, object] = {}

    def run(self, *steps: str | Step, **more: Any) -> SessionRun:
        """Run the session, resumed from a checkpoint if possible."""
        live, work = WorkerRegistry(spawn), job(self.root, *steps, **more)
        checkpoints = self.store.session(work, self.declared, "2026-11-23", live.register)
        assert checkpoints is not None
        return run_session(work, self.refusals, live.start, checkpoints)

    def check(self, *steps: str | Step, resumed: int, **more: Any) -> SessionRun:
        """Run it. The result must equal a run from the first cell, but `resumed` cells do not run."""
        clean = run_session(job(self.root, *steps, **more))
        run = self.run(*steps, **more)
        assert same(run) == same(clean)
        assert run.resumed == resumed, self.refusals.reasons
        return run


def same(run: SessionRun) -> SessionRun:
    """Return the parts of a run that must be equal."""
    cells = tuple(structs.replace(one, seconds=0.0, others=_same_all(one)) for one in run.cells)
    return structs.replace(run, cells=cells, resumed=0)


def _same_all(run: CellRun) -> dict[str, CellRun]:
    return {key: structs.replace(other, seconds=0.0) for key, other in run.others.items()}


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    with no_process_left():
        found = Writer(tmp_path)
        try:
            yield found
        finally:
            found.store.close()
    assert {path.name for path in tmp_path.iterdir()} <= {"content", "lib.py"}


BASE = (
    "import random, warnings\nrandom.seed(7)\nx = [1]\nwarnings.warn('once', stacklevel=1)",
    "def f(n):\n    # told in a traceback\n    return 1 / n\nx.append(random.random())",
    "print(x, random.random())",
    "x, f(2), random.random()",
)
OTHER = "print('other', x, random.random())"


@pytest.mark.parametrize(
    ("edited", "resumed"),
    [
        ((*BASE[:3], OTHER), 3),
        ((*BASE[:3], "f(0)"), 3),
        ((*BASE[:2], OTHER, BASE[3]), 2),
        ((BASE[0], OTHER, "f = int", BASE[3]), 1),
        (("x = []\nimport random\nrandom.seed(8)", *BASE[1:]), 0),
        ((*BASE, OTHER), 4),
        ((*BASE[:2], OTHER, *BASE[2:]), 2),
        ((*BASE[:2], BASE[3]), 2),
        ((*BASE[:2], BASE[3], BASE[2]), 2),
        ((BASE[0], BASE[1].replace("told", "told twice"), *BASE[2:]), 1),
        ((*BASE[:2], value(1, "len(x)"), *(cell(n + 1, BASE[n]) for n in (2, 3))), 2),
        ((*BASE[:3], cell(4, BASE[3], seed=3)), 3),
        ((*BASE[:3], cell(4, BASE[3], name="label", first_line=20)), 4),
        ((BASE[0], cell(2, BASE[1], timeout_s=50.0), *BASE[2:]), 1),
        ((BASE[0], cell(2, BASE[1], skip="no need"), "1"), 1),
        ((*BASE[:3], cell(4, "x = x + [d]; d", binding={"d": 2})), 3),
    ],
)  # fmt: skip
def test_an_edit_gives_what_a_run_from_the_start_gives(
    writer: Writer, edited: tuple[str | Step, ...], resumed: int
) -> None:
    writer.check(*BASE, resumed=0)
    writer.check(*edited, resumed=resumed)
    writer.check(*BASE, resumed=4)


def test_what_failed_is_mended_from_the_cell_before(writer: Writer) -> None:
    writer.check(*BASE[:2], "print(y)", "1", resumed=0)
    writer.check(*BASE[:2], "y = 3\nprint(y)", "1", resumed=2)
    writer.check(*BASE[:2], "y = 3\nprint(y)", "x.append(", resumed=3)
    run = writer.run(*BASE[:2], "y = 3\nprint(y)", cell(4, "while True: pass", timeout_s=0.2))
    assert (run.resumed, run.cells[3].status) == (3, "timeout")
    run = writer.run(*BASE[:2], "import os\nos._exit(3)", "y")
    assert (run.resumed, run.cells[2].status) == (2, "died")
    writer.check(*BASE[:2], "y = 4\nprint(y)", "y", resumed=2)


def test_limits_hold_for_what_goes_on(writer: Writer) -> None:
    limit = {"memory_bytes": 300 * 10**6}
    start = cell(1, "x = bytearray(150 * 10**6)", **limit)
    writer.check(start, cell(2, "1", **limit), resumed=0)
    run = writer.check(start, cell(2, "y = bytearray(200 * 10**6)", **limit), resumed=1)
    assert run.cells[1].status == "memory"


def test_files_are_told_of_the_cell_that_read_them(writer: Writer) -> None:
    (writer.root / "content").mkdir()
    (writer.root / "content" / "data.txt").write_text("7")
    (writer.root / "lib.py").write_text("y = 1")
    steps = ("import lib\nx = open('data.txt').read()", "x", "print(lib.y)")
    writer.check(*steps, resumed=0)
    run = writer.check(*steps[:2], "print(lib.y, x)", resumed=2)
    assert run.cells[0].reads.keys() == {"content/data.txt"} and run.cells[0].modules.keys() == {"lib.py"}
    (writer.root / "content" / "data.txt").write_text("8!")
    writer.check(*steps[:2], "print(x)", resumed=0)
    (writer.root / "lib.py").write_text("y = 100")
    writer.check(*steps[:2], "print(lib.y)", resumed=0)
    (writer.root / "content" / "lib.py").write_text("y = 'hides the other'")
    writer.check(*steps[:2], "print(lib.y, 2)", resumed=0)


def test_a_file_is_read_on_from_the_same_place(writer: Writer) -> None:
    (writer.root / "content").mkdir()
    (writer.root / "content" / "lines.txt").write_text("".join(f"{n}\n" for n in range(20_000)))
    first = "lines = open('lines.txt')\nraw = open('lines.txt', 'rb', buffering=0)"
    steps = (first, "lines.readline(), raw.read(20)", "lines.readlines()[3], raw.read(20)")
    writer.check(*steps, "lines.seek(0), raw.read(5)", resumed=0)
    writer.check(*steps, "lines.tell(), raw.read(6)", resumed=3)
    writer.check(*steps[:2], "next(lines), raw.tell()", resumed=2)


def test_a_folder_that_was_listed_and_files_that_are_declared(writer: Writer) -> None:
    writer.check("import os\nos.listdir()", "1", resumed=0)
    writer.check("import os\nos.listdir()", "2", resumed=1)
    (writer.root / "content" / "new.txt").write_text("")
    writer.check("import os\nos.listdir()", "3", resumed=0)
    writer.declared = {2: "another state of a file"}
    writer.check("import os\nos.listdir()", "3", resumed=1)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import threading, time\nthreading.Thread(target=time.sleep, args=[9], daemon=True).start()",
         "1 other thread is running"),
        ("import subprocess\nsubprocess.run(['true'])", "it has started another program"),
        ("import os\nif not os.fork(): os._exit(0)\nos.wait()", "it has started another program"),
        ("import subprocess\nsubprocess.Popen(['sleep', '9'])", "a process that it started is still running"),
        ("import socket\nends = socket.socketpair()", "socket:"),
        ("import asyncio\nawait asyncio.sleep(0)", "is open"),
        ("import mmap\nm = mmap.mmap(-1, 100)", "it shares memory"),
        ("import signal\nsignal.signal(signal.SIGCHLD, lambda *a: None);", "it handles the signal SIGCHLD"),
        ("import signal\nsignal.alarm(100)", "a timer is running"),
        ("open('made.txt', 'w').write('x')", "it creates .*/made.txt"),
        ("import os\nos.mkdir('made')", "it creates .*/made"),
        ("import os\nos.remove('old.txt')", "it removes .*/old.txt"),
        ("open('old.txt', 'a').write('x')", "it changes .*/old.txt, which existed before"),
        ("t = open('old.txt').read()\nopen('old.txt', 'w').write(t)", "it changes .*/old.txt"),
        ("f = open('old.txt', 'w')", "old.txt is open"),
        ("import sqlite3\nsqlite3.connect('old.txt').close()", "a database"),
        ("import ctypes\nlibc = ctypes.CDLL(None)\nd = libc.creat(b'old.txt', 0o644)\n"
         "libc.write(d, b'xyz', 3)\nlibc.close(d);", "native code has written to a file"),
        ("import tempfile\nopen(tempfile.gettempdir() + '/x', 'w').close()", "its temporary folder"),
    ],
)  # fmt: skip
def test_where_there_is_no_checkpoint(writer: Writer, code: str, reason: str) -> None:
    (writer.root / "content").mkdir()
    (writer.root / "content" / "old.txt").write_text("old")
    run = writer.run("x = 1", code, "2")
    assert [one.status for one in run.cells] == ["ok"] * 3
    assert len(writer.refusals.reasons) == 2 and not writer.store.find(["no key"])
    assert all(re.search(reason, one) for one in writer.refusals.reasons)
    assert writer.run("x = 1", code, "3").resumed == 1


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="this system has no folder in memory")
def test_a_site_in_memory_is_a_site_like_others() -> None:
    """Other folders below `/dev` belong to the system."""
    with no_process_left(), tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        writer = Writer(Path(folder))
        (writer.root / "content").mkdir()
        data = writer.root / "content" / "x.txt"
        data.write_text("1")
        read = "with open('x.txt') as file:\n    x = file.read()"
        writer.check(read, "print(x)", resumed=0)
        data.write_text("22")
        assert printed(writer.check(read, "print(x, 3)", resumed=0).cells[1]) == "22 3\n"
        writer.store.close()


def test_files_that_are_written_anew(writer: Writer) -> None:
    """A resumed run leaves the files of a full run, unless somebody else has changed them since."""
    (writer.root / "content").mkdir()
    file = writer.root / "content" / "table.txt"
    file.write_text("of the last run")
    steps = ("import tempfile\nopen('table.txt', 'w').write('1\\n')", "x = open('table.txt').read()", "x")

    def resumed(last: str) -> int:
        run = writer.run(*steps, last)
        assert printed(run.cells[3]) == "1\n1\n"
        return run.resumed

    assert resumed("print(tempfile.gettempdir() and x + open('table.txt').read(), end='')") == 0
    assert resumed("print(x + open('table.txt').read(), end='')") == 3
    file.write_text("of somebody else")
    assert resumed("print(x, open('table.txt').read(), sep='', end='')") == 0
    assert resumed("print(x + open('table.txt').read(), end='')\nopen('table.txt', 'w').write('2')") == 3
    assert resumed("print(x + open('table.txt').read(), end='')") == 0


def test_c_code_that_prints_has_a_checkpoint(writer: Writer) -> None:
    code = "import ctypes, os\nlibc = ctypes.CDLL(None)\nlibc.printf(b'from C\\n')\nos.write(1, b'below\\n');"
    writer.check(code, "print('a')\nlibc.printf(b'more\\n');", "1", resumed=0)
    writer.check(code, "print('b')\nlibc.printf(b'more\\n');", "1", resumed=1)
    writer.check(code, "print('b')\nlibc.printf(b'more\\n');", "2", resumed=2)


def test_the_folder_for_temporary_files_is_the_same_and_empty(writer: Writer) -> None:
    first = "import os, pathlib, tempfile\nt = pathlib.Path(tempfile.gettempdir())\nhere = str(t)[::-1]"
    use = "(t / 'x').write_text('1'), sorted(p.name for p in t.iterdir()), here == os.environ['TMPDIR'][::-1]"
    writer.check(first, use, "1", resumed=0)
    writer.check(first, f"{use}, 2", "1", resumed=1)
    writer.check(first, f"{use}, 3", "1", resumed=1)


def test_a_sweep(writer: Writer) -> None:
    from blogsmith.execute.session.jobs import SweepStep

    swept = cell(2, "n = sum(range(d)); n", binding={"d": 3}, sweep_steps=(SweepStep("d=5", {"d": 5}),))
    writer.check("x = 1", swept, "n", resumed=0)
    writer.check("x = 1", swept, "n + x", resumed=2)
    writer.check("x = 1", replace(swept, sweep_steps=()), "n + x", resumed=1)
    writer.check("x = 1", replace(swept, sweep_steps=(), code="n = d; n"), "n + x", resumed=1)


@pytest.mark.parametrize("change", [{"text_bytes": 500}, {"threads": 1, "env_more": "1"}, {"session": "b"}])
def test_another_setting_is_another_session(writer: Writer, change: dict[str, Any]) -> None:
    writer.run(*BASE)
    if change.pop("env_more", ""):
        change["env"] = {**job(writer.root).env, "MORE": "1"}
    assert writer.run(*BASE, **change).resumed == 0
    assert writer.run(*BASE).resumed == 4


def test_a_shut_in_session_stays_shut_in(writer: Writer) -> None:
    escape = "try:\n    open('old.txt', 'w')\nexcept PermissionError:\n    print('refused')"
    (writer.root / "content").mkdir()
    (writer.root / "content" / "old.txt").write_text("old")
    run = writer.run("x = 1", "2", sandbox="landlock")
    if run.problem:
        pytest.skip(run.problem)
    run = writer.run("x = 1", escape, sandbox="landlock")
    assert (run.resumed, printed(run.cells[1])) == (1, "refused\n")
    tempfile = "import tempfile\nopen(tempfile.gettempdir() + '/x', 'w').write('1')"
    assert writer.run("x = 1", tempfile, sandbox="landlock").cells[1].status == "ok"


def test_memory_and_number_are_bounded(tmp_path: Path) -> None:
    steps = [f"x{n} = {n}" for n in range(6)]
    few, small = Writer(tmp_path, most=2), Writer(tmp_path, max_bytes=1)
    with no_process_left():
        before = children()
        few.run(*steps)
        assert len(children() - before) == 2
        assert few.run(*steps, "x1").resumed > 0
        small.run(*steps)
        assert len(children() - before) == 2
        few.store.close()
        few.run(*steps)
        assert children() == before


def test_those_that_save_least_go_first(tmp_path: Path) -> None:
    steps = ["import time\ntime.sleep(0.3)", *[f"x{n} = {n}" for n in range(3)]]
    writer = Writer(tmp_path, most=2)
    with no_process_left():
        writer.run(*steps)
        assert writer.run(steps[0], "y = 1").resumed == 1
        writer.store.close()


def test_one_that_was_killed_is_no_loss(writer: Writer) -> None:
    before = children()
    writer.run(*BASE)
    for pid in children() - before:
        os.kill(pid, 9)
    writer.check(*BASE[:3], OTHER, resumed=0)
    writer.check(*BASE[:3], OTHER, "1", resumed=4)


def test_marks_go_down_only() -> None:
    """Without privileges a process cannot raise a limit."""
    number = new_number()
    assert 0 < number - new_number(number) <= 1 << 24


KILLED = """
import os, sys, time
from pathlib import Path
from tests.test_checkpoints import Writer
from tests.sessions import children
writer = Writer(Path(sys.argv[1]))
writer.run("x = 1", "y = 1")
resume = "import os, time\\nopen('pid', 'w').write(str(os.getpid()))\\ntime.sleep(60)"
print(*children(), flush=True)
writer.run("x = 1", resume)
"""


@pytest.mark.parametrize("number", [2, 9, 15])
def test_checkpoints_end_with_the_builder(tmp_path: Path, number: int) -> None:
    (tmp_path / "content").mkdir()
    (tmp_path / "content" / "pid").write_text("")
    root = Path(__file__).parent.parent
    command = [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path)]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as builder:
        assert builder.stdout is not None
        pids = [int(word) for word in builder.stdout.readline().split()]
        wait_for(lambda: bool((tmp_path / "content" / "pid").read_text()))
        pids.append(int((tmp_path / "content" / "pid").read_text()))
        assert len(pids) == 3 and all(map(is_alive, pids))
        builder.send_signal(number)
    wait_for(lambda: not any(map(is_alive, pids)))


LINES = (
    "x = x + [len(x)]",
    "x.append(random.random())",
    "print(x[-1:])",
    "random.seed(5)",
    "x[:1], random.random()",
    "n += 1; n",
    "def f(a):\n    return a * {n}",
    "f(n)",
    "assert n < 3, n",
    "warnings.warn('again', stacklevel=1)",
    "print(open('data.txt').read())",
    "open('table.txt', 'w').write(str(n));",
    "open('table.txt').read()",
    "import itertools\ncount = itertools.count(n)",
    "next(count)",
)
FIRST = "import random, warnings\nrandom.seed(1)\nx, n = [], 0\ncount = iter(range(9))\nf = abs"


def edit(cells: list[str], chance: random.Random, content: Path) -> list[str]:
    """Edit the cells as an author might."""
    place = chance.randrange(1, len(cells) + 1)
    line = chance.choice(LINES).replace("{n}", str(chance.randrange(5)))
    match chance.randrange(7):
        case 0 | 1:
            return [*cells[:place], line, *cells[place + 1 :]]
        case 2:
            return [*cells[:place], line, *cells[place:]]
        case 3 if len(cells) > 2:
            return [*cells[:place], *cells[place + 1 :]]
        case 4 if place > 1:
            return [*cells[: place - 1], *cells[place:], cells[place - 1]] if place > 1 else cells
        case 5:
            (content / "data.txt").write_text(str(chance.random()))
            return cells
        case _:
            return [*cells[: place - 1], f"{cells[place - 1]}\n# {chance.randrange(9)}", *cells[place:]]


def check_edits(writer: Writer, seed: int, edits: int) -> int:
    """Make random edits, each compared with a run from the start. Return the number of resumed cells."""
    chance, content = random.Random(seed), writer.root / "content"
    content.mkdir(exist_ok=True)
    for name in ("data.txt", "table.txt"):
        (content / name).write_text("0")
    cells, resumed = [FIRST, *chance.sample(LINES, 4)], 0
    for _ in range(edits):
        steps: list[str | CellStep] = [cell(n, code, error=n % 3 == 0) for n, code in enumerate(cells, 1)]
        found = writer.run(*steps)
        assert same(found) == same(run_session(job(writer.root, *steps))), cells
        resumed += found.resumed
        cells = edit(cells, chance, content)
    return resumed


def test_edits_by_chance(writer: Writer) -> None:
    assert check_edits(writer, 1, 12) > 0


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_many_edits_by_chance(writer: Writer, seed: int) -> None:
    assert check_edits(writer, seed, 60) > 0
