"""`blogsmith serve` from start to end, as a process."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from blogsmith.execute.session.signals import handle_termination
from blogsmith.preview.options import PORT
from tests.bench.posts import write_posts
from tests.bench.preview_processes import is_running, processes
from tests.preview_client import Client, quiet_port
from tests.serve_process import (
    INTERRUPTED,
    PATIENCE_S,
    PROGRAM,
    PROMPT_S,
    WHOLE,
    cell,
    interrupt,
    post,
    running,
    write,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")

TERMINATED = 143
ENDLESS = cell("import time\nprint('it runs', flush=True)\nwhile True:\n    time.sleep(0.01)")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Create a site of two posts."""
    root = tmp_path / "site"
    write(
        root,
        {
            "blogsmith.yaml": "title: Notes\n",
            "content/posts/a.md": post("First", "Some text with $x^2$."),
            "content/posts/b.md": post("Second", "More text."),
        },
    )
    return root


def is_free(port: int) -> bool:
    """Return whether another program could listen there now."""
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


class TestStart:
    def test_the_asked_page_comes_before_the_whole(self, site: Path) -> None:
        write_posts(site / "content/notes", 200)
        with running(site) as serving:
            page = serving.page("/notes/post-00199/")
            said = serving.said()
            assert page.startswith("200 <!DOCTYPE html>")
            assert len(said.splitlines()) == 1, "the rest is not made yet"
            assert serving.page("/notes/").startswith("200 "), "a list names its own"
            serving.wait_until_whole()
        lines = serving.said().splitlines()
        assert lines[0] == f"blogsmith serves http://127.0.0.1:{serving.port}/ (press Ctrl-C to stop)"
        assert len(lines) == 2

    def test_the_usual_port_is_taken(self, site: Path) -> None:
        with ExitStack() as stack:
            with suppress(OSError):
                # if it cannot be had, another program has it
                stack.enter_context(socket.create_server(("127.0.0.1", PORT)))
            serving = stack.enter_context(running(site, "--port=auto"))
            assert PORT < serving.port <= PORT + 100
            assert "Some text" in serving.page("/posts/a/")
            assert f"port {PORT} is in use: this preview uses port {serving.port}" in serving.said()

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (["--nonsense"], "No such option"),
            (["--port=99999"], "is not in the range"),
            (["--site", "no/such/folder"], "no/such/folder"),
            (["--site", ".."], "blogsmith.yaml"),
        ],
        ids=["option", "port", "folder", "site"],
    )
    def test_wrong_usage(self, site: Path, options: list[str], words: str) -> None:
        command = [str(PROGRAM), "serve", "--port=0", *options]
        done = subprocess.run(command, cwd=site, capture_output=True, text=True, timeout=PATIENCE_S)
        assert (done.returncode, done.stdout) == (2, "")
        assert words in done.stderr
        assert "Traceback" not in done.stderr


