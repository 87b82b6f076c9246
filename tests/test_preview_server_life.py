"""Where the preview's server listens, how much of it there is under load, and that nothing of it is left."""

from __future__ import annotations

import os
import selectors
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from blogsmith.preview.answer import Answer
from blogsmith.preview.http import listening
from blogsmith.preview.http import server as server_module
from blogsmith.preview.http.limits import Limits
from blogsmith.preview.http.listening import listen
from blogsmith.preview.http.server import PreviewServer
from tests.preview_client import TOKEN, WAIT_S, Client, MemorySite, ask, quiet_port, serving, site, soon


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    assert soon(lambda: set(threading.enumerate()) <= before), threading.enumerate()


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


needs_ipv6 = pytest.mark.skipif(not has_ipv6(), reason="this machine has no ::1")


def made(**settings: object) -> PreviewServer:
    pages = site()
    return PreviewServer(pages, pages, token=TOKEN, hello=dict, **settings)  # type: ignore[arg-type]


def bound(server: PreviewServer) -> set[str]:
    return {listener.getsockname()[0] for listener in server._listeners}


# [D 9] who can reach it
def test_only_this_machine_can_connect() -> None:
    with serving(site()) as server:
        assert bound(server) <= {"127.0.0.1", "::1"}
        assert len({listener.getsockname()[1] for listener in server._listeners}) == 1
        assert server.url == f"http://127.0.0.1:{server.port}"
        assert ask(server, "/posts/a/").status == 200


@needs_ipv6
def test_localhost_is_this_server_in_both_of_its_meanings() -> None:
    with serving(site()) as server:
        for name, address in (("127.0.0.1", "127.0.0.1"), ("[::1]", "::1"), ("localhost", "::1")):
            with Client(server.port, address) as client:
                host = f"{name}:{server.port}"
                assert client.ask("/posts/a/", Host=host, Origin=f"http://{host}").status == 200


def test_a_machine_without_ipv6(monkeypatch: pytest.MonkeyPatch) -> None:
    bind = listening._bind

    def without_ipv6(address: listening.Address, port: int) -> socket.socket:
        if address[1] == "::1":
            raise OSError(99, "Cannot assign requested address")
        return bind(address, port)

    monkeypatch.setattr(listening, "_bind", without_ipv6)
    with serving(site()) as server:
        assert bound(server) == {"127.0.0.1"}
        assert ask(server, "/posts/a/").status == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.0.2.1", "desk.lan"])
def test_others_are_let_in_by_name_only(host: str) -> None:
    with pytest.raises(ValueError, match="under which names"):
        made(host=host)


def test_a_server_for_the_network_checks_names_too() -> None:
    with serving(site(), host="0.0.0.0", allowed_hosts=["desk.lan"]) as server:
        assert bound(server) == {"0.0.0.0"}
        assert server.url == f"http://127.0.0.1:{server.port}"
        for host, status in (("desk.lan", 200), ("127.0.0.1", 200), ("0.0.0.0", 403), ("evil.example", 403)):
            assert ask(server, "/posts/a/", Host=f"{host}:{server.port}").status == status


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere 127.0.0.1 is the only one of its kind")
def test_another_address_of_this_machine() -> None:
    with serving(site(), host="127.0.0.2") as server, Client(server.port, "127.0.0.2") as client:
        assert client.ask("/posts/a/", Host=f"127.0.0.2:{server.port}").status == 200
        assert server.url == f"http://127.0.0.2:{server.port}"


def test_an_address_that_this_machine_does_not_have() -> None:
    server = made(host="192.0.2.1", allowed_hosts=["192.0.2.1"])
    with pytest.raises(OSError):
        server.start()
    server.close()


# [D 13] a port that is taken
def test_the_next_free_port_is_taken() -> None:
    first = quiet_port(3)
    with serving(site(), port=first) as one, serving(site(), port=first) as two:
        assert (one.port, two.port) == (first, first + 1)
        assert ask(one, "/posts/a/").status == ask(two, "/posts/a/").status == 200
        # each answers to its own address only
        assert ask(two, "/posts/a/", Host=f"localhost:{first}").status == 403


@needs_ipv6
def test_a_port_that_is_taken_on_one_address_is_taken() -> None:
    first = quiet_port(2)
    with socket.socket(socket.AF_INET6) as other:
        other.bind(("::1", first))
        other.listen()
        with serving(site(), port=first) as server:
            assert server.port == first + 1
            assert bound(server) == {"127.0.0.1", "::1"}


def test_no_port_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    first = quiet_port()
    monkeypatch.setattr(listening, "PORTS_TRIED", 1)
    with serving(site(), port=first), pytest.raises(OSError, match="in use"):
        listen("127.0.0.1", first)
    with pytest.raises(OSError):
        listen("127.0.0.1", 65536)


