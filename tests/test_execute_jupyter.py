"""Sessions in Jupyter kernels: local ones, one for another language, and on a server of this machine.

Tests without a kernel run everywhere: conversion of kernel messages to outputs, and missing imports.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest

from blogsmith.execute.kernel import kernel_setup as kernel_inside
from blogsmith.execute.kernel import local as kernel_local
from blogsmith.execute.kernel import python as kernel_python
from blogsmith.execute.kernel import server as kernel_server
from blogsmith.execute.kernel import session as kernel_session
from blogsmith.execute.kernel.outputs import Frame, Outputs, end_fields, read_failure
from blogsmith.execute.kernel.requests import KernelReply
from blogsmith.execute.kernel.session import KernelEngine
from blogsmith.execute.session.jobs import SessionJob
from blogsmith.execute.session.output_buffer import OutputBuffer
from blogsmith.execute.session.session import run_session
from blogsmith.execute.worker import versions as worker_versions
from blogsmith.model.results import CellRun, Display, Failure, SessionRun, Stream
from tests.rows import each_row
from tests.run_sites import STALE, page, records, site
from tests.sessions import LINUX, cell, job, no_process_left, printed, run_beside_another, value, wait_for
from tests.site_files import build

needs_kernel = pytest.mark.skipif(
    not (find_spec("jupyter_client") and find_spec("ipykernel")),
    reason="needs jupyter-client and ipykernel: make test-engines",
)
needs_bash = pytest.mark.skipif(not find_spec("bash_kernel"), reason="needs bash_kernel: make test-engines")
needs_server = pytest.mark.skipif(
    not (find_spec("jupyter_server") and find_spec("jupyter_kernel_client")),
    reason="needs jupyter-server and jupyter-kernel-client: make test-engines",
)
TOKEN = "not-a-secret"


@pytest.fixture(autouse=True)
def no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in kernel_session.SERVER_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    # the server of these tests is on this machine, so no proxy must be used
    monkeypatch.setenv("no_proxy", "*")


def kernel_job(root: Path, *steps: Any, **more: Any) -> SessionJob:
    engine = KernelEngine(more.pop("kernel", ""))
    return job(root, *steps, engine=engine, **more)


def run(root: Path, *steps: Any, **more: Any) -> SessionRun:
    with no_process_left():
        return run_session(kernel_job(root, *steps, **more))


def failure(run: CellRun) -> Failure:
    (found,) = (output for output in run.outputs if isinstance(output, Failure))
    return found


def displays(run: CellRun) -> list[Display]:
    return [output for output in run.outputs if isinstance(output, Display)]


# --- without a kernel


def test_no_package_of_jupyter_is_imported_for_the_worker(tmp_path: Path) -> None:
    assert [c.status for c in run_session(job(tmp_path, "1")).cells] == ["ok"]
    code = (
        "import sys, blogsmith.build.site, blogsmith.execute.kernel.bridge\n"
        "print([name for name in sys.modules if name.startswith(('jupyter', 'zmq', 'IPython'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_missing_package_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("jupyter_client.kernelspec", "jupyter_client.manager"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        kernel_local.KernelStartError, match=r"missing package .jupyter-client.: .*jupyter-client>="
    ):
        kernel_local.LocalKernel("python3", tmp_path, tmp_path)


def test_a_sandbox_is_not_promised(tmp_path: Path) -> None:
    (ran,) = run(tmp_path, "1", sandbox="landlock").cells
    assert ran.status == "skipped"
    assert ran.problem.startswith('"sandbox: landlock" is not supported with a Jupyter kernel')


def test_the_bridge_is_of_the_blogsmith_that_builds(tmp_path: Path) -> None:
    (tmp_path / "other" / "blogsmith").mkdir(parents=True)
    (tmp_path / "other" / "blogsmith" / "__init__.py").write_text("raise SystemExit('another one')")
    work = kernel_job(tmp_path, "1", kernel="jula")
    ran = run_session(replace(work, env={**work.env, "PYTHONPATH": str(tmp_path / "other")}))
    assert "another one" not in ran.problem
    assert "missing package" in ran.problem or "unknown Jupyter kernel" in ran.problem


def test_the_token_stays_with_the_bridge(tmp_path: Path) -> None:
    work = kernel_job(tmp_path, "1")
    both = {"JUPYTER_BASE_URL": "http://127.0.0.1:1", "JUPYTER_TOKEN": TOKEN, "SECRET": "x"}
    assert kernel_session.bridge_environment(work.env, both) == {
        **work.env,
        **{n: both[n] for n in kernel_session.SERVER_VARIABLES},
    }
    one = {"JUPYTER_TOKEN": TOKEN, "JUPYTER_PATH": "/kernels"}
    declared = replace(work, env={**work.env, "JUPYTER_TOKEN": TOKEN})
    assert kernel_session.bridge_environment(declared.env, one) == {**work.env, "JUPYTER_PATH": "/kernels"}


def message(kind: str, **content: Any) -> Any:
    return {"header": {"msg_type": kind}, "content": content, "parent_header": {}}


def frames(*messages: Any, text_bytes: int = 1000) -> list[Frame]:
    sent: list[Frame] = []
    outputs = Outputs(sent.append, text_bytes)
    for each in messages:
        outputs.add_message(each)
    return sent


def test_forms_that_a_page_knows() -> None:
    data = {
        "application/vnd.jupyter.widget-view+json": {},
        "text/html": ["<b>", "1</b>"],
        "image/svg+xml": "<svg/>",
        "image/png": "AAAA",
        "text/plain": "one",
    }
    (frame,) = frames(message("execute_result", data=data))
    assert (frame["event"], frame["kind"]) == ("display", "value")
    assert frame["text"] == {"text/plain": "one", "text/html": "<b>1</b>"}
    assert frame["binary"] == {"image/svg+xml": "PHN2Zy8+", "image/png": "AAAA"}
    (frame,) = frames(message("display_data", data={"text/markdown": "*a*"}))
    assert frame["kind"] == "display"
    assert frame["text"] == {"text/plain": "*a*", "text/markdown": "*a*"}


def test_text_over_the_limit_is_counted() -> None:
    sent = frames(*[message("stream", name="stdout", text="x" * 8)] * 3, text_bytes=10)
    assert [(f["event"], f.get("text"), f.get("bytes")) for f in sent] == [
        ("stream", "x" * 8, None),
        ("stream", "xx", None),
        ("dropped", None, 6),
        ("dropped", None, 8),
    ]


def test_clearing_waits_for_the_next_output_if_asked() -> None:
    text = message("stream", name="stderr", text="a")
    assert [f["event"] for f in frames(text, message("clear_output", wait=False))] == ["stream", "clear"]
    assert [f["event"] for f in frames(text, message("clear_output", wait=True))] == ["stream"]
    waited = frames(text, message("clear_output", wait=True), text)
    assert [f["event"] for f in waited] == ["stream", "clear", "stream"]


def test_collected_outputs_can_change() -> None:
    collected = OutputBuffer(1000, lambda output: None)
    collected.add_display("display", {"text/plain": "one"}, {}, "a")
    collected.add_text("stdout", "x")
    collected.update_display("a", {"text/plain": "two"}, {})
    collected.update_display("b", {"text/plain": "of another cell"}, {})
    assert collected.finish() == (Display("display", {"text/plain": "two"}), Stream("stdout", "x"))
    collected.add_text("stdout", "y" * 2000)
    collected.clear()
    collected.update_display("a", {"text/plain": "three"}, {})
    collected.add_text("stdout", "z" * 900)
    assert collected.finish() == (Stream("stdout", "z" * 900),)


def test_updates_give_back_the_room_of_what_they_replace() -> None:
    collected = OutputBuffer(1000, lambda output: None)
    collected.add_display("display", {"text/plain": "a" * 600}, {}, "a")
    for _ in range(5):
        collected.update_display("a", {"text/plain": "b" * 600}, {})
    assert collected.finish() == (Display("display", {"text/plain": "b" * 600}),)


def test_exceptions_lose_their_colours_and_keep_their_place() -> None:
    content = {
        "ename": "E",
        "evalue": "\x1b[31mbad\x1b[0m",
        "traceback": ['\x1b[1;31m  File "<cell 1>", line 4', '  File "<cell 2>", line 3', "E: bad"],
    }
    found = read_failure(content)
    assert found["text"] == '  File "<cell 1>", line 4\n  File "<cell 2>", line 3\nE: bad\n'
    assert (found["message"], found["cell"], found["line"]) == ("bad", 2, 3)
    assert read_failure({"ename": "", "evalue": "1"})["text"] == "Error: 1\n"


@each_row(
    ("reply", "status"),
    [
        (KernelReply("ok"), "ok"),
        (KernelReply("ok", {"payload": [{"source": "ask_exit"}]}), "exit"),
        (KernelReply("died", problem="gone"), "died"),
        (KernelReply("error", {"status": "error", "ename": "SystemExit", "evalue": "2"}), "exit"),
        (KernelReply("error", {"status": "aborted"}), "error"),
    ],
)
def test_endings(reply: KernelReply, status: str) -> None:
    ended = end_fields(reply, None, python=True)
    assert ended["status"] == status
    assert (status == "error") == bool(ended["failure"] and ended["status"] == "error")


def test_a_server_that_is_gone_is_no_error(tmp_path: Path) -> None:
    kernel_session.store_kernel_id(tmp_path, "id")
    for url in ("http://127.0.0.1:9", "no address"):
        kernel_session.end_server_kernel(tmp_path, {"JUPYTER_BASE_URL": url, "JUPYTER_TOKEN": TOKEN})


class Deletions(HTTPServer):
    """A server that can only delete kernels."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Deletion)
        self.seen: list[tuple[str, str | None]] = []


