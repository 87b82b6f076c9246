"""`blogsmith serve`: options, accepted clients, terminal output, and its end."""

from __future__ import annotations

import datetime as dt
import io
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import pytest

from blogsmith.cli.clock import CommandClock
from blogsmith.cli.main import main
from blogsmith.cli.serve import StatusLines
from blogsmith.preview.http.guard import allowed_hosts, is_loopback
from blogsmith.preview.options import ServeOptions
from blogsmith.project.report import BuildOptions, ExecutionOptions
from tests.rows import each_row

NOW = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)
ROOT = Path(__file__).parent.parent
CLOCKS = CommandClock(now=lambda: NOW)


@dataclass
class FakeSession:
    """Replaces `preview.session.serve_site`: records its call, prints given lines, and ends."""

    says: list[str] = field(default_factory=list)
    ends: BaseException | None = None
    root: Path | None = None
    options: ServeOptions | None = None
    url: str = "http://127.0.0.1:8000/"

    def __call__(
        self,
        root: Path,
        options: ServeOptions,
        say: Callable[[str], None],
        ready: Callable[[str], None],
        check: Callable[[], None],
    ) -> None:
        self.root, self.options = root, options
        ready(self.url)
        for text in self.says:
            say(text)
        if self.ends:
            raise self.ends


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> FakeSession:
    """Return a preview that shows nothing."""
    fake = FakeSession()
    module = ModuleType("blogsmith.preview.app")
    vars(module)["serve_site"] = fake
    monkeypatch.setitem(sys.modules, "blogsmith.preview.app", module)
    return fake


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Make a site the current folder."""
    (tmp_path / "blogsmith.yaml").write_text("title: T\n")
    monkeypatch.chdir(tmp_path)
    yield tmp_path


def serve(*options: str) -> int:
    return main(["serve", *options], CLOCKS)


# -- options --


def test_without_options_only_this_machine_is_served(
    site: Path, session: FakeSession, capsys: pytest.CaptureFixture[str]
) -> None:
    session.says = ["12 pages, 3 formulas in 80 ms"]
    assert serve() == 0
    assert session.root == site
    assert session.options == ServeOptions(
        build=BuildOptions(now=NOW), now=CLOCKS.now, allowed_hosts=("127.0.0.1",)
    )
    assert capsys.readouterr() == (
        "blogsmith serves http://127.0.0.1:8000/ (press Ctrl-C to stop)\n",
        "12 pages, 3 formulas in 80 ms\n",
    )


def test_every_option_arrives(site: Path, session: FakeSession) -> None:
    words = "--port 0 --drafts --future --execute=all --jobs 3 --poll 2.5 --verbose --site"
    assert serve(*words.split(), str(site)) == 0
    execution = ExecutionOptions(execute="all", jobs=3)
    assert session.options == ServeOptions(
        build=BuildOptions(now=NOW, drafts=True, future=True, execution=execution),
        now=CLOCKS.now,
        port=0,
        allowed_hosts=("127.0.0.1",),
        poll_s=2.5,
        verbose=True,
    )


@pytest.fixture
def taken() -> Iterator[int]:
    """Yield a port that another program listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def test_a_chosen_port_that_is_taken_is_an_error(
    site: Path, taken: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert serve("--port", str(taken)) == 1
    assert capsys.readouterr() == (
        "",
        f"Error: port {taken} is in use: write `--port auto` to use the next free port\n",
    )


@pytest.mark.parametrize("options", [(), ("--port", "auto")])
def test_another_port_than_the_usual_one_is_reported(
    site: Path, session: FakeSession, capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    session.url = "http://127.0.0.1:8003/"
    assert serve(*options) == 0
    assert session.options is not None and not session.options.is_port_fixed
    assert capsys.readouterr() == (
        "blogsmith serves http://127.0.0.1:8003/ (press Ctrl-C to stop)\n",
        "port 8000 is in use: this preview uses port 8003\n",
    )


def test_a_chosen_port_is_fixed(site: Path, session: FakeSession) -> None:
    session.url = "http://127.0.0.1:8931/"
    assert serve("--port", "8931") == 0
    assert session.options is not None
    assert (session.options.port, session.options.is_port_fixed) == (8931, True)


def test_options_whose_value_may_be_left_out(site: Path, session: FakeSession) -> None:
    assert serve("--poll", "--execute") == 0
    assert session.options is not None
    assert (session.options.poll_s, session.options.build.execution.execute) == (1.0, "stale")


@pytest.mark.parametrize(
    "options",
    [("--port", "65536"), ("--port", "x"), ("--poll=0",), ("--poll=nan",), ("--execute=some",), ("extra",)],
)
def test_wrong_usage(site: Path, session: FakeSession, options: tuple[str, ...]) -> None:
    assert serve(*options) == 2
    assert session.options is None


def test_without_a_site(tmp_path: Path, session: FakeSession) -> None:
    assert serve("--site", str(tmp_path)) == 2
    assert session.options is None


def test_the_browser_is_opened_when_pages_can_be_asked_for(
    site: Path, session: FakeSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    done = threading.Event()

    def open_it(url: str) -> bool:
        opened.append(url)
        done.set()
        return False

    monkeypatch.setattr("webbrowser.open", open_it)
    assert serve() == 0
    assert serve("--open") == 0
    assert done.wait(60)
    for thread in threading.enumerate():
        if thread.name == "browser":
            thread.join(10)
    assert opened == ["http://127.0.0.1:8000/"]
    assert capsys.readouterr().err == "no browser found: open http://127.0.0.1:8000/\n"


# -- who may ask --


def test_others_are_let_in_with_a_warning(
    site: Path, session: FakeSession, capsys: pytest.CaptureFixture[str]
) -> None:
    assert serve("--host", "192.168.1.5") == 0
    assert session.options is not None
    assert (session.options.host, session.options.allowed_hosts) == ("192.168.1.5", ("192.168.1.5",))
    assert capsys.readouterr().err == (
        "warning: anyone who can reach 192.168.1.5 can read this preview, including drafts; it answers to "
        "localhost and 192.168.1.5\n"
    )


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "[::1]", "127.0.0.2", "notes.localhost"])
def test_this_machine_alone_needs_no_warning(
    site: Path, session: FakeSession, host: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert serve("--host", host) == 0
    assert capsys.readouterr().err == ""


@each_row(
    "host",
    ["0.0.0.0", "::", "192.168.1.5", "fe80::1%eth0", "example.org", "localhost.evil.example", "", "127.1.x"],
)
def test_what_others_reach(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize(
    ("host", "names"),
    [("Notes.Lan", ("notes.lan",)), ("[FE80::1%eth0]", ("fe80::1",)), ("10.0.0.7", ("10.0.0.7",))],
)
def test_a_host_is_allowed_under_its_name(host: str, names: tuple[str, ...]) -> None:
    assert allowed_hosts(host) == names


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "[::]", ""])
def test_all_addresses_are_allowed_under_the_machine_s_names(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("blogsmith.preview.http.guard._own_addresses", lambda: ["192.168.1.5", "2001:db8::5"])
    monkeypatch.setattr("socket.gethostname", lambda: "Notebook")
    assert allowed_hosts(host) == ("notebook", "notebook.local", "192.168.1.5", "2001:db8::5")
    monkeypatch.setattr("socket.gethostname", lambda: "notebook.lan")
    assert allowed_hosts(host)[0:2] == ("notebook.lan", "192.168.1.5")


def test_a_wildcard_is_never_a_name_by_itself() -> None:
    assert not {"0.0.0.0", "::", ""} & set(allowed_hosts("0.0.0.0"))


# -- the terminal --


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


FIRST = "14:03:22 content/a.md: 1 page in 24 ms"
SECOND = "14:03:25 content/a.md: 1 page in 22 ms"
OTHER = "14:03:26 content/b.md: 1 page in 22 ms"


def said(stream: io.StringIO, *lines: str, columns: int = 80) -> str:
    say = StatusLines(stream, lambda: columns)
    for line in lines:
        say(line)
    return stream.getvalue()


def test_on_a_terminal_saves_of_one_file_take_one_line() -> None:
    assert said(Terminal(), FIRST, SECOND, OTHER) == f"{FIRST}\n\x1b[1A\r\x1b[2K{SECOND}\n{OTHER}\n"


def test_in_a_log_every_line_stands() -> None:
    assert said(io.StringIO(), FIRST, SECOND) == f"{FIRST}\n{SECOND}\n"


def test_a_line_that_may_be_wrapped_stands() -> None:
    assert said(Terminal(), FIRST, SECOND, columns=len(FIRST)) == f"{FIRST}\n{SECOND}\n"


def test_what_came_between_stands() -> None:
    assert said(Terminal(), FIRST, "fixed: x", SECOND) == f"{FIRST}\nfixed: x\n{SECOND}\n"


# -- the end --


def test_ctrl_c_says_stopped_on_a_terminal_only(
    site: Path, session: FakeSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    session.ends = KeyboardInterrupt()
    assert serve() == 130
    assert capsys.readouterr().err == ""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    assert serve() == 130
    assert stream.getvalue() == "\rstopped\n"


WAITING = """
import sys, threading, types
session = types.ModuleType("blogsmith.preview.app")
def serve_site(root, options, say, ready, check):
    try:
        ready("http://127.0.0.1:8000/")
        threading.Event().wait(60)
    finally:
        say("closed")
session.serve_site = serve_site
sys.modules["blogsmith.preview.app"] = session
from blogsmith.__main__ import run
sys.exit(run())
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
    ids=["int", "term", "hup"],
)
def test_signals_end_it_in_order(site: Path, number: signal.Signals, code: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WAITING, "serve"],
        cwd=site,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("blogsmith serves http://")
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (code, "", "closed\n")
