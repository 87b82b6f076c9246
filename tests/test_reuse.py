"""Builds that continue before an edited cell: results as in a whole run, and every doubt causes one."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from blogsmith.base.storage.path_states import OWN_NAMES
from blogsmith.cells import reuse
from blogsmith.execute.session import kept_checkpoints
from blogsmith.execute.session.checkpoint_store import CheckpointStore
from blogsmith.execute.session.kept_checkpoints import KeptCheckpoints
from blogsmith.execute.session.pool import WorkerRegistry
from blogsmith.execute.session.process import spawn
from blogsmith.execute.session.session import run_session
from blogsmith.execute.session.working_folder import lock_folder, run_folders, working_folder
from blogsmith.model.results import SessionRun
from blogsmith.project.report import BuildReport, ExecutionOptions
from tests.run_sites import STALE, records, site
from tests.sessions import LINUX, job, no_process_left, wait_for
from tests.site_files import build
from tests.test_checkpoints import FIRST, LINES, edit, same

pytestmark = pytest.mark.skipif(not LINUX, reason="checkpoints are made on Linux only")
ALL = ExecutionOptions(execute="all")


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Make a checkpoint after every cell. Yield the folder for temporary files; end all checkpoints later."""
    monkeypatch.setattr(CheckpointStore, "is_worthwhile", lambda *_: True)
    monkeypatch.setattr(CheckpointStore, "trim", lambda self: None)
    monkeypatch.setattr(kept_checkpoints, "MAX_KEPT", 500)
    monkeypatch.delenv("CI", raising=False)
    folder = Path(tempfile.mkdtemp(dir="/tmp"))  # the path of a socket must be short
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    with no_process_left():
        yield folder
        end_all()
        with suppress(ChildProcessError):  # those that have ended by themselves
            while os.waitpid(-1, os.WNOHANG)[0]:
                continue
    shutil.rmtree(folder)


def end_all() -> None:
    """End all checkpoints that wait."""
    KeptCheckpoints(1, 0).keep(())


def write(root: Path, *cells: str, name: str = "a") -> None:
    """Replace the cells of a post."""
    text = "\n\n".join(f"```{{python}}\n{cell}\n```" for cell in cells)
    (root / "content" / "posts" / f"{name}.md").write_text(f"---\ntitle: {name}\n---\n{text}\n")


def run(root: Path, execution: ExecutionOptions = STALE) -> BuildReport:
    """Run cells and write no pages."""
    return build(root, execution=execution, write=False)


def whole(root: Path, copy: Path) -> dict[str, bytes]:
    """Return the records that a run of all cells gives."""
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(root, copy, ignore=shutil.ignore_patterns(*OWN_NAMES, "public"))
    assert run(copy, ALL).ok
    return records(copy)


def test_only_the_edited_cell_runs(kept: Path, tmp_path: Path) -> None:
    cells = ("import random\nrandom.seed(1)\nx = [random.random()]", "x.append(random.random())", "x")
    root = site(tmp_path / "s", a="\n\n".join(cells))
    assert run(root).executed_cells == 3
    for last in ("print('edited', x)", "1 / 0", "print('fixed', x, random.random())"):
        write(root, *cells[:2], last)
        report = run(root)
        assert list(report.cell_times) == ["content/posts/a.md: cell 3"]
    assert records(root) == whole(root, tmp_path / "w")
    write(root, *cells)
    assert run(root, ALL).executed_cells == 3
    (root / "blogsmith.yaml").write_text("title: T\nexecute: {keep: 0}\n")
    write(root, *cells[:2], "x, 2")
    assert run(root).executed_cells == 3


@dataclass(frozen=True)
class Form:
    """A dependency of a cell that its code does not show."""

    name: str
    first: str
    last: str = "1"
    change: Callable[[Path], object] | None = None
    """Change between the two builds, in the folder of the post."""
    reused: bool = False
    options: str = ""


def put(name: str, text: str = "changed, and longer") -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(text)


