"""Sessions on the workers of a Dask cluster: the same results as locally, and no leftovers."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from importlib import import_module
from multiprocessing import resource_tracker
from pathlib import Path

import pytest
from msgspec import structs

from blogsmith.base.diagnostics.extras import install_command
from blogsmith.config.schema import Dask
from blogsmith.execute.cluster import dask_connection
from blogsmith.execute.cluster.dask_cluster import DaskCluster
from blogsmith.execute.cluster.dask_connection import ClusterError
from blogsmith.execute.cluster.remote import RemoteEnvironment
from blogsmith.execute.session.jobs import SessionJob
from blogsmith.execute.session.pool import run_sessions
from blogsmith.model.results import SessionRun
from tests.bench.preview_processes import processes
from tests.cuda_stand_in import put_tool, put_torch
from tests.dask_machines import Machines, machines, marked, needs_dask
from tests.run_sites import STALE, command, page, records, site
from tests.serve_process import running as serving_site
from tests.sessions import LINUX, cell, is_alive, job, no_process_left, printed, value, wait_for
from tests.site_files import build
from tests.site_files import printed as said

pytestmark = pytest.mark.skipif(os.name != "posix", reason="cells run on Linux and macOS only")

ENDLESS = "import os; open(f'pid{os.getpid()}', 'w').close()\nwhile True: pass"
DEAF = f"import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n{ENDLESS}"
HERE = "execute: {executor: dask}\n"


def named(root: Path, name: str, *codes: object, **more: object) -> SessionJob:
    return replace(job(root, *codes), session=name, **more)  # type: ignore[arg-type]


def timeless(run: SessionRun) -> SessionRun:
    """Return the run without its wall time."""
    return structs.replace(run, cells=tuple(structs.replace(c, seconds=0.0) for c in run.cells))


def running(root: Path) -> list[int]:
    """Return the running sessions of `ENDLESS`."""
    return [pid for path in root.rglob("pid*") if is_alive(pid := int(path.name[3:]))]


# -- a cluster on this machine --


@pytest.fixture(autouse=True)
def tracker() -> None:
    """Start Python's own helper of `multiprocessing`, which runs until the end and is not a leftover."""
    resource_tracker.ensure_running()


def every_ending(root: Path) -> list[SessionJob]:
    """Return sessions that end in every possible way."""
    limit = {"timeout_s": 0.5}
    picture = "class P:\n    def _repr_png_(self): return b'\\x89PNG'\nP()"
    return [
        named(root, "ok", "x = 20\nprint(x)", "x + 1", value(1, "x"), picture),
        named(root, "endless", "print(1)", cell(2, "while True: pass", **limit), "3"),
        named(root, "leaves", "print(1)\nimport os\nos._exit(3)", "2"),
        named(root, "deaf", cell(1, DEAF, **limit), "2"),
        named(root, "hungry", cell(1, "x = bytearray(2**31)", memory_bytes=5 * 10**8), "2"),
        named(root, "raises", "def f(): return 1 / 0", "f()", "3"),
        named(root, "meant", cell(1, "1/0", error=True), "import os; os.getcwd()"),
        named(root, "skips", cell(1, "1", skip="no torch")),
        named(root, "nowhere", "1", folder=root / "missing"),
    ]


@needs_dask
def test_the_same_results_as_here(tmp_path: Path) -> None:
    jobs = every_ending(tmp_path)
    with no_process_left(), DaskCluster(Dask(), RemoteEnvironment(), tmp_path, tmp_path) as cluster:
        far = list(run_sessions(jobs, workers=2, executor=cluster.start_executor(jobs, 2)))
        assert running(tmp_path) == []
    near = list(run_sessions(jobs, workers=2))
    assert [[c.status for c in run.cells] for run in near] == [
        ["ok", "ok", "ok"],
        ["ok", "timeout", "skipped"],
        ["died", "skipped"],
        ["timeout", "skipped"],
        ["memory", "skipped"],
        ["ok", "error", "skipped"],
        ["error", "ok"],
        ["skipped"],
        ["skipped"],
    ]
    for one, other in zip(far, near, strict=True):
        # a worker names no Python of its machine
        assert timeless(one) == structs.replace(timeless(other), python="")


