"""Limits of connections: the ones that the preview's server closes, and those it never does."""

from __future__ import annotations

import resource
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest

from blogsmith.preview.http.connection import Connection, EventHub
from blogsmith.preview.http.reply import plain_reply
from blogsmith.preview.http.request import ClientLimits
from blogsmith.preview.http.server import PreviewServer
from blogsmith.preview.protocol import Response
from tests.preview_client import WAIT_S, Client, MemorySite, ask, serving, site, soon

PAGE = "/posts/a/"


def limits_of(connections: int) -> ClientLimits:
    """Return limits with long timeouts, so that no other connection is closed on a busy machine."""
    return ClientLimits(connections=connections, admission_s=60, eviction_s=60)


def test_who_says_nothing_goes_first_and_the_oldest_before_the_others() -> None:
    with serving(site(), limits=limits_of(3)) as server, ExitStack() as stack:
        first, second, third = (stack.enter_context(Client(server.port)) for _ in range(3))
        assert soon(lambda: len(server._admission) == 3)
        # the first has begun, which counts for nothing; the second is one that a browser keeps
        first.send(b"GET / HTTP/1.1\r\n")
        assert second.ask(PAGE).status == 200
        fourth = stack.enter_context(Client(server.port))
        assert fourth.ask(PAGE).status == 200
        assert first.ended()
        fifth = stack.enter_context(Client(server.port))
        assert fifth.ask(PAGE).status == 200
        assert third.ended()
        for client in (second, fourth, fifth):
            assert client.ask(PAGE).status == 200


def test_a_request_on_its_way_for_long_counts_from_its_first_byte() -> None:
    with serving(site(), limits=limits_of(2)) as server, ExitStack() as stack:
        slow, silent = (stack.enter_context(Client(server.port)) for _ in range(2))
        assert slow.ask(PAGE).status == 200
        assert soon(lambda: len(server._admission) == 2)
        slow.send(b"G")
        assert soon(lambda: not any(connection.is_idle for connection in server._admission))
        assert ask(server, PAGE).status == 200
        assert silent.ended()
        slow.send(b"ET " + PAGE.encode() + f" HTTP/1.1\r\nHost: {slow.host}\r\n\r\n".encode())
        assert slow.answer().status == 200


def _has_rested(server: PreviewServer, since_s: float) -> bool:
    """Return whether a connection has waited for its next request since a moment after `since_s`."""
    return any(one.since_s > since_s for one in server._admission if one.is_idle and one.is_awaiting_request)


def test_connections_that_browsers_keep_go_when_there_are_no_others() -> None:
    with serving(site(), limits=limits_of(3)) as server, ExitStack() as stack:
        kept = [stack.enter_context(Client(server.port)) for _ in range(3)]
        assert soon(lambda: len(server._admission) == 3)
        for client in (*kept, kept[0]):
            before = max(connection.since_s for connection in server._admission)
            assert client.ask(PAGE).status == 200
            # its thread notes when it has answered, which on a busy machine is after the answer has come
            assert soon(partial(_has_rested, server, before))
        assert ask(server, PAGE).status == 200
        assert kept[1].ended(), "it was asked for something longest ago"
        assert kept[0].ask(PAGE).status == kept[2].ask(PAGE).status == 200


def test_who_is_being_answered_stays() -> None:
    """Only then a new connection is rejected, and accepted later."""
    asked, go_on = threading.Semaphore(0), threading.Event()

    class Slow(MemorySite):
        def answer(self, path: str) -> Response:
            asked.release()
            assert go_on.wait(WAIT_S)
            return Response(200)

    limits = ClientLimits(connections=2, admission_s=0.1)
    with serving(Slow(), limits=limits) as server, ExitStack() as stack:
        busy = [stack.enter_context(Client(server.port)) for _ in range(2)]
        for client in busy:
            client.send(f"GET / HTTP/1.1\r\nHost: {client.host}\r\n\r\n".encode())
            assert asked.acquire(timeout=WAIT_S)
        with Client(server.port) as third:
            got = third.answer()
            assert (got.status, got.headers["retry-after"]) == (503, "1")
            assert got.headers["x-content-type-options"] == "nosniff"
            assert third.ended()
        go_on.set()
        for client in busy:
            assert client.answer().status == 200
        assert ask(server, "/").status == 200