class Deletion(BaseHTTPRequestHandler):
    """A request to it."""

    def do_DELETE(self) -> None:
        assert isinstance(self.server, Deletions)
        self.server.seen.append((self.path, self.headers["Authorization"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


@pytest.mark.parametrize(
    ("noted", "asked"),
    [(None, ""), ("", ""), ("ab-12", "/api/kernels/ab-12"), ("../contents/x", ""), ("a\n", ""), ("a?b", "")],
)
def test_only_a_kernel_that_was_noted_is_ended(tmp_path: Path, noted: str | None, asked: str) -> None:
    with Deletions() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        if noted is not None:
            kernel_session.store_kernel_id(tmp_path, noted)
        url = f"http://127.0.0.1:{server.server_port}/"
        kernel_session.end_server_kernel(tmp_path, {"JUPYTER_BASE_URL": url, "JUPYTER_TOKEN": TOKEN})
        server.shutdown()
        thread.join()
    assert server.seen == ([(asked, f"token {TOKEN}")] if asked else [])


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://hub.example:8000/user/a", "https://hub.example:8000/user/a"),
        ("http://me:secret@127.0.0.1:8888/lab?token=secret#x", "http://127.0.0.1:8888/lab"),
        ("http://[secret", "in JUPYTER_BASE_URL"),
    ],
)
def test_messages_show_no_secret_of_an_address(url: str, shown: str) -> None:
    assert kernel_server.format_address(url) == shown


# --- a kernel of this machine


@needs_kernel
def test_a_local_kernel_finds_the_lab_last(tmp_path: Path) -> None:
    code = "import sys\nprint(sys.meta_path[-1].find_spec('blogsmith.lab').origin)"
    assert printed(run(tmp_path, code).cells[0]).endswith("blogsmith/lab/__init__.py\n")


@needs_kernel
def test_cells_values_and_machine(tmp_path: Path) -> None:
    ran = run(
        tmp_path,
        "import sys\nx = 41\nprint('out')\nprint('err', file=sys.stderr)\nprint('out')\nx + 1",
        value(1, "x", spec=".1f"),
        value(2, "'it is'"),
        value(3, "x", conversion="r"),
        value(4, "nope"),
        "import numpy\nx",
    )
    first, second = ran.cells
    assert first.outputs == (
        Stream("stdout", "out\n"),
        Stream("stderr", "err\n"),
        Stream("stdout", "out\n"),
        Display("value", {"text/plain": "42"}),
    )
    assert [v.text for v in ran.values.values()] == ["41.0", "it is", "41", ""]
    failed = ran.values[4].failure
    assert failed and (failed.name, failed.message) == ("NameError", "name 'nope' is not defined")
    assert (first.packages, second.packages, second.device) == ((), ("numpy",), "cpu")
    assert ran.machine.python == ".".join(map(str, sys.version_info[:3]))
    assert ran.machine.platform and list(ran.machine.packages) == ["numpy"]


@needs_kernel
def test_an_exception_names_cells_and_ends_the_session(tmp_path: Path) -> None:
    skipped = cell(1, "", skip="no torch")
    ran = run(tmp_path, skipped, cell(2, "def f():\n    return 1 / 0"), cell(3, "y = 1\nf()"), cell(4, "y"))
    assert [c.status for c in ran.cells] == ["skipped", "ok", "error", "skipped"]
    found = failure(ran.cells[2])
    assert (found.cell, found.line, ran.cells[2].line) == (2, 2, 2)
    assert found.text.startswith(
        'Traceback (most recent call last):\n  File "<cell 3>", line 2, in <module>\n    f()\n'
    )
    assert '  File "<cell 2>", line 2, in f\n    return 1 / 0\n' in found.text
    assert found.text.endswith("ZeroDivisionError: division by zero\n")


@needs_kernel
def test_errors_that_are_meant_syntax_and_input(tmp_path: Path) -> None:
    ran = run(tmp_path, cell(1, "y = = 1", error=True), cell(2, "input()", error=True), "sys.exit", "1")
    syntax, asked, name, _ = ran.cells
    assert failure(syntax).message == "invalid syntax (<cell 1>, line 1)"
    assert failure(asked).name == "StdinNotImplementedError"
    assert (name.status, name.problem) == ("error", "NameError: name 'sys' is not defined")


@needs_kernel
def test_random_numbers_come_out_as_in_the_worker(tmp_path: Path) -> None:
    steps = [
        cell(1, "import random\nprint(random.random())", seed=3),
        cell(2, "import numpy\nprint(numpy.random.rand())"),
        cell(3, "print(random.random(), numpy.random.rand())", seed=4),
    ]
    kernels, workers = run(tmp_path, *steps), run_session(job(tmp_path, *steps))
    assert [printed(c) for c in kernels.cells] == [printed(c) for c in workers.cells]


@needs_kernel
def test_displays_pictures_and_clearing(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    ran = run(
        tmp_path,
        "from IPython.display import *\n"
        "h = display(HTML('<b>1</b>'), display_id=True)\nh.update(HTML('<b>2</b>'))",
        "print('a')\nclear_output()\nprint('b')",
        "import matplotlib.pyplot as plt\nplt.plot([1, 2]);",
        "import warnings\nwarnings.warn('w')",
    )
    assert [d.data["text/html"] for d in displays(ran.cells[0])] == ["<b>2</b>"]
    assert ran.cells[1].outputs == (Stream("stdout", "b\n"),)
    (figure,) = displays(ran.cells[2])
    picture = figure.data["image/png"]
    assert not isinstance(picture, str) and picture.data and picture.data.startswith(b"\x89PNG")
    assert printed(ran.cells[3], "stderr").startswith("<cell 4>:2: UserWarning: w\n")


@needs_kernel
@pytest.mark.parametrize(
    ("code", "status", "problem", "line"),
    [
        pytest.param(
            "print('before')\nwhile True: pass", "timeout", "it ran longer than 3 s", 2, id="endless"
        ),
        pytest.param(
            "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('before')\nwhile True: pass",
            "timeout",
            "it ran longer than 3 s",
            4,
            id="SIGINT ignored",
        ),
        pytest.param(
            "import os\nprint('before')\nos._exit(3)",
            "died",
            "its kernel left with exit code 3",
            3,
            id="exit",
        ),
        pytest.param(
            "import ctypes\nprint('before')\nctypes.string_at(0)",
            "died",
            "killed by signal 11 (segmentation fault)",
            3,
            id="segfault",
        ),
        pytest.param("print('before')\nexit()", "exit", "it ends its kernel", 0, id="exit()"),
        pytest.param(
            "import sys\nprint('before')\nsys.exit(2)", "exit", "it calls sys.exit(2)", 0, id="sys.exit"
        ),
        pytest.param(
            "print('before')\n1 / 0", "error", "ZeroDivisionError: division by zero", 2, id="exception"
        ),
        pytest.param(
            "import os\nprint('before')\nif os.fork() == 0: os.setsid(); os.system('sleep 99')\n1 / 0",
            "error",
            "ZeroDivisionError: division by zero",
            4,
            id="a child that leaves",
        ),
    ],
)
def test_a_fault_harms_nobody_else(tmp_path: Path, code: str, status: str, problem: str, line: int) -> None:
    limit = 3.0 if status == "timeout" else 60.0
    work = kernel_job(tmp_path, cell(1, code, timeout_s=limit), cell(2, "print('never')", timeout_s=limit))
    first, second = run_beside_another(work).cells
    assert (first.status, first.problem) == (status, problem)
    assert printed(first) == "before\n"
    # a busy machine may kill the kernel before it has reported its position
    assert first.line in (line, 0) if "SIG_IGN" in code else first.line == line
    assert (second.status, second.problem) == ("skipped", "cell 1 before it ended badly")


@needs_kernel
def test_fifty_megabytes_are_cut(tmp_path: Path) -> None:
    flood, after = run(tmp_path, cell(1, "print('x' * 50_000_000)", timeout_s=60.0), "1").cells
    (text,) = flood.outputs
    assert isinstance(text, Stream) and set(text.text) == {"x"}
    assert len(text.text) + text.dropped == 50_000_001 and len(text.text) <= 1024 * 1024
    assert after.status == "ok"


@needs_kernel
def test_memory_has_a_limit(tmp_path: Path) -> None:
    work = kernel_job(tmp_path, cell(1, "print('before')\nx = bytearray(10**9)", memory_bytes=600 * 10**6))
    (ran,) = run_beside_another(work).cells
    assert ran.status == "memory" and printed(ran) == "before\n"


@needs_kernel
def test_a_kernel_that_does_not_exist(tmp_path: Path) -> None:
    ran = run(tmp_path, "1", kernel="jula")
    assert ran.problem.startswith('unknown Jupyter kernel "jula"; installed: ')
    assert "python3" in ran.problem


@needs_kernel
def test_a_kernel_that_dies_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_kernel(tmp_path, monkeypatch, "broken", ["-c", "import sys; sys.exit('no engine')"])
    ran = run(tmp_path, "1", kernel="broken")
    assert ran.problem == 'kernel "broken" died at start: no engine'


@needs_kernel
def test_a_local_kernel_sees_the_environment_of_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_TOKEN", TOKEN)
    monkeypatch.setenv("BLOGSMITH_TEST_SECRET", "secret")
    (ran,) = run(tmp_path, "import os\nprint(*os.environ.values())\nprint(os.getcwd())").cells
    assert TOKEN not in printed(ran) and "secret" not in printed(ran)
    assert printed(ran).endswith("\ncontent\n")


@needs_kernel
def test_breaking_off_leaves_no_kernel(tmp_path: Path) -> None:
    """The effect is that of Ctrl-C in a terminal, in the middle of a cell."""
    code = (
        "import sys; from pathlib import Path; from contextlib import closing\n"
        "from tests.sessions import job, no_process_left\n"
        "from blogsmith.execute.kernel.session import KernelEngine\n"
        "from blogsmith.execute.session.pool import run_sessions\n"
        'endless = \'open("runs", "w").close()\\nwhile True: pass\'\n'
        "work = job(Path(sys.argv[1]), endless, engine=KernelEngine())\n"
        "with no_process_left():\n"
        "    try:\n"
        "        with closing(run_sessions([work], workers=1)) as runs: list(runs)\n"
        "    except KeyboardInterrupt: print('broken off')\n"
    )
    repository = Path(__file__).parent.parent
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], cwd=repository, stdout=subprocess.PIPE, text=True
    )
    wait_for((tmp_path / "content" / "runs").exists)
    child.send_signal(signal.SIGINT)
    said, _ = child.communicate(timeout=60)
    assert (child.returncode, said) == (0, "broken off\n")


