"""The stream of events: content, order, and clients that do not read."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Mapping
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.preview.http.connection import frame
from blogsmith.preview.http.request import ClientLimits
from tests.preview_client import Client, ask, serving, site, soon


def pages_event(version: str) -> Mapping[str, object]:
    return {"kind": "pages", "pages": {"/posts/a/": {"version": version, "line": None}}}


def test_a_stream_begins_with_the_present_state() -> None:
    state = {"problems": {"errors": 1}, "run": "not mine to say"}
    with serving(site(), hello=lambda: state) as server, Client(server.port) as client:
        status, headers = client.listen(Origin=f"http://{client.host}", Sec_Fetch_Site="same-origin").head()
        assert status == 200
        assert headers["content-type"] == "text/event-stream"
        assert headers["cache-control"] == "no-store"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "content-length" not in headers
        assert client.block() == "retry: 300"
        assert client.event() == {"kind": "hello", "run": server.run, "problems": {"errors": 1}}
        assert server.hub.clients() == 1


def test_events_reach_every_stream_in_order() -> None:
    with serving(site()) as server:
        clients = [Client(server.port).listen() for _ in range(5)]
        for client in clients:
            assert client.event()["kind"] == "hello"
        for number in range(200):
            server.hub.publish(pages_event(str(number)))
        for client in clients:
            versions = [client.event()["pages"]["/posts/a/"]["version"] for _ in range(200)]
            assert versions == [str(number) for number in range(200)]
            client.socket.close()


def test_no_event_falls_between_hello_and_the_stream() -> None:
    """The state changes before the event is published: hello has the change, or the event follows."""
    state = {"count": 0}
    with serving(site(), hello=lambda: state) as server:
        clients = []
        for count in range(1, 100):
            state["count"] = count
            server.hub.publish({"kind": "status", "count": count})
            if count % 10 == 0:
                clients.append(Client(server.port).listen())
        for client in clients:
            seen = client.event()["count"]
            while seen < 99:
                following = client.event()["count"]
                assert following <= seen + 1
                seen = following
            client.socket.close()


def test_publishing_from_many_threads() -> None:
    with serving(site()) as server, Client(server.port) as client:
        assert client.listen().event()["kind"] == "hello"

        def publish(name: str) -> None:
            for number in range(100):
                server.hub.publish({"kind": name, "number": number})

        threads = [threading.Thread(target=publish, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        got = [client.event() for _ in range(400)]
        for thread in threads:
            thread.join()
        for name in "abcd":
            assert [event["number"] for event in got if event["kind"] == name] == list(range(100))


def test_a_head_of_the_stream_is_no_stream() -> None:
    with serving(site()) as server, Client(server.port) as client:
        got = client.ask("/_blogsmith/events", "HEAD")
        assert (got.status, got.headers["content-type"]) == (200, "text/event-stream")
        assert client.ended()
        assert server.hub.clients() == 0


def test_signs_of_life() -> None:
    with serving(site(), limits=ClientLimits(ping_s=0.05)) as server, Client(server.port) as client:
        client.listen().head()
        assert client.block() == "retry: 300"
        assert client.event()["kind"] == "hello"
        assert [client.block(), client.block()] == [": ping", ": ping"]


@pytest.mark.parametrize("how", ["close", "reset", "half"])
def test_a_closed_tab_is_noticed_without_an_event(how: str) -> None:
    with serving(site()) as server:
        client = Client(server.port).listen()
        assert client.event()["kind"] == "hello"
        if how == "reset":
            # closing sends a reset instead of an end
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        if how == "half":
            client.socket.shutdown(socket.SHUT_WR)
        else:
            client.socket.close()
        assert soon(lambda: server.hub.clients() == 0)
        server.hub.publish({"kind": "status"})
        client.socket.close()


def test_what_a_listener_says_is_not_heard() -> None:
    with serving(site()) as server, Client(server.port) as client:
        assert client.listen().event()["kind"] == "hello"
        client.send(b"GET /posts/a/ HTTP/1.1\r\n\r\n" * 1000)
        server.hub.publish({"kind": "status"})
        assert client.event() == {"kind": "status"}


def test_a_client_that_does_not_read_is_dropped_and_nobody_waits_for_it() -> None:
    with serving(site(), limits=ClientLimits(unread=100_000)) as server, Client(server.port) as reader:
        assert reader.listen().event()["kind"] == "hello"
        sleeper = socket.socket()
        sleeper.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sleeper.connect(("127.0.0.1", server.port))
        sleeper.sendall(f"GET /_blogsmith/events HTTP/1.1\r\nHost: {reader.host}\r\n\r\n".encode())
        assert soon(lambda: server.hub.clients() == 2)
        for number in range(200):
            server.hub.publish({"kind": "run", "number": number, "text": "x" * 50_000})
            assert reader.event()["number"] == number
        assert server.hub.clients() == 1
        sleeper.close()


def test_one_event_beyond_the_limit_still_arrives() -> None:
    """Otherwise a long list of problems, the first message on each stream, would end each of them."""
    big = "x" * 10_000_000
    with serving(site(), hello=lambda: {"text": big}) as server, Client(server.port) as client:
        assert client.listen().event()["text"] == big
        server.hub.publish({"kind": "status"})
        assert client.event() == {"kind": "status"}


def test_more_streams_than_allowed_are_refused() -> None:
    with serving(site(), limits=ClientLimits(streams=2)) as server:
        clients = [Client(server.port).listen() for _ in range(2)]
        for client in clients:
            assert client.event()["kind"] == "hello"
        assert ask(server, "/_blogsmith/events").status == 503
        clients[0].socket.close()
        assert soon(lambda: server.hub.clients() == 1)
        with Client(server.port) as again:
            assert again.listen().event()["kind"] == "hello"
        clients[1].socket.close()


def test_a_bug_in_hello_ends_one_stream() -> None:
    state: dict[str, object] = {"bad": object()}
    bugs: list[Exception] = []
    with serving(site(), hello=lambda: state, bugs=bugs) as server:
        with Client(server.port) as client:
            assert client.listen().ended()
        state.clear()
        with Client(server.port) as client:
            assert client.listen().event()["kind"] == "hello"
    assert [type(bug) for bug in bugs] == [TypeError]


def test_what_is_no_json_is_told_to_its_publisher() -> None:
    with serving(site()) as server, Client(server.port) as client:
        assert client.listen().event()["kind"] == "hello"
        for wrong in (object(), float("nan"), float("inf")):
            with pytest.raises((TypeError, ValueError)):
                server.hub.publish({"kind": "status", "text": wrong})
        server.hub.publish(MappingProxyType({"kind": "status", "more": MappingProxyType({"a": (1, 2)})}))
        assert client.event() == {"kind": "status", "more": {"a": [1, 2]}}


def test_publishing_without_anybody_there() -> None:
    with serving(site()) as server:
        for _ in range(1000):
            server.hub.publish({"kind": "status"})
    server.hub.publish({"kind": "status"})  # and after the end


def as_browsers_read_it(text: str) -> str:
    """Two surrogates that happen to be a pair are one character, in JSON as in UTF-16."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


@given(st.text(st.characters() | st.characters(categories=["Cs"]), max_size=200))
def test_any_text_is_one_line_of_json(text: str) -> None:
    data = frame({"kind": "problems", "text": text})
    assert data.startswith(b"data: ") and data.endswith(b"\n\n")
    assert json.loads(data[6:-2]) == {"kind": "problems", "text": as_browsers_read_it(text)}
    assert all(0x20 <= byte < 0x7F for byte in data[:-2])


@pytest.mark.parametrize(
    "text", ["\u2028\u2029\x85\r\n\n\ndata: x", "\ud800\udfff \udc80", "</script>\x00\x1b[31m"]
)
def test_hostile_text_is_one_line_of_json(text: str) -> None:
    with serving(site()) as server, Client(server.port) as client:
        assert client.listen().event()["kind"] == "hello"
        server.hub.publish({"kind": "problems", "items": [{"message": text, text: text}]})
        read = as_browsers_read_it(text)
        assert client.event()["items"] == [{"message": read, read: read}]
