"""Rows 6, 7, 8 and 10: clients and methods that the preview accepts, and the headers of its responses."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from blogsmith.preview.protocol import Response
from tests.preview_client import SECURITY, ask, serving, site
from tests.preview_files import picture, with_file
from tests.rows import each_row
from tests.serve_process import Serving, post, running, write

__all__ = ["picture"]

linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")
TARGETS = ["/posts/a/", "/theme.css", "/_blogsmith/events", "/_blogsmith/version?path=/"]
OF_THE_SITE = [
    "/posts/a/",
    "/data.txt",
    "/_blogsmith/live.js",
    "/_blogsmith/events",
    "/_blogsmith/version?path=/",
]
HOSTS = [
    *("evil.example", "evil.example:{0}", "127.0.0.1.evil.example:{0}", "localhost.evil.example:{0}"),
    *("127.0.0.1", "127.0.0.1:1", "0.0.0.0:{0}", "2130706433:{0}", "127.1:{0}", "[::]:{0}"),
    *("localhost:{0}@evil.example", "localhost:{0}, evil.example"),
]
ORIGINS = [
    *("http://evil.example", "null", "http://192.168.1.5", "http://192.168.1.5:{0}", "http://localhost:1"),
    *("https://localhost:{0}", "http://localhost:{0}.evil.example", "file://"),
]


@pytest.fixture(scope="module")
def previewed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Run the preview of a small site."""
    root = tmp_path_factory.mktemp("origins") / "site"
    files = {"content/posts/a.md": post("First", "Some text."), "static/data.txt": "Some text."}
    write(root, {"blogsmith.yaml": "title: Notes\n", **files})
    with running(root) as serving:
        serving.wait_until_whole()
        yield serving


@linux
@each_row("target", OF_THE_SITE)
@each_row("host", HOSTS)
def test_row_06_other_names_are_not_answered(previewed: Serving, target: str, host: str) -> None:
    got = previewed.ask(target, Host=host.format(previewed.port))
    assert (got.status, got.headers["content-type"]) == (403, "text/plain; charset=utf-8")
    assert b"Some text." not in got.body


@linux
@each_row("target", OF_THE_SITE)
@each_row("origin", ORIGINS)
def test_row_07_pages_of_others_get_nothing(previewed: Serving, target: str, origin: str) -> None:
    got = previewed.ask(target, Origin=origin.format(previewed.port))
    assert (got.status, got.headers["content-type"]) == (403, "text/plain; charset=utf-8")
    assert b"Some text." not in got.body


@linux
@each_row("method", ["POST", "PUT", "DELETE", "TRACE", "PATCH", "OPTIONS"])
@each_row("target", OF_THE_SITE)
def test_row_10_the_preview_is_read_only(previewed: Serving, target: str, method: str) -> None:
    got = previewed.ask(target, method)
    assert (got.status, got.headers["allow"]) == (405, "GET, HEAD")
    assert got.headers.items() >= SECURITY.items()


@each_row("target", TARGETS)
@each_row(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example:8000"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://192.168.1.5"},
        {"Origin": "http://localhost:1"},
    ],
    ids=str,
)
def test_row_07_strangers_get_nothing(target: str, headers: dict[str, str]) -> None:
    pages = site()
    with serving(pages) as server:
        got = ask(server, target, **headers)
        assert got.status == 403
        assert got.headers["content-type"].startswith("text/plain")
        assert pages.asked == []
        assert server.hub.clients() == 0


def test_row_07_scripts_and_events_are_for_our_own_pages() -> None:
    with serving(site()) as server:
        assert ask(server, "/posts/a/", Sec_Fetch_Site="cross-site").status == 200
        # The same URL in another spelling.
        for target in ("/_blogsmith/version?path=/", "/%5fblogsmith/version?path=/"):
            assert ask(server, target, Sec_Fetch_Site="cross-site").status == 403
            assert ask(server, target, Origin="http://evil.example").status == 403
            assert ask(server, target, Origin=f"http://127.0.0.1:{server.port}").status == 200


def test_row_06_a_request_without_host_is_refused() -> None:
    with serving(site()) as server:
        assert ask(server, "/posts/a/", Host=None).status == 400


def test_row_06_a_name_that_is_allowed() -> None:
    with serving(site(), allowed_hosts=["desk.lan"]) as server:
        assert ask(server, "/posts/a/", Host=f"desk.lan:{server.port}").status == 200
        assert ask(server, "/posts/a/", Host="desk.lan").status == 403


def test_row_08_every_answer_carries_the_headers_of_safety(picture: Path) -> None:
    pages = with_file(picture)
    pages.pages |= {"/": Response(200), "/b": Response(301, location="/"), "/c": RuntimeError("x")}
    asked: list[tuple[str, str, dict[str, str]]] = [
        ("GET", "/", {}),
        ("HEAD", "/", {}),
        ("GET", "/a.png", {}),
        ("GET", "/a.png", {"Range": "bytes=0-1"}),
        ("GET", "/a.png", {"Range": "bytes=200-"}),
        ("GET", "/b", {}),
        ("GET", "/c", {}),
        ("GET", "/d", {}),
        ("GET", "/%", {}),
        ("GET", "/", {"Host": "evil.example"}),
        ("GET", "/", {"Origin": "http://evil.example"}),
        ("OPTIONS", "/", {"Origin": "http://evil.example", "Access-Control-Request-Method": "GET"}),
        ("GET", "/_blogsmith/version?path=/", {}),
        ("GET", "/_blogsmith/nothing", {}),
        ("HEAD", "/_blogsmith/events", {}),
        ("POST", "/_blogsmith/do/edit", {}),
        ("GET", "/", {"Upgrade": "websocket"}),
        ("GET", "/", {"Bad Header": "x"}),
    ]
    bugs: list[Exception] = []
    seen = set()
    with serving(pages, bugs=bugs) as server:
        for method, target, headers in asked:
            got = ask(server, target, method, **headers)
            seen.add(got.status)
            assert got.headers.items() >= SECURITY.items(), (method, target)
            assert not [name for name in got.headers if name.startswith("access-control")]
            assert target.endswith("events") or "content-length" in got.headers
            assert not re.search("python|[0-9]", got.headers["server"])
    assert seen >= {200, 206, 301, 400, 403, 404, 405, 416, 500}
    assert len(bugs) == 1


@each_row("method", ["POST", "PUT", "DELETE", "TRACE", "OPTIONS", "PATCH", "CONNECT", "PROPFIND"])
@each_row("body", [None, b"x" * 10, b"x" * 200_000])
def test_row_10_what_is_not_reading_is_refused(method: str, body: bytes | None) -> None:
    pages = site()
    with serving(pages) as server:
        got = ask(server, "/posts/a/", method, body=body)
        assert (got.status, got.headers["allow"]) == (405, "GET, HEAD")
        assert ask(server, "*", "OPTIONS").status == 405
        assert ask(server, "127.0.0.1:22", "CONNECT").status == 405
        assert pages.asked == []


def test_row_10_there_are_no_web_sockets() -> None:
    handshake = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    }
    with serving(site()) as server:
        assert ask(server, "/_blogsmith/events", **handshake).status == 405
        assert ask(server, "/posts/a/", **handshake).status == 405