THREAD = "import threading, time\nthreading.Thread(target=time.sleep, args=[9], daemon=True).start()"
FORMS = (
    # State in memory, which a checkpoint contains.
    Form("alias", "a = [1]\nb = {'k': a}\na.append(2)", "b['k'].append(3)\nprint(a)", reused=True),
    Form("state of random", "import random\nrandom.seed(3)", "print(random.random())", reused=True),
    Form("state of a module", "import json\njson.mine = [1]", "json.mine", reused=True),
    Form("changed function", "import math\nmath.sqrt = abs", "import math\nmath.sqrt(-4)", reused=True),
    Form("environment", "import os\nos.environ['MINE'] = 'x'", "os.environ['MINE']", reused=True),
    Form("working folder", "import os\nos.chdir('..')", "os.path.basename(os.getcwd())", reused=True),
    Form("filter of warnings", "import warnings\nwarnings.simplefilter('error')",
         "try:\n    warnings.warn('x')\nexcept UserWarning:\n    print('raised')", reused=True),
    Form("precision of decimals", "import decimal\ndecimal.getcontext().prec = 4",
         "decimal.Decimal(1) / 3", reused=True),
    Form("iterator", "import itertools\nn = itertools.count(4)\nnext(n)", "next(n)", reused=True),
    Form("class and its instances", "class A:\n    all = []\n    def __init__(s): A.all.append(s)\nA();",
         "len(A.all)", reused=True),
    Form("exit handler", "import atexit\natexit.register(print, 'end')", "print('last')", reused=True),
    Form("path of modules", "import sys\nsys.path.insert(0, 'libs')", "import inner\ninner.x", reused=True),
    # Things outside the process that have changed.
    Form("file that was read", "t = open('read.txt').read()", "t", put("read.txt")),
    Form("imported module", "import mod_b", "mod_b.x", put("mod_b.py", "x = 'new'")),
    Form("module that hides another", "import mod_r", "mod_r.x", put("mod_r.py", "x = 'hides'")),
    Form("listed folder", "import os\nn = sorted(os.listdir('.'))", "'new1.txt' in n", put("new1.txt")),
    Form("pattern of files", "import glob\nn = glob.glob('data/*.csv')", "n", put("data/b.csv")),
    Form("missing file", "import os\nhas = os.path.exists('opt.txt')", "has", put("opt.txt")),
    Form("failed open", "try:\n    open('opt2.txt')\n    has = True\nexcept OSError:\n    has = False", "has",
         put("opt2.txt")),
    Form("size of a file", "import os\nn = os.path.getsize('size.txt')", "n", put("size.txt")),
    Form("declared file", "x = 1", "x", put("declared.txt"), options="#| depends: declared.txt\n"),
    Form("file outside the site", "t = open('../../../o.txt').read()", "t", put("../../../o.txt")),
    # State that a fork does not have.
    Form("thread", THREAD),
    Form("program", "import subprocess\nsubprocess.run(['true'])"),
    Form("running process", "import subprocess\np = subprocess.Popen(['sleep', '9'])"),
    Form("socket", "import socket\nends = socket.socketpair()"),
    Form("shared memory", "import mmap\nm = mmap.mmap(-1, 100)"),
    Form("timer", "import signal\nsignal.alarm(100)"),
    Form("database", "import sqlite3\nsqlite3.connect('x.db').close()"),
    Form("temporary file", "import tempfile\nopen(tempfile.gettempdir() + '/x', 'w').close()"),
    Form("open file", "f = open('open.txt', 'w')", "f.close()"),
    Form("file that grows", "open('log.txt', 'a').write('x')"),
    # Results that another run may not repeat.
    Form("random without a seed", "import random\nx = random.random()"),
    Form("clock", "import datetime\nt = datetime.datetime.now()"),
    Form("stopwatch", "import time\nt = time.perf_counter()", "time.perf_counter() > t"),
    Form("network", "import socket\ntry: socket.getaddrinfo('localhost', 80)\nexcept OSError: pass"),
    Form("C code", "import ctypes\nlibc = ctypes.CDLL(None);"),
    Form("freeze: false", "x = 1", "x", options="#| freeze: false\n"),
)  # fmt: skip


def test_hidden_dependencies(kept: Path, tmp_path: Path) -> None:
    """Each form is a post of two cells. The last one is edited, after something has changed."""
    root = site(tmp_path / "s", **{f"p{n}": f"{form.options}{form.first}" for n, form in enumerate(FORMS)})
    folder = root / "content" / "posts"
    (folder / "libs").mkdir()
    (folder / "data").mkdir()
    (root / "mod_r.py").write_text("x = 'of the root'")
    for name in ("libs/inner.py", "mod_b.py"):
        (folder / name).write_text("x = 'module'")
    for name in (
        "read.txt",
        "size.txt",
        "declared.txt",
        "open.txt",
        "log.txt",
        "data/a.csv",
        "../../../o.txt",
    ):
        (folder / name).write_text("0")

    def edited(last: Callable[[Form], str]) -> set[str]:
        for number, form in enumerate(FORMS):
            write(root, form.options + form.first, last(form), name=f"p{number}")
        report = run(root)
        assert report.ok
        return {
            FORMS[int(cell.split("/p")[2].split(".")[0])].name
            for cell in report.cell_times
            if "cell 1" in cell
        }

    assert edited(lambda form: form.last) == {form.name for form in FORMS}
    for form in FORMS:
        if form.change:
            form.change(folder)
    assert edited(lambda form: f"{form.last}\n'edited'") == {form.name for form in FORMS if not form.reused}
    # those that were not continued are whole runs themselves
    names = {f"p{number}" for number, form in enumerate(FORMS) if form.reused}
    for post in folder.glob("p*.md"):
        if post.stem not in names:
            post.unlink()
    clean = whole(root, tmp_path / "w")
    assert len(clean) > len(names) and clean.items() <= records(root).items()


def test_what_a_worker_inherits_must_be_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    import datetime as dt
    import resource

    today = dt.date(2026, 11, 27)
    before = reuse._origin(today)
    assert reuse._origin(today) == before != reuse._origin(dt.date(2026, 11, 28))
    mask = os.umask(0o077)
    try:
        assert reuse._origin(today) != before
    finally:
        os.umask(mask)
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    monkeypatch.setattr(resource, "getrlimit", lambda number: (soft + 1, hard))
    assert reuse._origin(today) != before
    monkeypatch.undo()
    monkeypatch.setattr(reuse, "program_digest", lambda: "another version of blogsmith")
    assert reuse._origin(today) != before


