"""Access rules of the preview: the functions alone, on strings."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.preview.http.guard import (
    check_action,
    check_host,
    check_method,
    check_origin,
    host_headers,
    is_loopback,
    parse_target,
)
from blogsmith.preview.http.reply import HttpResponse, RangeError, RequestRejectedError, byte_range
from blogsmith.preview.http.request import Request, parse_head
from blogsmith.preview.http.server import host_in_url
from tests.rows import each_row

HOSTS = host_headers([], 8000)


def request(method: str = "GET", target: str = "/", length: int | None = None, **headers: str) -> Request:
    """Return a request. headers: names with _ for -."""
    named = {"host": "localhost:8000", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return Request(method, target, named, length, keep_alive=True)


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1:8000", "[::1]:8000", "LocalHost:8000"])
def test_this_machine_has_three_names(host: str) -> None:
    check_host(request(host=host), HOSTS)


@each_row(
    "host",
    [
        *("evil.example", "evil.example:8000", "localhost.evil.example:8000", "x.localhost:8000"),
        *("localhost", "localhost:80", "localhost:8001", "localhost.:8000", "localhost:08000"),
        *("localhost:8000@evil.example", "localhost:8000,", "localhost:8000 evil.example"),
        *("127.0.0.1", "127.1:8000", "2130706433:8000", "0.0.0.0:8000"),
        *("[::]:8000", "::1:8000", "[0:0:0:0:0:0:0:1]:8000"),
    ],
)
def test_no_other_name_is_answered(host: str) -> None:
    with pytest.raises(RequestRejectedError) as refused:
        check_host(request(host=host), HOSTS)
    assert refused.value.reply.status == 403
    assert b"--host" in refused.value.reply.body


def test_a_request_without_host_is_none() -> None:
    with pytest.raises(RequestRejectedError) as refused:
        check_host(request(host=""), HOSTS)
    assert refused.value.reply.status == 400


def test_names_that_are_allowed() -> None:
    hosts = host_headers(["Desk.lan", "192.168.1.5", "fe80::1", "[fe80::2]"], 8000)
    assert hosts - HOSTS == {"desk.lan:8000", "192.168.1.5:8000", "[fe80::1]:8000", "[fe80::2]:8000"}
    assert "localhost" not in hosts
    assert {"localhost", "localhost:80"} <= host_headers([], 80)


@each_row("path", ["/", "/posts/a/", "/_blogsmith/events"])
@each_row(
    "origin",
    [
        *("http://evil.example", "null", "file://", "http://10.0.0.1:8000", "http://127.0.0.1:8000"),
        *("http://localhost:8001", "https://localhost:8000", "http://localhost", "http://localhost:8000/"),
        "http://localhost:8000.evil.example",
    ],
)
def test_pages_of_other_sites_read_nothing(origin: str, path: str) -> None:
    with pytest.raises(RequestRejectedError) as refused:
        check_origin(request(origin=origin), path)
    assert refused.value.reply.status == 403


def test_our_own_pages_are_told_by_their_origin() -> None:
    check_origin(request(), "/_blogsmith/events")
    check_origin(request(origin="http://localhost:8000"), "/_blogsmith/events")
    check_origin(request(host="LOCALHOST:8000", origin="http://localhost:8000"), "/_blogsmith/events")


@pytest.mark.parametrize("site", ["cross-site", "same-site", "?"])
def test_a_link_from_elsewhere_leads_to_pages_only(site: str) -> None:
    check_origin(request(sec_fetch_site=site), "/posts/a/")
    with pytest.raises(RequestRejectedError):
        check_origin(request(sec_fetch_site=site), "/_blogsmith/live.js")
    # images, scripts and requests of scripts, which send no `Origin`
    for mode in ("no-cors", "cors", "websocket"):
        with pytest.raises(RequestRejectedError):
            check_origin(request(sec_fetch_site=site, sec_fetch_mode=mode), "/posts/a/")


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_our_own_pages_and_the_address_bar_lead_everywhere(site: str) -> None:
    check_origin(request(sec_fetch_site=site), "/_blogsmith/live.js")


@each_row("path, allowed", [("/", "GET, HEAD"), ("/_blogsmith/events", "GET, HEAD")])
@each_row("method", ["POST", "PUT", "DELETE", "TRACE", "OPTIONS", "CONNECT", "PATCH", "BREW"])
def test_everything_but_actions_is_read(method: str, path: str, allowed: str) -> None:
    with pytest.raises(RequestRejectedError) as refused:
        check_method(request(method), path)
    assert (refused.value.reply.status, refused.value.reply.headers["Allow"]) == (405, allowed)


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT"])
def test_actions_are_posted(method: str) -> None:
    check_method(request("POST"), "/_blogsmith/do/edit")
    with pytest.raises(RequestRejectedError) as refused:
        check_method(request(method), "/_blogsmith/do/edit")
    assert refused.value.reply.headers["Allow"] == "POST"


def test_there_are_no_web_sockets_and_no_bodies_of_reading() -> None:
    for asked in (request(upgrade="WebSocket"), request(length=1)):
        with pytest.raises(RequestRejectedError):
            check_method(asked, "/")
    # the first request of curl --http2, which a server may ignore
    check_method(request(upgrade="h2c", length=0), "/")


def test_an_action_needs_the_token_and_a_page() -> None:
    origin = "http://localhost:8000"
    check_action(request("POST", x_blogsmith_token="secret", origin=origin), "secret")
    without = [
        request("POST", origin=origin),
        request("POST", origin=origin, x_blogsmith_token="secreT"),
        request("POST", origin=origin, x_blogsmith_token="gehe\u00edm"),
        request("POST", x_blogsmith_token="secret"),
    ]
    for asked in without:
        with pytest.raises(RequestRejectedError) as refused:
            check_action(asked, "secret")
        assert refused.value.reply.status == 403


@each_row(
    "target, path, query",
    [
        ("/", "/", ""),
        ("/posts/a/?x=1?y", "/posts/a/", "x=1?y"),
        ("/%C3%A9t%C3%A9/a%20b", "/été/a b", ""),
        ("/.well-known/x", "/.well-known/x", ""),
        ("/%252e%252e/x", "/%2e%2e/x", ""),
        ("/a//b", "/a//b", ""),
        ("/.../..a/b..", "/.../..a/b..", ""),
        ("/a?%zz=%00", "/a", "%zz=%00"),
    ],
)
def test_targets_are_decoded_once(target: str, path: str, query: str) -> None:
    parsed = parse_target(target)
    assert (parsed.path, parsed.query) == (path, query)


@each_row("target", ["/..", "/../x", "/%2e%2e/x", "/a/../../x", "/a/.", "/a/%2E", "/.env/.", "/./"])
def test_segments_that_climb_are_not_found(target: str) -> None:
    with pytest.raises(RequestRejectedError) as refused:
        parse_target(target)
    assert refused.value.reply.status == 404


@each_row(
    "target",
    [
        *("", "x", "*", "//host/x", "//", "http://localhost:8000/", "?x", "localhost:8000", "%2Fx"),
        *(
            "/..%2fx",
            "/a%2Fb",
            "/a%5cb",
            "/..\\x",
            "/a?\\",
            "/a#b",
            "/a?x#b",
            "/%00",
            "/a%0d%0ab",
            "/%7f",
            "/%1B",
        ),
        *(
            "/%",
            "/%f",
            "/%zz",
            "/%u0041",
            "/%ff",
            "/%c3",
            "/%ed%a0%80",
            "/%c0%ae%c0%ae/x",
            "/%f8%88%80%80%80",
        ),
        *("/\u00e9", "/a b", "/\x00", "/\t", "/\x7f"),
    ],
)
def test_what_no_address_can_be_is_refused(target: str) -> None:
    with pytest.raises(RequestRejectedError) as refused:
        parse_target(target)
    assert refused.value.reply.status == 400


def test_a_head_is_read() -> None:
    parsed = parse_head(
        b"GET /a?b HTTP/1.1\r\nHost: x\r\nX-A:\t one \r\nx-a: two\r\nEmpty:\r\nConnection: Close"
    )
    assert parsed.headers == {"host": "x", "x-a": "one, two", "empty": "", "connection": "Close"}
    assert (parsed.method, parsed.target, parsed.length, parsed.keep_alive) == ("GET", "/a?b", None, False)
    assert parse_head(b"POST / HTTP/1.1\r\nContent-Length: 12").length == 12
    assert parse_head(b"GET / HTTP/1.1").keep_alive
    assert not parse_head(b"GET / HTTP/1.0").keep_alive


@each_row(
    "head, status",
    [
        (b"", 400),
        (b"GET /", 400),
        (b"GET  / HTTP/1.1", 400),
        (b"GET / HTTP/1.1 ", 400),
        (b"GET / x HTTP/1.1", 400),
        (b"get / HTTP/1.1", 400),
        (b"GET /\xc3\xa9 HTTP/1.1", 400),
        (b"GET /\x00 HTTP/1.1", 400),
        (b"GET /a\nb HTTP/1.1", 400),
        (b"GET /a\rb HTTP/1.1", 400),
        (b"GET / HTTP/11", 400),
        (b"PRI * HTTP/2.0", 505),
        (b"GET / HTTP/0.9", 505),
        (b"GET /" + b"a" * 9000 + b" HTTP/1.1", 400),
        (b"GET / HTTP/1.1\r\nHost : x", 400),
        (b"GET / HTTP/1.1\r\n Host: x", 400),
        (b"GET / HTTP/1.1\r\nA: x\r\n y", 400),
        (b"GET / HTTP/1.1\r\nA: x\ny: z", 400),
        (b"GET / HTTP/1.1\r\nA: x\x00", 400),
        (b"GET / HTTP/1.1\r\n: x", 400),
        (b"GET / HTTP/1.1\r\nHost", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nhost: x", 400),
        (b"GET / HTTP/1.1\r\nOrigin: http://a\r\nOrigin: http://b", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: -1", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: +1", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 1_0", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: " + b"9" * 5000, 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked", 411),
        (b"POST / HTTP/1.1\r\nExpect: 100-continue", 417),
    ],
)
def test_a_head_that_can_be_read_in_two_ways_is_refused(head: bytes, status: int) -> None:
    with pytest.raises(RequestRejectedError) as refused:
        parse_head(head)
    assert refused.value.reply.status == status


@given(st.binary(max_size=200) | st.text("GET /HTP1.:\r\n %2fe#\\", max_size=60).map(str.encode))
def test_any_bytes_are_a_request_or_refused(data: bytes) -> None:
    for head in (data, b"GET / HTTP/1.1\r\n" + data, b"GET /" + data + b" HTTP/1.1"):
        with suppress(RequestRejectedError):
            parsed = parse_head(head)
            assert b"\n" not in head.replace(b"\r\n", b"")
            path = parse_target(parsed.target).path
            assert path.startswith("/") and not path.startswith("//")
            assert not {".", ".."} & set(path.split("/"))
            assert path.isprintable() or not re.search(r"[\x00-\x1f\x7f\\]", path)


@pytest.mark.parametrize("value", ["a\r\nSet-Cookie: x", "a\nb", "\u00e9", "a\x00"])
def test_no_value_breaks_out_of_its_header(value: str) -> None:
    with pytest.raises(ValueError, match="header"):
        HttpResponse(200, headers={"Location": value})
    with pytest.raises(ValueError, match="header"):
        HttpResponse(200, value)


@each_row(
    "header, piece",
    [
        ("bytes=0-", (0, 100)),
        ("bytes=0-0", (0, 1)),
        ("bytes=10-19", (10, 10)),
        ("bytes=90-200", (90, 10)),
        ("bytes=-10", (90, 10)),
        ("bytes=-1000", (0, 100)),
        ("", None),
        ("bytes=-", None),
        ("bytes=20-10", None),
        ("bytes=0-1,5-6", None),
        ("bytes=a-b", None),
        ("lines=0-1", None),
        ("bytes=0-" + "9" * 5000, None),
    ],
)
def test_ranges(header: str, piece: tuple[int, int] | None) -> None:
    assert byte_range(header, 100) == piece


@pytest.mark.parametrize("header", ["bytes=100-", "bytes=100-200", "bytes=-0"])
def test_ranges_without_a_byte(header: str) -> None:
    with pytest.raises(RangeError):
        byte_range(header, 100)


def test_no_range_of_an_empty_file() -> None:
    with pytest.raises(RangeError):
        byte_range("bytes=0-", 0)
    assert byte_range("", 0) is None


def test_what_only_this_machine_reaches() -> None:
    assert all(map(is_loopback, ("localhost", "127.0.0.1", "127.0.0.2", "::1")))
    assert not any(
        map(is_loopback, ("0.0.0.0", "::", "", "192.168.1.5", "127.evil.example", "localhost.lan"))
    )


@each_row(
    "host, shown",
    [
        ("127.0.0.1", "127.0.0.1"),
        ("localhost", "127.0.0.1"),
        ("0.0.0.0", "127.0.0.1"),
        ("::", "[::1]"),
        ("fe80::1", "[fe80::1]"),
        ("desk.lan", "desk.lan"),
    ],
)
def test_addresses_that_a_browser_here_opens(host: str, shown: str) -> None:
    assert host_in_url(host) == shown
