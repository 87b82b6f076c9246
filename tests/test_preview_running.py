"""Cells in the preview: what runs, what does not run again, events, and no leftovers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from blogsmith.execute.session import process
from blogsmith.execute.session.jobs import SessionJob
from blogsmith.preview.cells import worker_pool
from blogsmith.preview.cells.events import GAP_S
from blogsmith.preview.cells.task import SessionTask
from blogsmith.project.report import ExecutionOptions
from tests.preview_cells import Previewed, previewed, url
from tests.run_sites import records, site
from tests.sessions import LINUX, children, is_alive, wait_for
from tests.site_files import build
from tests.test_execution_broken_off import processes

pytestmark = pytest.mark.skipif(os.name != "posix", reason="cells run on Linux and macOS only")
LONG = "import pathlib, time\npathlib.Path('started').touch()\nprint('first', flush=True)\ntime.sleep(60)"


@pytest.fixture
def preview(tmp_path: Path) -> Iterator[Previewed]:
    """Yield a site with a post of one cell, which has run."""
    root = site(tmp_path / "s", a="print(1)")
    with previewed(root) as running:
        running.changed("a")
        assert running.outcome().record_changed
        yield running


def test_what_is_stale_runs_and_is_told(preview: Previewed) -> None:
    first = preview.events[:]
    assert [(e["state"], e.get("cell")) for e in first] == [
        ("queued", None),
        ("started", 1),
        ("output", 1),
        ("ended", 1),
        ("finished", None),
    ]
    assert [e["done"] for e in first] == [0, 0, 0, 1, 1] and {e["total"] for e in first} == {1}
    assert {(e["kind"], e["page"], e["session"]) for e in first} == {("run", url("a"), "main")}
    assert first[2]["text"] == "1\n" and first[3]["problem"] == "" and first[3]["seconds"] > 0
    preview.changed("a")
    assert preview.quiet() and preview.events == first


def test_an_edited_cell_runs_anew(preview: Previewed) -> None:
    preview.write("a", "print(1)", "print(2)\n40 + 2")
    preview.changed("a")
    outcome = preview.outcome()
    assert (outcome.post, outcome.url, outcome.ran) == ("content/posts/a.md", url("a"), 2)
    assert outcome.record_changed and not outcome.diagnostics
    assert [e["text"] for e in preview.events if e["state"] == "output" and e["cell"] == 2] == ["2\n", "42\n"]
    assert '"2\\n"' in preview.recorded("a")


def test_an_edit_of_prose_starts_nothing(preview: Previewed) -> None:
    before = preview.events[:]
    text = (preview.root / "content/posts/a.md").read_text("utf-8")
    preview.text(
        "content/posts/a.md", text.replace("```{python}", "Some prose.\n\n```{python}\n#| label: one")
    )
    preview.changed("a")
    assert preview.quiet() and preview.events == before


def test_an_edit_of_prose_does_not_disturb_what_runs(preview: Previewed) -> None:
    code = "import time\nprint('x', flush=True)\ntime.sleep(0.5)\nprint('y')"
    preview.write("a", code)
    preview.changed("a")
    preview.state("output", text="x\n")
    text = (preview.root / "content/posts/a.md").read_text("utf-8")
    preview.text("content/posts/a.md", f"{text}\nProse behind it.\n")
    preview.changed("a")
    assert preview.outcome().record_changed
    assert preview.states().count("queued") == 2, "once at first, once for the edit of the code"


def test_output_comes_while_the_cell_runs_and_stop_ends_it(preview: Previewed) -> None:
    preview.write("a", "print('before')", LONG)
    preview.changed("a")
    preview.state("output", text="first\n", cell=2)
    states = [(e["state"], e.get("cell"), e.get("text")) for e in preview.runner.current()]
    assert states == [("started", 2, None), ("output", 2, "first\n")]
    # without the stop, it would run longer than this test waits
    preview.runner.stop(url("a"))
    outcome = preview.outcome()
    assert outcome.stopped and not outcome.record_changed and not outcome.diagnostics
    assert preview.states()[-1] == "stopped" and preview.runner.current() == []
    preview.changed("a")
    assert preview.quiet(), "it was stopped, so it does not start by itself"
    after = len(preview.events)
    preview.runner.run_again(url("a"))
    preview.state("started", after=after, cell=2)
    preview.runner.stop()
    assert preview.outcome().stopped


def test_how_a_stopped_cell_dies_is_no_news(preview: Previewed, monkeypatch: pytest.MonkeyPatch) -> None:
    cancel = SessionTask.cancel

    def cancel_slowly(task: SessionTask) -> None:
        cancel(task)
        # the request returns only after the session has ended and reported it
        wait_for(lambda: task.run is not None)

    monkeypatch.setattr(SessionTask, "cancel", cancel_slowly)
    preview.write("a", LONG)
    preview.changed("a")
    preview.state("output", text="first\n")
    before = len(preview.events)
    preview.runner.stop(url("a"))
    assert preview.outcome().stopped
    assert preview.states()[before:] == ["stopped"]


def test_the_last_edit_wins(preview: Previewed) -> None:
    preview.write("a", LONG)
    preview.changed("a")
    wait_for((preview.root / "content/posts/started").exists)
    pids = children()
    preview.write("a", "print('the last')")
    preview.changed("a")
    # without the stop, the first would run longer than this test waits
    outcome = preview.outcome()
    assert outcome.record_changed and not outcome.diagnostics and not outcome.stopped
    assert "the last" in preview.recorded("a") and "first" not in preview.recorded("a")
    assert not any(is_alive(pid) for pid in pids - children())


def test_an_edit_that_is_no_python_ends_the_run_and_starts_nothing(preview: Previewed) -> None:
    preview.write("a", LONG)
    preview.changed("a")
    preview.state("output", text="first\n")
    preview.write("a", "print(")
    preview.changed("a")
    preview.state("stopped")
    assert preview.quiet() and "started" not in preview.states()[-1:]
    preview.write("a", "print(3)")
    preview.changed("a")
    assert preview.outcome().record_changed


def test_what_failed_is_reported_once_and_not_repeated(preview: Previewed) -> None:
    preview.write("a", "x = 1", "print(x)\n1 / 0")
    preview.changed("a")
    outcome = preview.outcome()
    assert [(d.code, d.place and d.place.line) for d in outcome.diagnostics] == [("cell-error", 10)]
    assert not outcome.record_changed and '"1\\n"' in preview.recorded("a")
    assert "ZeroDivisionError" in preview.state("output", cell=2)["text"] + "".join(
        str(e.get("text")) for e in preview.events
    )
    text = (preview.root / "content/posts/a.md").read_text("utf-8")
    preview.text("content/posts/a.md", text.replace("---\n```", "---\nProse.\n\n```", 1))
    preview.changed("a")
    moved = preview.outcome()
    assert [(d.code, d.place and d.place.line) for d in moved.diagnostics] == [("cell-error", 12)]
    assert moved.ran == 0 and preview.quiet()
    preview.write("a", "print(1)")
    preview.changed("a")
    assert preview.outcome().diagnostics == (), "gone at once: what is recorded is of this code"
    assert preview.quiet()


def test_a_missing_file_that_comes_is_tried_again(preview: Previewed) -> None:
    preview.write("a", "print(open('data.txt').read())")
    preview.changed("a")
    assert [d.code for d in preview.outcome().diagnostics] == ["cell-error"]
    preview.text("content/posts/data.txt", "here")
    preview.changed("a")
    assert preview.outcome().diagnostics == (), "what failed is no longer true"
    assert preview.outcome().record_changed
    assert "here" in preview.recorded("a")
    preview.text("content/posts/data.txt", "changed")
    preview.changed("a")
    assert preview.outcome().record_changed and "changed" in preview.recorded("a")


def test_a_longer_limit_is_another_attempt(preview: Previewed) -> None:
    preview.write("a", "#| timeout: 0.2\nimport time\ntime.sleep(0.4)\nprint('slow')")
    preview.changed("a")
    assert [d.code for d in preview.outcome().diagnostics] == ["cell-timeout"]
    preview.write("a", "#| timeout: 30\nimport time\ntime.sleep(0.4)\nprint('slow')")
    preview.changed("a")
    outcomes = [preview.outcome(), preview.outcome()]
    assert [o.record_changed for o in outcomes] == [False, True] and not outcomes[-1].diagnostics


def test_a_result_that_is_not_kept_runs_once(preview: Previewed) -> None:
    preview.write("a", "#| freeze: false\nimport random\nprint(random.random())")
    preview.changed("a")
    assert preview.outcome().ran == 1
    preview.changed("a")
    assert preview.quiet()
    (preview.root / "_freeze/posts/a/outputs.json").unlink()
    preview.changed("a")
    assert preview.outcome().ran == 1, "what is gone is made again"


def test_what_may_not_run_does_not(tmp_path: Path) -> None:
    root = site(tmp_path / "s", a=LONG)
    with previewed(root) as preview:
        preview.changed("a", may_run=False)
        assert preview.quiet()
        preview.changed("a")
        preview.state("started")
        preview.changed("a", may_run=False)
        preview.state("stopped")
        assert preview.runner.current() == [] and not preview.recorded("a")


def test_the_page_that_is_looked_at_takes_the_place_of_others(tmp_path: Path) -> None:
    wait = "import pathlib, time\nwhile not pathlib.Path('go').exists():\n    time.sleep(0.01)\nprint('went')"
    root = site(tmp_path / "s", a=wait, b=wait, c="print('shown')")
    with previewed(root) as preview:
        preview.changed(jobs=1)
        preview.state("started", page=url("a"))
        preview.changed("c", jobs=1)
        assert preview.outcome().url == url("c")
        preview.text("content/posts/go", "")
        assert {preview.outcome().url for _ in "ab"} == {url("a"), url("b")}
        order = [e["page"] for e in preview.events if e["state"] == "started"]
        assert order == [url("a"), url("c"), url("a"), url("b")]


def test_two_pages_run_at_the_same_time_and_fast_text_is_merged(tmp_path: Path) -> None:
    meet = (
        "import pathlib, time\npathlib.Path('{}').touch()\n"
        "while not pathlib.Path('{}').exists():\n    time.sleep(0.005)\n"
        "for n in range(3000):\n    print(n)"
    )
    root = site(tmp_path / "s", a=meet.format("1", "2"), b=meet.format("2", "1"))
    with previewed(root) as preview:
        began = time.monotonic()
        preview.changed(jobs=2)
        assert all(preview.outcome().record_changed for _ in "ab")
        # the first and the last fragment may come at any time
        most = 2 + (time.monotonic() - began) / GAP_S
        for name in "ab":
            said = [e["text"] for e in preview.events if e["state"] == "output" and e["page"] == url(name)]
            assert "".join(said) == "".join(f"{n}\n" for n in range(3000))
            assert len(said) <= most


def test_a_page_that_is_gone_ends(preview: Previewed) -> None:
    preview.write("b", LONG)
    preview.changed("b")
    preview.state("started", page=url("b"))
    (preview.root / "content/posts/b.md").unlink()
    preview.changed()
    preview.state("stopped", page=url("b"))
    assert preview.runner.current() == []


POSTS = {
    "numbers": "import numpy as np\nrng = np.random.default_rng(1)\nprint(rng.random(3))\n\nnp.ma\nnp.eye(2)",
    "drawn": "import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\nplt.show()",
    "plain": "import local, sys\nprint(open('data.txt').read(), local.x, 'numpy' in sys.modules)",
    "sessions": "#| session: one\nprint(1)\n\n#| session: two\nprint(2)",
    "value": "```{python}\nx = 3\n```\nIt is {= x + 1 =}.",
    "hidden": "import random\nprint(random.x)",
}


def test_records_are_those_of_a_build(tmp_path: Path) -> None:
    made = []
    for name in ("built", "previewed"):
        root = site(tmp_path / name, **POSTS)
        (root / "content/posts/data.txt").write_text("data")
        (root / "content/posts/local.py").write_text("x = 7\n")
        other = root / "content/others"
        other.mkdir()
        # a module of the site that shadows one of Python's own, which NumPy loads
        (root / "content/posts/hidden.md").rename(other / "hidden.md")
        (other / "random.py").write_text("x = 'ours'\n")
        if name == "built":
            report = build(root, execution=ExecutionOptions(execute="stale"))
            assert report.ok, report.diagnostics
        else:
            with previewed(root) as preview:
                preview.changed("numbers", "drawn")
                outcomes = [preview.outcome(120) for _ in POSTS]
                assert not [d for o in outcomes for d in o.diagnostics]
        made.append(records(root))
    assert made[0] == made[1]
    assert b"ours" in made[0]["_freeze/others/hidden/outputs.json"]


def test_workers_are_warm_unless_they_could_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spawned: list[str] = []
    plain = process.spawn

    def spawn(job: SessionJob) -> process.Process:
        spawned.append(job.post.stem)
        return plain(job)

    monkeypatch.setattr(worker_pool, "spawn", spawn)
    root = site(tmp_path / "s", a="import numpy\nprint(numpy.e)", b="print(1)")
    with previewed(root) as preview:
        preview.changed("a")
        assert all(preview.outcome().record_changed for _ in "ab")
        assert spawned == []
        (root / "numpy").mkdir()
        preview.write("a", "import numpy\nprint(numpy.pi)")
        preview.changed("a")
        assert preview.outcome().record_changed and spawned == [], "a folder is no package"
        # it shadows a module of Python's own that NumPy imports: as in a build, NumPy gets this one
        (root / "content/posts/numbers.py").write_text("")
        preview.write("a", "import numpy\nprint(numpy.pi, 2)")
        preview.changed("a")
        assert [d.code for d in preview.outcome().diagnostics] == ["cell-error"] and spawned == ["a"]


def test_a_warm_server_that_died_is_replaced(tmp_path: Path) -> None:
    # for example, other tests may still have a browser
    others = children()
    with previewed(site(tmp_path / "s", a="print(1)")) as preview:
        preview.changed("a")
        assert preview.outcome().record_changed
        wait_for(lambda: len(children() - others) == 1)
        servers = children() - others
        for pid in servers:
            os.kill(pid, signal.SIGKILL)
        # a dying server is detected, too, and replaced later
        wait_for(lambda: not any(is_alive(pid) for pid in servers))
        preview.write("a", "print('after')")
        preview.changed("a")
        assert preview.outcome().record_changed and "after" in preview.recorded("a")
        wait_for(lambda: bool(children() - servers - others))


LOOPS = {
    # each makes the other stale: both write the time into a file that the other reads
    "a": "import time\nprint(open('b.txt').read())\nopen('a.txt', 'w').write(str(time.time()));",
    "b": "import time\nprint(open('a.txt').read())\nopen('b.txt', 'w').write(str(time.time()));",
}


def test_cells_that_make_each_other_stale_come_to_rest(tmp_path: Path) -> None:
    root = site(tmp_path / "s", **LOOPS)
    for name in LOOPS:
        (root / f"content/posts/{name}.txt").write_text("0")
    with previewed(root) as preview:
        preview.changed(jobs=1)
        outcomes = [preview.outcome(), preview.outcome()]
        while not outcomes[-1].diagnostics:
            assert len(outcomes) < 10
            preview.changed(jobs=1)
            outcomes.append(preview.outcome())
        (found,) = outcomes[-1].diagnostics
        assert found.code == "cell-stale" and "content/posts/" in found.message
        preview.changed(jobs=1)
        assert preview.quiet()
        # an edit by the author resets the count
        preview.write("a", "print(open('b.txt').read())")
        preview.changed(jobs=1)
        assert preview.outcome().diagnostics == ()


def test_a_module_that_is_changed_while_cells_run_counts(preview: Previewed) -> None:
    preview.text("content/posts/local.py", "x = 'old'\n")
    preview.write(
        "a",
        "import local, pathlib, time\npathlib.Path('on').touch()\n"
        "while not pathlib.Path('go').exists():\n    time.sleep(0.01)\nprint(local.x)",
    )
    preview.changed("a")
    wait_for((preview.root / "content/posts/on").exists)
    preview.text("content/posts/local.py", "x = 'new'\n")
    preview.text("content/posts/go", "")
    assert preview.outcome().record_changed
    assert "new" in preview.recorded("a") and "old" not in preview.recorded("a")


def test_a_session_that_writes_what_it_reads_comes_to_rest(preview: Previewed) -> None:
    count = "n = int(open('n.txt').read()) + 1\nopen('n.txt', 'w').write(str(n));\nprint('edit {}')"
    preview.text("content/posts/n.txt", "0")
    for edit in range(3):
        preview.write("a", count.format(edit))
        preview.changed("a")
        assert preview.outcome().record_changed
        preview.changed("a")
        assert preview.quiet()
    assert int((preview.root / "content/posts/n.txt").read_text("utf-8")) <= 5


def test_close_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "t"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    root = site(tmp_path / "s", a=LONG, b="import subprocess\nsubprocess.run(['sleep', '60'])")
    before, threads = children(), set(threading.enumerate())
    with previewed(root) as preview:
        preview.changed()
        preview.state("started", page=url("a"))
        preview.state("started", page=url("b"))
        assert any(temporary.iterdir())
    # processes of other tests may end meanwhile
    assert children() <= before
    assert [thread.name for thread in set(threading.enumerate()) - threads] == []
    assert list(temporary.iterdir()) == []
    preview.changed()
    assert preview.quiet(0.1), "nothing starts after the end"


def test_close_does_not_wait_for_what_is_being_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = site(tmp_path / "s", "execute: {preload: [slow]}\n", a="print(1)")
    (root / "slow.py").write_text("import pathlib, time\npathlib.Path('/tmp').exists()\ntime.sleep(60)\n")
    before = children()
    monkeypatch.setenv("PYTHONPATH", str(root))
    with previewed(root) as preview:
        preview.changed("a")
        preview.state("queued")
        wait_for(lambda: bool(children() - before))
    assert children() <= before


def test_a_python_that_is_not_there_is_said(tmp_path: Path) -> None:
    root = site(tmp_path / "s", "execute: {python: nowhere/python}\n", a="print(1)")
    with previewed(root) as preview:
        preview.changed("a")
        assert [d.code for d in preview.outcome().diagnostics] == ["cell-start"]
        preview.text("blogsmith.yaml", f"title: T\nexecute: {{python: {sys.executable}}}\n")
        preview.changed("a")
        outcomes = [preview.outcome(), preview.outcome()]
        assert outcomes[-1].record_changed and not outcomes[-1].diagnostics


def test_a_cluster_that_cannot_be_had_is_said_until_the_setting_is_gone(tmp_path: Path) -> None:
    config = "execute: {executor: dask, dask: {scheduler: 'nowhere://x:1'}}\n"
    root = site(tmp_path / "s", config, a="print(1)")
    with previewed(root) as preview:
        preview.changed("a")
        assert [d.code for d in preview.outcome().diagnostics] == ["cell-start"]
        preview.changed("a")
        assert preview.quiet()
        preview.text("blogsmith.yaml", "title: T\n")
        preview.changed("a")
        outcomes = [preview.outcome(), preview.outcome()]
        assert outcomes[-1].record_changed and not outcomes[-1].diagnostics


KILLED = """
import sys, time
from pathlib import Path
from tests.preview_cells import Previewed
preview = Previewed(Path(sys.argv[1]))
preview.changed("a")
preview.state("output", text="first\\n")
print("runs", flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(not LINUX, reason="processes are found under /proc")
def test_a_preview_that_is_killed_leaves_no_process(tmp_path: Path) -> None:
    root = site(tmp_path / "s", a=LONG, b="import numpy")
    env = {**os.environ, "USER": str(root), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", KILLED, str(root)]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None and process.stdout.readline() == b"runs\n"
        assert len(processes(root)) >= 3
        process.kill()
    wait_for(lambda: not processes(root))


def test_what_is_lacking_is_said(tmp_path: Path) -> None:
    root = site(tmp_path / "s", a="#| needs: no_such_module\nprint(1)")
    with previewed(root) as preview:
        preview.changed("a")
        assert [d.code for d in preview.outcome().diagnostics] == ["cell-need"]
        assert preview.quiet()