class Builder:
    """Runs a session as builds do, one after another."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def run(self, *cells: str, seconds: int = 60, number: int = 0) -> SessionRun:
        """Run the session, continued from the state of an earlier builder if possible."""
        store, live = CheckpointStore(), WorkerRegistry(spawn)
        waiting = KeptCheckpoints(seconds, store.max_bytes)
        with working_folder() as folder:
            base = job(self.root)
            work = job(self.root, *cells, env={**base.env, "TMPDIR": str(folder), "NUMBER": str(number)})
            checkpoints = store.session(work, {}, "today", live.register, kept=waiting)
            run = run_session(work, start=live.start, checkpoints=checkpoints)
            waiting.keep(store.take_all())
            waiting.close()
        return run

    def check(self, *cells: str) -> SessionRun:
        """Run it. The result must equal that of a run from the first cell."""
        run = self.run(*cells)
        assert same(run) == same(run_session(job(self.root, *cells))), cells
        return run


ORPHANS = """import os, time
for _ in range(6):
    if not os.fork():
        os.setsid()
        if not os.fork():
            time.sleep(60)
        os._exit(0)
    os.wait()
time.sleep(60)"""


def test_failures_of_continued_cells(kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process of a continued session is not a child of the builder, which must know its end and usage."""
    monkeypatch.setattr("blogsmith.execute.session.requests.process_limit", lambda: 4)
    builder = Builder(tmp_path)
    builder.run("x = 1")
    for code, problem in (
        ("import os\nos._exit(3)", "os._exit(3)"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "segmentation fault"),
        (ORPHANS, "more than 4 processes"),
    ):
        run = builder.run("x = 1", code)
        assert (run.resumed, run.cells[1].status) == (1, "died") and problem in run.cells[1].problem
    assert builder.check("x = 1", "x").resumed == 1


def test_a_state_that_is_gone_or_in_use_costs_a_whole_run(kept: Path, tmp_path: Path) -> None:
    builder = Builder(tmp_path)
    builder.run("x = 1", seconds=1)
    (folder,) = run_folders()
    wait_for(lambda: not list(folder.glob("*.socket")))
    assert builder.check("x = 1", "2").resumed == 0
    with working_folder():  # the next run removes what has ended
        os.utime(folder, (1, 1))
    with working_folder():
        assert not folder.exists()
    assert builder.check("x = 1", "3").resumed == 1
    places = [path for folder in run_folders() for path in folder.iterdir() if path.is_dir()]
    locks = list(filter(None, (lock_folder(str(path)) for path in places)))
    assert builder.check("x = 1", "4").resumed == 0
    for lock in locks:
        os.close(lock)
    for path in places:
        (path / "left.txt").write_text("by a session that was killed")
    use = "import os, tempfile\nos.listdir(tempfile.gettempdir())"
    assert builder.check("x = 1", use).resumed == 1
    assert builder.run("x = 1", "3", number=1).resumed == 0
    for path in [path for folder in run_folders() for path in folder.glob("*.state")]:
        path.write_bytes(b"\x81")
    assert builder.check("x = 1", "4").resumed == 0
    for folder in run_folders():
        folder.chmod(0o755)
    assert builder.check("x = 1", "5").resumed == 0
    for folder in kept.iterdir():
        folder.chmod(0o700)


def check_edits(builder: Builder, seed: int, edits: int) -> int:
    """Make random edits, each compared with a run from the start. Return the number of reused cells."""
    chance, content = random.Random(seed), builder.root / "content"
    content.mkdir(exist_ok=True)
    for name in ("data.txt", "table.txt"):
        (content / name).write_text("0")
    cells, reused = [FIRST, *chance.sample(LINES, 4)], 0
    for _ in range(edits):
        reused += builder.check(*cells).resumed
        cells = edit(cells, chance, content)
    return reused


def test_random_edits(kept: Path, tmp_path: Path) -> None:
    assert check_edits(Builder(tmp_path), 1, 6) > 0


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
def test_many_random_edits(kept: Path, tmp_path: Path, seed: int) -> None:
    """The record of a site after each edit is that of a whole run."""
    chance, numbers = random.Random(seed), count()
    root = site(tmp_path / "s", a="1")
    content = root / "content" / "posts"
    for name in ("data.txt", "table.txt"):
        (content / name).write_text("0")
    cells, reused = [FIRST, *chance.sample(LINES, 4)], 0
    for _ in range(30):
        write(root, *(f"#| error: true\n{cell}" for cell in cells))
        report = run(root)
        assert report.ok
        if report.executed_cells:  # otherwise the record is that of the cells before the edit
            reused += len(cells) - report.executed_cells
            assert records(root) == whole(root, tmp_path / f"w{next(numbers)}"), cells
        cells = edit(cells, chance, content)
    assert reused > 0