@needs_dask
def test_a_worker_that_dies_takes_only_its_session(tmp_path: Path) -> None:
    """In addition, sessions with CUDA find a worker here, which runs one at a time."""
    alone = "import os, time\nos.mkdir('one')\ntime.sleep(0.3)\nos.rmdir('one')"
    jobs = [
        named(tmp_path, "harm", "import os; os.kill(os.getppid(), 9)", "2"),
        *(named(tmp_path, f"s{n}", f"import time; time.sleep(0.2)\nprint({n})") for n in range(4)),
    ]
    with no_process_left(), DaskCluster(Dask(), RemoteEnvironment(), tmp_path, tmp_path) as cluster:
        with_cuda = [named(tmp_path, f"c{n}", alone, cuda=True) for n in range(3)]
        executor = cluster.start_executor([*jobs, *with_cuda], 2)
        cuda = list(run_sessions(with_cuda, workers=2, executor=executor))
        harmed, *others = run_sessions(jobs, workers=2, executor=executor)
    assert [run.cells[0].status for run in cuda] == ["ok"] * 3
    assert harmed.problem == "the Dask worker died while it ran the session"
    assert [c.status for c in harmed.cells] == ["skipped", "skipped"]
    assert [printed(run.cells[0]) for run in others] == ["0\n", "1\n", "2\n", "3\n"]


POST = """```{python}
#| label: a
total = sum(int(n) for n in open("numbers.txt"))
print(total)
total / 7
```

The sum is {= total =}.

```{python}
#| session: other
#| error: true
#| fig-alt: a dot
class Dot:
    def _repr_svg_(self):
        return '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>'
display(Dot())
1/0
```
"""


def without_seconds(text: str) -> str:
    # a cell of almost no time shows no time
    return re.sub(r'\u00a0· (?:under )?[\d.]+ m?s(?=</p>)|(?<=data-seconds=")[^"]+', "", text)


@needs_dask
def test_a_site_gets_the_same_records_and_pages(tmp_path: Path) -> None:
    roots = []
    for name, config in (("here", ""), ("there", HERE)):
        root = site(tmp_path / name, config, a=POST, b="print(1)\n\n2\n\n#| sweep: {d: [1, 2]}\nprint(d)")
        (root / "content/posts/numbers.txt").write_text("1\n2\n39\n")
        with no_process_left():
            assert said(build(root, execution=STALE)) == ""
        roots.append(root)
    assert records(roots[0]) == records(roots[1]) != {}
    for name in "ab":
        assert without_seconds(page(roots[0], name)) == without_seconds(page(roots[1], name))
    written = (file := roots[1] / "_freeze/posts/a/outputs.json").stat().st_mtime_ns
    again = build(roots[1], execution=structs.replace(STALE, execute="all"))
    assert (said(again), file.stat().st_mtime_ns) == ("", written)