# --- another language


def add_kernel(root: Path, monkeypatch: pytest.MonkeyPatch, name: str, arguments: list[str]) -> None:
    """Register a kernel that this Python runs."""
    folder = root / "jupyter" / "kernels" / name
    folder.mkdir(parents=True)
    spec = {"argv": [sys.executable, *arguments], "display_name": name, "language": name}
    (folder / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(root / "jupyter"))


@pytest.fixture
def bash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    add_kernel(tmp_path, monkeypatch, "bash", ["-m", "bash_kernel", "-f", "{connection_file}"])
    return tmp_path


@needs_kernel
@needs_bash
def test_another_language(bash: Path) -> None:
    ran = run(
        bash,
        "x=41\necho $((x + 1))",
        "echo $x; pwd",
        value(1, "x"),
        cell(3, "false", error=True),
        kernel="bash",
    )
    assert [printed(c) for c in ran.cells] == ["42\n", "41\ncontent\n", ""]
    assert failure(ran.cells[2]).text == "Error: 1\n"
    # this kernel does not report the version of its language
    assert {(c.device, c.packages) for c in ran.cells} == {("", ("bash_kernel",))}
    assert ran.machine.python == "" and ran.machine.platform and ran.machine.packages["bash_kernel"]
    assert ran.values[1].failure == Failure(
        "kernel bash",
        "this kernel cannot compute inline values",
        "kernel bash: this kernel cannot compute inline values\n",
    )


