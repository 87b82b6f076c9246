"""Helpers to test the preview's server: a site in memory, and clients that send what no browser would."""

from __future__ import annotations

import json
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from blogsmith.preview.http import server as server_module
from blogsmith.preview.http.request import ClientLimits
from blogsmith.preview.http.server import PreviewServer
from blogsmith.preview.protocol import Response

TOKEN = "the token of this run"
WAIT_S = 60.0
"""Seconds; nothing here needs a tenth of it, unless the machine is overloaded."""


SECURITY = {
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    "referrer-policy": "same-origin",
    "x-frame-options": "SAMEORIGIN",
    "server": "blogsmith",
}
"""Headers of every response."""


@dataclass(slots=True)
class MemorySite:
    """Pages by path, as a site has them, and all requests."""

    pages: dict[str, Response | Exception] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    acted: list[tuple[str, Mapping[str, object]]] = field(default_factory=list)

    def answer(self, path: str) -> Response:
        self.asked.append(path)
        found = self.pages.get(path, Response(404, body=b"<p>no such page"))
        if isinstance(found, Exception):
            raise found
        return found

    def version(self, path: str) -> str:
        return "ab12" if path in self.pages else ""

    def act(self, name: str, data: Mapping[str, object]) -> Mapping[str, object]:
        if name not in ("edit", "stop"):
            raise LookupError(f"no action {name}")
        if "path" in data and not isinstance(data["path"], str):
            raise ValueError("path is no text")
        self.acted.append((name, data))
        return {"done": name}


@dataclass(frozen=True, slots=True)
class Got:
    """A response as received."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


def site() -> MemorySite:
    """Return a site with one page and one stylesheet."""
    css = Response(200, "text/css", b"p { color: red }")
    return MemorySite({"/posts/a/": Response(200, body=b"<p>page a"), "/theme.css": css})


@contextmanager
def serving(
    pages: MemorySite,
    *,
    hello: Callable[[], Mapping[str, object]] = dict,
    limits: ClientLimits | None = None,
    bugs: list[Exception] | None = None,
    is_patient: bool = True,
    **settings: Any,
) -> Iterator[PreviewServer]:
    """Yield a running server on a free port; fail if it has an unexpected bug.

    is_patient: longer timeout, as half a second is little for a client on a busy machine that still sends a
    rejected body.
    """
    found: list[Exception] = []
    server = PreviewServer(
        pages,
        pages,
        token=TOKEN,
        hello=hello,
        report_bug=(found if bugs is None else bugs).append,
        limits=limits,
        **{"port": 0, **settings},
    )
    server.start()
    try:
        with patch("blogsmith.preview.http.connection._LINGER_S", WAIT_S) if is_patient else nullcontext():
            yield server
    finally:
        server.close()
    assert found == []


class Client:
    """A single connection. Bytes in, responses out."""

    def __init__(self, port: int, address: str = "127.0.0.1") -> None:
        self.host = f"127.0.0.1:{port}"
        self.socket = socket.create_connection((address, port), timeout=WAIT_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._read = b""

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def ask(
        self, target: str | bytes, method: str = "GET", body: bytes | None = None, **headers: str | None
    ) -> Got:
        """Send a request and return its response. headers: names with _ for -; None omits a header."""
        path = target.encode("latin-1") if isinstance(target, str) else target
        size = None if body is None else str(len(body))
        lines = self._lines({"Content_Length": size, **headers})
        self.send(method.encode() + b" " + path + b" HTTP/1.1\r\n" + lines + b"\r\n" + (body or b""))
        return self.answer(has_body=method != "HEAD")

    def answer(self, has_body: bool = True) -> Got:
        """Return the next response on the connection."""
        status, headers = self.head()
        size = int(headers.get("content-length", 0)) if has_body else 0
        while len(self._read) < size:
            self._receive()
        body, self._read = self._read[:size], self._read[size:]
        return Got(status, headers, body)

    def head(self) -> tuple[int, Mapping[str, str]]:
        """Return status and headers of the next response."""
        while b"\r\n\r\n" not in self._read:
            self._receive()
        head, self._read = self._read.split(b"\r\n\r\n", 1)
        first, *lines = head.decode("ascii").split("\r\n")
        pairs = [line.split(": ", 1) for line in lines]
        assert len({name for name, _ in pairs}) == len(pairs), "a header stands twice"
        return int(first.split()[1]), {name.lower(): value for name, value in pairs}

    def ended(self) -> bool:
        """Wait for the server to close the connection. Return whether it did."""
        try:
            return self._read == b"" and self.socket.recv(1) == b""
        except ConnectionError:
            return True

    def listen(self, **headers: str | None) -> Client:
        """Request the events."""
        self.send(b"GET /_blogsmith/events HTTP/1.1\r\n" + self._lines(headers) + b"\r\n")
        return self

    def block(self) -> str:
        """Return the data of a stream up to the next empty line."""
        while b"\n\n" not in self._read:
            self._receive()
        block, self._read = self._read.split(b"\n\n", 1)
        return block.decode("utf-8")

    def event(self) -> Any:
        """Return the next event of a stream, without pings."""
        while not (block := self.block()).startswith("data: "):
            pass
        assert "\n" not in block
        return json.loads(block.removeprefix("data: "))

    def _lines(self, headers: Mapping[str, str | None]) -> bytes:
        named = {"Host": self.host, **{name.replace("_", "-"): value for name, value in headers.items()}}
        lines = (f"{name}: {value}\r\n" for name, value in named.items() if value is not None)
        return "".join(lines).encode("latin-1")

    def _receive(self) -> None:
        piece = self.socket.recv(1 << 20)
        if not piece:
            raise EOFError(f"the server has hung up after {self._read[:80]!r}")
        self._read += piece


def ask(server: PreviewServer, target: str | bytes, method: str = "GET", **more: Any) -> Got:
    """Send one request on a separate connection."""
    with Client(server.port) as client:
        return client.ask(target, method, **more)


def quiet_port(count: int = 1) -> int:
    """Return the first of `count` adjacent ports that are free now and not assigned automatically.

    A port assigned by the system could be assigned to another test as soon as it is free again.
    """
    for _ in range(100):
        first = 15_000 + secrets.randbelow(15_000)
        try:
            for port in range(first, first + count):
                for listener in server_module._bind_all(server_module._addresses("localhost"), port):
                    listener.close()
        except OSError:
            continue
        return first
    raise AssertionError("no free ports side by side")


def soon(true: Callable[[], bool], within_s: float = WAIT_S) -> bool:
    """Return whether the condition becomes true in time."""
    until = time.monotonic() + within_s
    while not true():
        if time.monotonic() > until:
            return False
        time.sleep(0.002)
    return True


# [D 11] load
def threads_since(before: set[threading.Thread]) -> int:
    """Return the number of new threads; earlier ones may have ended meanwhile."""
    return len(set(threading.enumerate()) - before)


def made(**settings: object) -> PreviewServer:
    """Return a server that is not started."""
    pages = site()
    return PreviewServer(pages, pages, token=TOKEN, hello=dict, **settings)  # type: ignore[arg-type]