class TestEnd:
    @pytest.mark.parametrize(
        ("number", "code"), [(signal.SIGINT, INTERRUPTED), (signal.SIGTERM, TERMINATED)], ids=["int", "term"]
    )
    def test_while_cells_run(self, site: Path, number: signal.Signals, code: int) -> None:
        write(site, {"content/posts/cells.md": post("Cells", f"{ENDLESS}\n{ENDLESS}")})
        with running(site, trusted=True) as serving, serving.listen() as tab:
            serving.page("/posts/cells/")
            tab.wait_for("run", state="output")
            family = processes(serving.process.pid)
            assert len(family) > 1, "cells run in processes of their own"
            began = time.monotonic()
            assert interrupt(serving, number) == code
            assert time.monotonic() - began < PROMPT_S
            assert is_free(serving.port)
            assert [pid for pid in family if is_running(pid)] == []
        # a program that works may leave words of its own, a bug more than these
        assert len(serving.said().splitlines()) <= 2, serving.said()

    def test_at_once(self, site: Path) -> None:
        write_posts(site / "content/notes", 100)
        with running(site) as serving:
            assert interrupt(serving) == INTERRUPTED
        # the whole may have been there before, if the machine let us wait
        assert [line for line in serving.said().splitlines()[1:] if not WHOLE.match(line)] == []

    def test_while_a_class_is_made(self) -> None:
        class Interrupted:
            def __set_name__(self, owner: type, name: str) -> None:
                signal.raise_signal(signal.SIGINT)

        with pytest.raises(KeyboardInterrupt), handle_termination():
            type("Made", (), {"field": Interrupted()})

    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    def test_while_an_object_is_taken_away(self) -> None:
        class Interrupted:
            def __del__(self) -> None:
                signal.raise_signal(signal.SIGINT)

        with pytest.raises(KeyboardInterrupt), handle_termination() as ending:
            # what is raised in there goes nowhere
            Interrupted()
            ending.check()

    def test_twice_on_one_port(self, site: Path) -> None:
        port = quiet_port()
        with running(site, f"--port={port}") as serving, Client(serving.port) as client:
            client.ask("/posts/a/")
            assert interrupt(serving) == INTERRUPTED
        with running(site, f"--port={port}") as again:
            assert serving.port == again.port == port, "connections of the last one do not hold it"

    def test_a_page_that_is_waited_for_is_answered_or_cut(self, site: Path) -> None:
        write_posts(site / "content/notes", 100)
        with running(site) as serving, Client(serving.port) as client:
            client.send(f"GET /tags/ HTTP/1.1\r\nHost: {client.host}\r\n\r\n".encode())
            assert interrupt(serving) == INTERRUPTED
            try:
                status = client.answer().status
            except (EOFError, ConnectionError):
                status = 0
            assert status in (0, 200, 500, 503)


def test_what_is_not_there_for_a_moment(site: Path) -> None:
    content, kept = site / "content", site / "kept"
    with running(site) as serving, serving.listen() as tab:
        assert "Some text" in serving.page("/posts/a/")
        serving.wait_until_whole()
        shutil.copytree(content, kept)
        shutil.rmtree(content)
        serving.wait_for("/posts/a/", "404 ")
        assert serving.ask("/_blogsmith/version?path=/posts/a/").json()["version"] == ""
        kept.rename(content)
        serving.wait_for("/posts/a/", "200 ", "Some text")
        write(site, {"content/posts/a.md": post("First", "Other text.")})
        serving.wait_for("/posts/a/", "Other text")
        tab.wait_until(lambda: tab.version("/posts/a/") == serving.version("/posts/a/"))


def test_the_folder_of_the_site_is_moved_away_and_back(site: Path) -> None:
    away = site.with_name("away")
    with running(site) as serving:
        serving.wait_until_whole()
        site.rename(away)
        # told or not: what is served stays what it was, or says what is wrong
        assert serving.ask("/posts/a/").status in (200, 404, 503)
        away.rename(site)
        write(site, {"content/posts/a.md": post("First", "Other text.")})
        serving.wait_for("/posts/a/", "200 ", "Other text")


def test_a_build_at_the_same_time(site: Path) -> None:
    with running(site) as serving, serving.listen() as tab:
        serving.wait_until_whole()
        serving.page("/posts/b/")
        write(site, {"content/posts/b.md": post("Second", "Now one.")})
        command = [str(PROGRAM), "build"]
        built = subprocess.run(command, cwd=site, capture_output=True, text=True, timeout=PATIENCE_S)
        assert built.returncode == 0, built.stderr
        assert "Now one." in (site / "public/posts/b/index.html").read_text()
        serving.wait_for("/posts/b/", "Now one.")
        shutil.rmtree(site / "public")
        write(site, {"content/posts/b.md": post("Second", "Now two.")})
        tab.wait_until(
            lambda: len(tab.of("pages")) >= 2 and tab.version("/posts/b/") == serving.version("/posts/b/")
        )
        assert len(tab.of("pages")) == 2, "the output folder is no input"
        assert tab.of("files") == []
        assert not (site / "public").exists(), "nothing is written there"