@needs_kernel
@needs_bash
def test_another_language_that_does_not_end(bash: Path) -> None:
    first, second = run(bash, cell(1, "echo before; sleep 600", timeout_s=3.0), "echo 1", kernel="bash").cells
    assert (first.status, first.problem) == ("timeout", "it ran longer than 3 s")
    assert printed(first).startswith("before\n") and second.status == "skipped"


@needs_kernel
@needs_bash
def test_a_site_with_two_engines(bash: Path) -> None:
    shell = "---\ntitle: s\nexecute: {kernel: bash}\n---\n```{bash}\n#| label: count\necho $((6 * 7))\n```\n"
    root = site(bash / "site", a="print('worker')")
    (root / "content" / "posts" / "s.md").write_text(shell)
    assert [d.message for d in build(root, execution=STALE).diagnostics] == []
    html = page(root, "s")
    assert '<pre class="output output-stdout">42\n</pre>' in html
    assert 'data-lang="bash"' in html and 'data-device="unknown"' in html and "bash_kernel 0." in html
    before = records(root)
    report = build(root)
    assert (report.executed_cells, records(root)) == (0, before)
    other = shell.replace("kernel: bash", "kernel: bash2")
    (root / "content" / "posts" / "s.md").write_text(other)
    (stale,) = build(root).diagnostics
    assert stale.code == "cell-stale" and "the kernel or `depends` of the page has changed" in stale.message