@needs_dask
@pytest.mark.skipif(not LINUX, reason="processes are found under /proc")
@pytest.mark.parametrize("to_group", [False, True], ids=["builder", "terminal"])
@pytest.mark.parametrize("when", ["starting", "running"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_builder_that_is_told_to_end_leaves_nothing(
    tmp_path: Path, number: signal.Signals, code: int, when: str, to_group: bool
) -> None:
    (temporary := tmp_path / "tmp").mkdir()
    root = site(tmp_path / "s", HERE, a="print(1)", b=DEAF, c=ENDLESS)
    env = {**os.environ, "TMPDIR": str(temporary), "USER": str(root)}
    with (tmp_path / "said").open("wb") as messages:
        builder = command(root, "--jobs", "2", env=env, said=messages)
    try:
        if when == "running":
            wait_for(lambda: len(running(root)) == 2, 60)
        else:
            wait_for(lambda: len(marked(str(root))) > 2, 60)
        (os.killpg if to_group else os.kill)(builder.pid, number)
        assert builder.wait(60) == code
    finally:
        builder.kill()
        builder.wait()
    # Python's own helper of `multiprocessing` ends after all others
    wait_for(lambda: marked(str(root)) == [], 60)
    assert list(temporary.iterdir()) == []
    assert "Traceback" not in (tmp_path / "said").read_text("utf-8")


@needs_dask
@pytest.mark.skipif(not LINUX, reason="processes are found under /proc")
@pytest.mark.parametrize("when", ["starting", "running"])
def test_a_preview(tmp_path: Path, when: str) -> None:
    """Ctrl-C in its terminal ends it without leftovers and without output."""
    root = site(tmp_path / "s", HERE, a="print('on', 20 + 22)")
    with serving_site(root, trusted=True) as serving:
        serving.wait_for("/posts/a/", "on 42")
        before = len(processes(serving.process.pid))
        (root / "content/posts/a.md").write_text(f"---\ntitle: a\n---\n```{{python}}\n{ENDLESS}\n```\n")
        if when == "starting":
            wait_for(lambda: len(processes(serving.process.pid)) > before)
        else:
            wait_for(lambda: len(running(root)) == 1)


# -- a cluster that exists --


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    """Start two workers; one pretends to have torch and a device."""
    folder = tmp_path_factory.mktemp("cluster")
    put_torch(folder / "torch")
    put_tool(folder / "tool")
    path = f"{folder / 'tool'}{os.pathsep}{os.environ['PATH']}"
    with machines(folder) as found:
        gpu = {"PYTHONPATH": str(folder / "torch"), "PATH": path, "USER": "gpu", "SHIFT": "2"}
        found.add("gpu", "--resources", "GPU=1", env=gpu)
        found.add("cpu", env={"PYTHONPATH": "", "USER": "cpu", "SHIFT": "2"})
        yield found


def there(address: str) -> str:
    return f"execute: {{executor: dask, env: [SHIFT], dask: {{scheduler: '{address}'}}}}\n"


WHO = "import os; print('on', os.environ['USER'], os.environ['SHIFT'])"


@needs_dask
def test_sessions_go_where_their_needs_are_met(
    tmp_path: Path, cluster: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHIFT", "1")
    root = site(
        tmp_path / "s",
        there(cluster.address),
        a=f"#| needs: cuda\n{WHO}\nimport torch; torch.use()",
        b=f"#| needs: torch\n{WHO}",
        c=f"#| needs: torch>=3\n#| fallback: other\n{WHO}\n\n#| label: other\nprint('other')",
    )
    assert "error" not in said(build(root, execution=STALE))
    assert "on gpu 1" in page(root, "a") and "Some GPU" in page(root, "a")
    assert "on gpu 1" in page(root, "b")
    assert "on gpu" not in page(root, "c") and "on cpu" not in page(root, "c")


@needs_dask
def test_nobody_offers_what_a_cell_needs(tmp_path: Path, cluster: Machines) -> None:
    config = f"execute: {{executor: dask, dask: {{scheduler: '{cluster.address}', cuda: {{TPU: 2}}}}}}\n"
    root = site(tmp_path / "s", config, a="#| needs: cuda\n1", b="#| needs: nonsense\n1")
    errors = [line for line in said(build(root, execution=STALE)).splitlines() if ": error: " in line]
    assert [re.sub(r"tcp://[\d.:]+", "W", error) for error in errors] == [
        "content/posts/a.md:5:11: error: cell 1 cannot run and has no recorded result: "
        "no Dask worker offers TPU=2 [cell-need]",
        # the answer of the first worker is shown for all
        "content/posts/b.md:5:11: error: cell 1 cannot run and has no recorded result: "
        'no Dask worker meets it; W reports: package "nonsense" is not installed [cell-need]',
    ]


@needs_dask
def test_who_stops_listening_ends_sessions_on_workers(tmp_path: Path, cluster: Machines) -> None:
    jobs = [named(tmp_path, "quick", "1"), *(named(tmp_path, f"s{n}", DEAF) for n in range(3))]
    (tmp_path / "blogsmith.yaml").touch()
    with (
        DaskCluster(Dask(scheduler=cluster.address), RemoteEnvironment(), tmp_path, tmp_path) as workers,
        closing(run_sessions(jobs, workers=2, executor=workers.start_executor(jobs, 2))) as runs,
    ):
        assert next(runs).session == "quick"
        wait_for(lambda: len(running(tmp_path)) == 2)
    wait_for(lambda: running(tmp_path) == [], 60)
    assert [process.poll() for process in cluster.workers] == [None, None]


@needs_dask
def test_sessions_on_workers_end_with_a_builder_that_is_killed(tmp_path: Path, cluster: Machines) -> None:
    root = site(tmp_path / "s", there(cluster.address), a=ENDLESS)
    builder = command(root, env={**os.environ, "SHIFT": "1"})
    wait_for(lambda: len(running(root)) == 1, 60)
    builder.kill()
    builder.wait()
    wait_for(lambda: running(root) == [], 60)


@needs_dask
def test_workers_that_cannot_run_sessions_are_named(tmp_path: Path, cluster: Machines) -> None:
    terms = RemoteEnvironment(python="/nowhere/python")
    with (
        pytest.raises(ClusterError) as error,
        DaskCluster(Dask(scheduler=cluster.address), terms, tmp_path, tmp_path),
    ):
        pass
    assert re.sub(r"tcp://[\d.:]+", "W", str(error.value)) == (
        "some Dask workers cannot run sessions: "
        f"W (no file {tmp_path}/blogsmith.yaml); W (no file {tmp_path}/blogsmith.yaml)"
    )


@needs_dask
def test_a_scheduler_without_workers_and_one_that_dies(tmp_path: Path) -> None:
    (folder := tmp_path / "cluster").mkdir()
    with machines(folder) as found:
        root = site(tmp_path / "s", there(found.address), a=ENDLESS, b=DEAF)
        assert re.search(
            r'the Dask cluster at "tcp://\S*" has no workers', said(build(root, execution=STALE))
        )
        found.add("one")
        builder = subprocess.Popen(
            [sys.executable, "-m", "blogsmith", "build", "--execute"],
            cwd=root,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_for(lambda: len(running(root)) == 1, 60)
        found.scheduler.kill()
        _, errors = builder.communicate(timeout=120)
        wait_for(lambda: running(root) == [])
    lost = 'cannot run session "main": the connection to the Dask scheduler is lost [cell-start]'
    assert builder.returncode == 1
    assert [line.partition("error: ")[2] for line in errors.splitlines() if "error" in line][:2] == [lost] * 2
    assert "Traceback" not in errors


# -- no cluster --


@needs_dask
def test_no_scheduler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_connection, "CONNECT_S", 1)
    root = site(tmp_path / "s", there("tcp://127.0.0.1:9"), a="1")
    import_module("distributed")  # the import may be slow
    began = time.monotonic()
    (found,) = build(root, execution=STALE).diagnostics
    # Dask alone would try for half a minute
    assert time.monotonic() - began < 20
    assert (found.code, found.path, found.place and found.place.line) == ("cell-start", "blogsmith.yaml", 2)
    assert found.source_line[found.place.column - 1 :].startswith("'tcp://127.0.0.1:9'")  # type: ignore[union-attr]
    assert found.message.startswith('cannot connect to the Dask scheduler at "tcp://127.0.0.1:9": Timed out')


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_connection, "find_spec", lambda name: None)
    (found,) = build(site(tmp_path / "s", there("tcp://box:1"), a="1"), execution=STALE).diagnostics
    assert (found.message, found.hint) == (
        'missing package "distributed", which "executor: dask" requires',
        f"run `{install_command('distributed>=2026.8')}`",
    )
    assert found.source_line[found.place.column - 1 :].startswith("dask, env")  # type: ignore[union-attr]


def test_a_site_that_runs_here_imports_nothing_of_dask(tmp_path: Path) -> None:
    root = site(tmp_path / "s", a="1")
    code = (
        "import sys; from blogsmith.cli.main import main; code = main(['build', '--execute']); "
        "sys.exit(code or bool({'dask', 'distributed'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True).returncode == 0