# [D 14] the end
def test_the_port_is_free_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # less than an idle connection lasts
    monkeypatch.setattr(server_module, "_JOIN_S", Limits().idle_s / 2)
    port, before = quiet_port(), set(threading.enumerate())
    with serving(site(), port=port) as server:
        assert server.port == port
        clients = [Client(port) for _ in range(10)]
        for client in clients[:5]:
            assert client.ask("/posts/a/").status == 200
        for client in clients[5:]:
            assert client.listen().event()["kind"] == "hello"
        threads = set(threading.enumerate()) - before
        assert len(threads) > 2
        server.close()
        assert not any(thread.is_alive() for thread in threads), "it ends them, or it waits in vain"
        # with the old connections still in the system's tables
        with serving(site(), port=port) as again:
            assert again.port == port
            assert ask(again, "/posts/a/").status == 200
        for client in clients:
            assert client.ended()
            client.socket.close()


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
        def answer(self, path: str) -> Answer:
            asked.set()
            assert go_on.wait(WAIT_S)
            return Answer(200)

    with serving(Slow()) as server, Client(server.port) as client:
        client.send(f"GET / HTTP/1.1\r\nHost: {client.host}\r\n\r\n".encode())
        assert asked.wait(WAIT_S)
        server.close()
        assert client.ended()
    go_on.set()


def test_no_process_of_ours_inherits_the_port() -> None:
    with serving(site(), port=quiet_port()) as server:
        sleeper = subprocess.Popen(
            [sys.executable, "-c", "input()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            close_fds=False,
        )
        port = server.port
    with serving(site(), port=port) as again:
        assert again.port == port
    sleeper.communicate(b"\n")


# [D 11] load
def threads_since(before: set[threading.Thread]) -> int:
    """How many there are that were not there before; those that were may end meanwhile."""
    return len(set(threading.enumerate()) - before)


def test_idle_tabs_and_slow_clients_hold_nobody_up(capsys: pytest.CaptureFixture[str]) -> None:
    # so long that all is done before, also on a busy machine
    limits = Limits(head_s=5.0, idle_s=15.0)
    before = set(threading.enumerate())
    with serving(site(), limits=limits, is_patient=False) as server:
        own = threads_since(before)
        tabs = [Client(server.port).listen() for _ in range(200)]
        for tab in tabs:
            assert tab.event()["kind"] == "hello"
        assert soon(lambda: threads_since(before) == own), "a tab has a thread"
        # a byte now and then, each within any limit for one read
        slow = [Client(server.port) for _ in range(20)]
        spans = []
        for byte in (b"G", b"E", b"T", b" ", b"/"):
            for client in slow:
                client.send(byte)
            begun = time.perf_counter()
            assert ask(server, "/posts/a/").status == 200
            spans.append(time.perf_counter() - begun)
        assert threads_since(before) > own
        begun = time.perf_counter()
        server.hub.publish({"kind": "status"})
        for tab in tabs:
            assert tab.event() == {"kind": "status"}
        told = time.perf_counter() - begun
        assert soon(lambda: threads_since(before) == own), "slow clients keep their threads"
        for client in slow:
            assert client.answer().status == 408
            client.socket.close()
        for tab in tabs:
            tab.socket.close()
        assert soon(lambda: server.hub.clients() == 0)
    with capsys.disabled():
        print(f"\n200 tabs, 20 slow clients: page {max(spans) * 1000:.1f} ms, tabs told {told * 1000:.1f} ms")
    # whoever waits for a slow client waits until it is turned away
    assert max(spans) < limits.head_s
    assert told < limits.head_s


def test_clients_that_leave_in_the_middle_leave_no_threads() -> None:
    pages = site()
    pages.pages["/big"] = Answer(200, body=b"x" * 5_000_000)
    before = set(threading.enumerate())
    with serving(pages) as server:
        own = threads_since(before)
        for _ in range(30):
            with Client(server.port) as client:
                client.send(f"GET /big HTTP/1.1\r\nHost: {client.host}\r\n\r\n".encode())
                client.socket.recv(100)
            with Client(server.port) as client:
                head = (
                    f"POST /_blogsmith/do/edit HTTP/1.1\r\nHost: {client.host}\r\nContent-Length: 50\r\n\r\n"
                )
                client.send(head.encode() + b"{")
        assert soon(lambda: threads_since(before) == own)
        assert ask(server, "/posts/a/").status == 200


def test_a_client_that_reads_nothing_of_a_file_is_given_up(tmp_path: Path) -> None:
    # more than any system takes before it is read; it has no bytes on the disk
    (tmp_path / "big").touch()
    os.truncate(tmp_path / "big", 1_000_000_000)
    pages = site()
    pages.pages["/big"] = Answer(200, "image/png", file=tmp_path.resolve() / "big")
    with serving(pages, limits=Limits(send_s=0.1)) as server, Client(server.port) as client:
        client.send(f"GET /big HTTP/1.1\r\nHost: {client.host}\r\n\r\n".encode())
        assert client.socket.recv(1) == b"H"
        assert soon(lambda: len(server._room) == 0)
        assert ask(server, "/posts/a/").status == 200


def test_no_open_files_are_left_for_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's own limit: the server waits a little and goes on."""
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
    """The first page waits for all that is imported; `http.server` alone takes 60 ms."""
    modules = "'http.server' in sys.modules, 'email' in sys.modules"
    code = f"import sys, blogsmith.preview.http.server; print({modules})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]


def test_a_server_may_be_closed_before_it_accepts(monkeypatch: pytest.MonkeyPatch) -> None:
    server = made(port=0)
    closing = threading.Event()

    class Late(selectors.DefaultSelector):  # type: ignore[misc,valid-type]
        """The thread that accepts comes so far only when all is over."""

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