def test_who_takes_nothing_of_an_answer_goes_last(tmp_path: Path) -> None:
    pages = site()
    with (tmp_path / "big").open("wb") as big:
        # more than any system takes before it is read; it has no bytes on the disk
        big.truncate(1_000_000_000)
    pages.pages["/big"] = Response(200, "video/mp4", file=tmp_path.resolve() / "big")
    limits = ClientLimits(connections=2, stall_s=0.05, admission_s=WAIT_S)
    with serving(pages, limits=limits) as server, ExitStack() as stack:
        stalled, silent = (stack.enter_context(Client(server.port)) for _ in range(2))
        stalled.send(f"GET /big HTTP/1.1\r\nHost: {stalled.host}\r\n\r\n".encode())
        assert stalled.socket.recv(1) == b"H"
        kept = stack.enter_context(Client(server.port))
        assert kept.ask(PAGE).status == 200
        assert silent.ended()
        silent.socket.close()
        kept.send(f"GET /big HTTP/1.1\r\nHost: {kept.host}\r\n\r\n".encode())
        assert kept.socket.recv(1) == b"H"
        assert ask(server, PAGE).status == 200, "one of them has gone"


@contextmanager
def conversing(limits: ClientLimits) -> Iterator[tuple[Connection, socket.socket]]:
    """Yield a connection without a thread, and the client's end of it."""
    ours, theirs = socket.socketpair()
    hub = EventHub(dict, lambda error: None, limits)
    with ours, theirs:
        theirs.settimeout(WAIT_S)
        yield Connection(ours, lambda request, body: plain_reply(200, "answered"), hub, limits), theirs


def test_a_request_that_has_come_is_answered_all_the_same() -> None:
    """The closed connection may have sent its request just before; a browser would lose the response."""
    with conversing(ClientLimits()) as (connection, client):
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /more")
        connection.evict()
        assert not connection.serve()
        said = client.recv(65536)
        assert said.startswith(b"HTTP/1.1 200 ") and b"connection: close" in said.lower()


def test_half_a_request_is_not_waited_for() -> None:
    with conversing(ClientLimits(head_s=10 * WAIT_S)) as (connection, client):
        client.sendall(b"GET / HTTP/1.1\r\n")
        connection.evict()
        assert not connection.serve()


@pytest.fixture
def many_files() -> Iterator[None]:
    """Raise the limit of open files, as the clients are in this process, too."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4096 if hard == resource.RLIM_INFINITY else min(4096, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("slow", [300, 1000])
def test_slow_connections_harm_no_browser(slow: int, many_files: None) -> None:
    before = set(threading.enumerate())
    limits = ClientLimits()
    with serving(site(), limits=limits) as server, ExitStack() as stack:
        own = len(set(threading.enumerate()) - before)
        tab = stack.enter_context(Client(server.port)).listen()
        assert tab.event()["kind"] == "hello"
        kept = stack.enter_context(Client(server.port))
        most = 0
        for number in range(slow):
            stack.enter_context(Client(server.port)).send(b"GET /posts/a/ HT")
            if number % 50 == 49:
                # as a browser does: on a connection that it has, on a new one, and on one it opened ahead
                ahead = stack.enter_context(Client(server.port))
                assert [kept.ask(PAGE).status, ask(server, PAGE).status] == [200, 200]
                for _ in range(100):
                    stack.enter_context(Client(server.port))
                assert ahead.ask(PAGE).status == 200
                server.hub.publish({"kind": "status", "number": number})
                assert tab.event()["number"] == number
            most = max(most, len(server._admission))
        assert most == limits.connections
        stack.close()
        assert soon(lambda: len(set(threading.enumerate()) - before) == own)
        assert server.hub.clients() == 0 or soon(lambda: server.hub.clients() == 0)
