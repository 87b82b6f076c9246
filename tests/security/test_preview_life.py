"""Rows 9, 11, 13 and 14: addresses that the preview listens on, limits on clients, shutdown."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from blogsmith.preview.http import server as server_module
from blogsmith.preview.http.request import ClientLimits
from blogsmith.preview.http.server import PreviewServer, listen
from blogsmith.preview.protocol import Response
from tests.bench.preview_processes import is_running, processes
from tests.preview_client import Client, ask, made, quiet_port, serving, site, soon, threads_since
from tests.rows import each_row
from tests.serve_process import INTERRUPTED, cell, interrupt, post, running, write

SITE = {"blogsmith.yaml": "title: Notes\n", "content/posts/a.md": post("First", "Text.")}
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")
ENDLESS = cell("import time\nprint('it runs', flush=True)\nwhile True:\n    time.sleep(0.01)")


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


def bound(server: PreviewServer) -> set[str]:
    return {listener.getsockname()[0] for listener in server._listeners}


def test_row_09_only_this_machine_can_connect() -> None:
    with serving(site()) as server:
        assert bound(server) <= {"127.0.0.1", "::1"}
        assert len({listener.getsockname()[1] for listener in server._listeners}) == 1
        assert server.url == f"http://127.0.0.1:{server.port}"
        assert ask(server, "/posts/a/").status == 200


@needs_ipv6
def test_row_09_localhost_is_this_server_in_both_of_its_meanings() -> None:
    with serving(site()) as server:
        for name, address in (("127.0.0.1", "127.0.0.1"), ("[::1]", "::1"), ("localhost", "::1")):
            with Client(server.port, address) as client:
                host = f"{name}:{server.port}"
                assert client.ask("/posts/a/", Host=host, Origin=f"http://{host}").status == 200


def test_row_09_a_machine_without_ipv6(monkeypatch: pytest.MonkeyPatch) -> None:
    bind = server_module._bind

    def without_ipv6(address: server_module.Address, port: int) -> socket.socket:
        if address[1] == "::1":
            raise OSError(99, "Cannot assign requested address")
        return bind(address, port)

    monkeypatch.setattr(server_module, "_bind", without_ipv6)
    with serving(site()) as server:
        assert bound(server) == {"127.0.0.1"}
        assert ask(server, "/posts/a/").status == 200


@each_row("host", ["0.0.0.0", "::", "", "192.0.2.1", "desk.lan"])
def test_row_09_others_are_let_in_by_name_only(host: str) -> None:
    with pytest.raises(ValueError, match="missing host names"):
        made(host=host)


def test_row_09_a_server_for_the_network_checks_names_too() -> None:
    with serving(site(), host="0.0.0.0", allowed_hosts=["desk.lan"]) as server:
        assert bound(server) == {"0.0.0.0"}
        assert server.url == f"http://127.0.0.1:{server.port}"
        for host, status in (("desk.lan", 200), ("127.0.0.1", 200), ("0.0.0.0", 403), ("evil.example", 403)):
            assert ask(server, "/posts/a/", Host=f"{host}:{server.port}").status == status


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere 127.0.0.1 is the only one of its kind")
def test_row_09_another_address_of_this_machine() -> None:
    with serving(site(), host="127.0.0.2") as server, Client(server.port, "127.0.0.2") as client:
        assert client.ask("/posts/a/", Host=f"127.0.0.2:{server.port}").status == 200
        assert server.url == f"http://127.0.0.2:{server.port}"


def test_row_09_an_address_that_this_machine_does_not_have() -> None:
    server = made(host="192.0.2.1", allowed_hosts=["192.0.2.1"])
    with pytest.raises(OSError):
        server.start()
    server.close()


@linux
def test_row_09_the_network_is_warned_of(tmp_path: Path) -> None:
    write(tmp_path / "site", SITE)
    with running(tmp_path / "site", "--host", "0.0.0.0") as serving:
        serving.wait_for_words(
            "warning: anyone who can reach 0.0.0.0 can read this preview, including drafts"
        )
        assert "Text." in serving.page("/posts/a/")
        assert serving.ask("/posts/a/", Host=f"evil.example:{serving.port}").status == 403
    with running(tmp_path / "site") as serving:
        assert "Text." in serving.page("/posts/a/")
        assert "warning" not in serving.said()


def test_row_11_idle_tabs_and_slow_clients_hold_nobody_up(capsys: pytest.CaptureFixture[str]) -> None:
    # Long enough for the rest of the test, even on a busy machine.
    limits = ClientLimits(head_s=5.0, idle_s=15.0)
    before = set(threading.enumerate())
    with serving(site(), limits=limits, is_patient=False) as server:
        own = threads_since(before)
        tabs = [Client(server.port).listen() for _ in range(200)]
        for tab in tabs:
            assert tab.event()["kind"] == "hello"
        assert soon(lambda: threads_since(before) == own), "a tab has a thread"
        # One byte at a time, each within any timeout for a single read.
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
    # A request that waits for a slow client waits until that client is disconnected.
    assert max(spans) < limits.head_s
    assert told < limits.head_s


def test_row_11_clients_that_leave_in_the_middle_leave_no_threads() -> None:
    pages = site()
    pages.pages["/big"] = Response(200, body=b"x" * 5_000_000)
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


def test_row_13_the_next_free_port_is_taken() -> None:
    first = quiet_port(3)
    with serving(site(), port=first) as one, serving(site(), port=first) as two:
        assert (one.port, two.port) == (first, first + 1)
        assert ask(one, "/posts/a/").status == ask(two, "/posts/a/").status == 200
        # Each server answers only to its own `Host`.
        assert ask(two, "/posts/a/", Host=f"localhost:{first}").status == 403


@needs_ipv6
def test_row_13_a_port_that_is_taken_on_one_address_is_taken() -> None:
    first = quiet_port(2)
    with socket.socket(socket.AF_INET6) as other:
        other.bind(("::1", first))
        other.listen()
        with serving(site(), port=first) as server:
            assert server.port == first + 1
            assert bound(server) == {"127.0.0.1", "::1"}


def test_row_13_no_port_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    first = quiet_port()
    monkeypatch.setattr(server_module, "PORTS_TRIED", 1)
    with serving(site(), port=first), pytest.raises(OSError, match="in use"):
        listen("127.0.0.1", first)
    with pytest.raises(OSError):
        listen("127.0.0.1", 65536)


@linux
def test_row_13_the_port_that_was_found_is_printed(tmp_path: Path) -> None:
    write(tmp_path / "site", SITE)
    with running(tmp_path / "site", "--port=auto") as serving:
        assert serving.said().startswith(f"blogsmith serves http://127.0.0.1:{serving.port}/ ")
        assert "Text." in serving.page("/posts/a/")


def test_row_14_the_port_is_free_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # Shorter than the timeout of an idle connection.
    monkeypatch.setattr(server_module, "_JOIN_S", ClientLimits().idle_s / 2)
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
        # The old connections are still in the system's tables.
        with serving(site(), port=port) as again:
            assert again.port == port
            assert ask(again, "/posts/a/").status == 200
        for client in clients:
            assert client.ended()
            client.socket.close()


def test_row_14_no_process_of_ours_inherits_the_port() -> None:
    # Another program may take a free port at that moment, but hardly three times.
    assert any(_is_free_beside_a_child() for _ in range(3))


def _is_free_beside_a_child() -> bool:
    """Return whether a server can reuse the port of an earlier server.

    The earlier server started a process, which still runs, before it ended.
    """
    with serving(site(), port=quiet_port()) as server:
        sleeper = subprocess.Popen(
            [sys.executable, "-c", "input()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            close_fds=False,
        )
        port = server.port
    with serving(site(), port=port) as again:
        found = again.port
    sleeper.communicate(b"\n")
    return found == port


@linux
def test_row_14_ctrl_c_leaves_no_port_and_no_process(tmp_path: Path) -> None:
    text = post("Cells", f"{ENDLESS}\n{ENDLESS}")
    write(tmp_path / "site", {"blogsmith.yaml": "title: Notes\n", "content/posts/cells.md": text})
    port = quiet_port()
    options = (f"--port={port}",)
    with running(tmp_path / "site", *options, trusted=True) as serving, serving.listen() as tab:
        assert serving.port == port
        serving.page("/posts/cells/")
        tab.wait_for("run", state="output")
        family = processes(serving.process.pid)
        assert len(family) > 1, "cells run in processes of their own"
        assert interrupt(serving) == INTERRUPTED
        socket.create_server(("127.0.0.1", port)).close()
        assert [pid for pid in family if is_running(pid)] == []