# --- a server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """Yield a Jupyter server on 127.0.0.1 whose folder is a site; it is stopped by its id."""
    folder = tmp_path_factory.mktemp("server")
    root = folder / "site"
    root.mkdir()
    own = {f"JUPYTER_{name}_DIR": str(folder / name) for name in ("RUNTIME", "CONFIG", "DATA")}
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "jupyter_server", "--ServerApp.ip=127.0.0.1", "--ServerApp.port=0"),
            *(f"--IdentityProvider.token={TOKEN}", "--allow-root", f"--ServerApp.root_dir={root}"),
        ],
        env={**os.environ, **own, "IPYTHONDIR": str(folder / "ipython")},
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(lambda: bool(address(folder / "RUNTIME")), 60)
        yield SimpleNamespace(url=address(folder / "RUNTIME"), root=root)
    finally:
        process.terminate()
        process.wait(60)


def address(runtime: Path) -> str:
    """Return the URL that a server has written into its folder; empty if not yet."""
    texts = [file.read_text() for file in runtime.glob("jpserver-*.json")]
    return str(json.loads(texts[0])["url"]) if texts and texts[0].endswith("}") else ""


@pytest.fixture
def on_server(server: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    monkeypatch.setenv("JUPYTER_BASE_URL", server.url)
    monkeypatch.setenv("JUPYTER_TOKEN", TOKEN)
    return server


def kernels(server: SimpleNamespace) -> list[Any]:
    request = urllib.request.Request(f"{server.url}api/kernels", headers={"Authorization": f"token {TOKEN}"})
    with urllib.request.urlopen(request) as answer:
        found: list[Any] = json.load(answer)
    return found


@needs_kernel
@needs_server
def test_cells_on_a_server(on_server: SimpleNamespace) -> None:
    ran = run(on_server.root, "import os\nx = 1\nprint(os.getcwd())\nx", value(1, "x"), "1 / 0")
    first, second = ran.cells
    assert printed(first) == "content\n" and displays(first) == [Display("value", {"text/plain": "1"})]
    assert (second.status, second.line, ran.values[1].text) == ("error", 1, "1")
    assert kernels(on_server) == []


@needs_kernel
@needs_server
@pytest.mark.parametrize(
    ("code", "status", "problem"),
    [
        ("import os\nprint('before')\nos._exit(3)", "died", "its kernel died on the server"),
        ("print('before')\nwhile True: pass", "timeout", "it ran longer than 3 s"),
        (
            "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('before')\nwhile True: pass",
            "timeout",
            "it ran longer than 3 s",
        ),
    ],
    ids=["exit", "endless", "SIGINT ignored"],
)
def test_faults_on_a_server(on_server: SimpleNamespace, code: str, status: str, problem: str) -> None:
    limit = 3.0 if status == "timeout" else 60.0
    first, second = run(on_server.root, cell(1, code, timeout_s=limit), "1").cells
    assert (first.status, first.problem, second.status) == (status, problem, "skipped")
    # without the author's `os._exit` in between, the output may still be on its way
    assert printed(first) == "before\n"
    wait_for(lambda: kernels(on_server) == [])


@needs_kernel
@needs_server
def test_a_kernel_on_a_server_that_is_never_ready_is_ended(
    on_server: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if the bridge itself does not reach the end of its timeout."""
    folder = on_server.root.parent / "DATA" / "kernels" / "silent"
    folder.mkdir(parents=True)
    spec = {"argv": ["sleep", "600"], "display_name": "silent", "language": "python"}
    (folder / "kernel.json").write_text(json.dumps(spec))
    engine = KernelEngine("silent", ready_s=4.0, bridge_s=1.0)
    assert "was not ready" in run_session(job(on_server.root, "1", engine=engine)).problem
    wait_for(lambda: kernels(on_server) == [])


@needs_kernel
@needs_server
@pytest.mark.skipif(not LINUX, reason="elsewhere nothing tells of a pipe that was closed")
def test_a_killed_builder_leaves_no_kernel_on_the_server(on_server: SimpleNamespace) -> None:
    code = (
        "import sys; from pathlib import Path; from tests.sessions import job\n"
        "from blogsmith.execute.kernel.session import KernelEngine\n"
        "from blogsmith.execute.session.session import run_session\n"
        "run_session(job(Path(sys.argv[1]), 'while True: pass', engine=KernelEngine()))\n"
    )
    repository = Path(__file__).parent.parent
    child = subprocess.Popen([sys.executable, "-c", code, str(on_server.root)], cwd=repository)
    wait_for(lambda: [kernel["execution_state"] for kernel in kernels(on_server)] == ["busy"])
    child.kill()
    child.wait()
    wait_for(lambda: kernels(on_server) == [])


@needs_kernel
@needs_server
def test_what_a_server_refuses(on_server: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    # others may be installed in this environment or by the test above
    missing = r'unknown Jupyter kernel "jula"; installed: (.*, )?python3\b'
    assert re.search(missing, run(on_server.root, "1", kernel="jula").problem)
    monkeypatch.setenv("JUPYTER_TOKEN", "wrong")
    assert run(on_server.root, "1").problem.endswith(
        "cannot start a kernel: it rejects the token in JUPYTER_TOKEN"
    )
    monkeypatch.setenv("JUPYTER_BASE_URL", "http://127.0.0.1:9")
    assert run(on_server.root, "1").problem.endswith(
        "cannot start a kernel: it cannot be reached (ConnectionError)"
    )


SWEPT = """\
```{{python}}
seen, base = [1], 10
```

```{{python}}
#| sweep: {{d: [4, 16]}}
{code}
print(d * base, "again" in globals())
again = d
```

Then d is {{= d =}}, {{= again =}}.
"""


@needs_kernel
def test_a_sweep_runs_with_each_value(tmp_path: Path) -> None:
    root = site(tmp_path / "site", "execute: {engine: jupyter}\n", a=SWEPT.format(code=""))
    report = build(root, execution=STALE)
    assert report.ok, report.diagnostics
    text = page(root)
    assert re.findall(r'output-stdout">(.*)', text) == ["40 False", "160 False"]
    assert re.findall(r'class="value">(.*?)<', text) == ["4", "4"]
    changes = site(tmp_path / "other", "execute: {engine: jupyter}\n", a=SWEPT.format(code="seen.append(d)"))
    found = [one.message for one in build(changes, execution=STALE).diagnostics]
    assert len(found) == 1
    assert found[0].startswith('SweepError: the cell changes "seen"')


def test_what_is_asked_in_a_kernel_is_there() -> None:
    """The requests are strings, which no type checker reads."""
    asked = "".join(
        (
            kernel_python.setup_expression("/tmp/stack"),
            kernel_python.seed_code(1),
            kernel_python.numbering_code(1),
            kernel_python.binding_code({"d": 4}, leaves=False),
            kernel_python.restoring_expression(),
            kernel_python.value_expression("x", "", ""),
            kernel_python.state_expression([], "/"),
            kernel_python.machine_expression([]),
        )
    )
    names = re.findall(r'"_blogsmith_kernel"\]\.(\w+)\(', asked)
    assert len(names) == 8
    assert all(callable(getattr(kernel_inside, name)) for name in names)
    of_versions = re.findall(r"\bversions\.(\w+)\(", Path(kernel_inside.__file__).read_text("utf-8"))
    assert of_versions and all(callable(getattr(worker_versions, name)) for name in of_versions)
