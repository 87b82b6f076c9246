"""The preview's server: where it listens, its resources under load, and no leftovers."""

from __future__ import annotations

import os
import selectors
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from blogsmith.preview.http import server as server_module
from blogsmith.preview.http.request import ClientLimits
from blogsmith.preview.protocol import Response
from tests.preview_client import WAIT_S, Client, MemorySite, ask, made, serving, site, soon


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    assert soon(lambda: set(threading.enumerate()) <= before), threading.enumerate()


def test_closing_twice_and_before_the_start() -> None:
    server = made(port=0)
    server.close()
    with serving(site()) as running:
        running.close()
        running.close()


def test_closing_does_not_wait_for_the_site(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "_JOIN_S", 0.05)
    asked, go_on = threading.Event(), threading.Event()

    class Slow(MemorySite):
        def answer(self, path: str) -> Response:
            asked.set()
            assert go_on.wait(WAIT_S)
            return Response(200)

    with serving(Slow()) as server, Client(server.port) as client:
        client.send(f"GET / HTTP/1.1\r\nHost: {client.host}\r\n\r\n".encode())
        assert asked.wait(WAIT_S)
        server.close()
        assert client.ended()
    go_on.set()


def test_a_client_that_reads_nothing_of_a_file_is_given_up(tmp_path: Path) -> None:
    # larger than any system buffers before it is read; it has no bytes on the disk
    (tmp_path / "big").touch()
    os.truncate(tmp_path / "big", 1_000_000_000)
    pages = site()
    pages.pages["/big"] = Response(200, "image/png", file=tmp_path.resolve() / "big")
    with serving(pages, limits=ClientLimits(send_s=0.1)) as server, Client(server.port) as client:
        client.send(f"GET /big HTTP/1.1\r\nHost: {client.host}\r\n\r\n".encode())
        assert client.socket.recv(1) == b"H"
        assert soon(lambda: len(server._admission) == 0)
        assert ask(server, "/posts/a/").status == 200


def test_no_open_files_are_left_for_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's own limit: the server waits a little and continues."""
    monkeypatch.setattr(server_module, "_OUT_OF_FILES_S", 0.01)
    real, failures = socket.socket.accept, [OSError(24, "Too many open files")] * 3

    def accept(listener: socket.socket) -> tuple[socket.socket, object]:
        if failures:
            raise failures.pop()
        return real(listener)

    monkeypatch.setattr(socket.socket, "accept", accept)
    with serving(site()) as server:
        assert ask(server, "/posts/a/").status == 200
    assert failures == []


def test_no_threads_are_left_for_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with serving(site()) as server:
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", start)
            with Client(server.port) as client:
                assert client.answer().status == 503
        assert ask(server, "/posts/a/").status == 200


def test_starting_costs_little() -> None:
    """The first page waits for all imports; `http.server` alone takes 60 ms."""
    modules = "'http.server' in sys.modules, 'email' in sys.modules"
    code = f"import sys, blogsmith.preview.http.server; print({modules})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]


def test_a_server_may_be_closed_before_it_accepts(monkeypatch: pytest.MonkeyPatch) -> None:
    server = made(port=0)
    closing = threading.Event()

    class Late(selectors.DefaultSelector):
        """The accepting thread starts only after the end."""

        def register(self, *arguments: Any) -> Any:
            closing.wait(WAIT_S)
            return super().register(*arguments)

    class Waking:
        def __init__(self, end: socket.socket) -> None:
            self.end = end

        def send(self, data: bytes) -> None:
            closing.set()
            server._accepting.join(WAIT_S)
            self.end.send(data)

        def close(self) -> None:
            self.end.close()

    late = SimpleNamespace(DefaultSelector=Late, EVENT_READ=selectors.EVENT_READ)
    monkeypatch.setattr(server_module, "selectors", late)
    server.start()
    server._wake_in = Waking(server._wake_in)  # type: ignore[assignment]
    server.close()
    assert not server._accepting.is_alive()
