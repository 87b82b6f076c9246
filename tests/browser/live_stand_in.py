"""A stand-in for `blogsmith serve`: the real client files, pages that a test changes, and events."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from html import escape
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Condition, Event, Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

from blogsmith.preview.http.routes import client_files

from .reader import PATIENCE_S
from .server import Server

PREFIX = "/_blogsmith/"
TOKEN = "the-token"
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".woff2": "font/woff2"}
PING_S = 0.1
HTML = "text/html; charset=utf-8"
CALM: Mapping[str, object] = {"kind": "problems", "errors": 0, "warnings": 0, "items": []}


class LiveSite:
    """The present content of the server. Tests change it from their own thread."""

    def __init__(self) -> None:
        self.files: dict[str, tuple[str, bytes]] = {}
        """Path → type and bytes, HTML without the preview's tag."""
        self.sources: dict[str, str] = {}
        self.editor = ""
        self.run = "first"
        self.problems = CALM
        self.running: list[Mapping[str, object]] = []
        self.asked: list[str] = []
        """Paths of all GETs, in order."""
        self.done: list[tuple[str, Mapping[str, object]]] = []
        """Actions that pages asked for."""
        self._streams: dict[SimpleQueue[str | None], None] = {}
        self._changed = Condition()
        self._open = Event()
        self._open.set()

    def put(self, path: str, content: str, type: str = "") -> None:
        """Serve `content` at `path` from now on, without an event."""
        self.files[path] = (type or TYPES.get(Path(path).suffix, HTML), content.encode())

    def page(self, path: str, html: str, source: str = "content/a.md") -> None:
        """Add a page and its source."""
        self.sources[path] = source
        self.put(path, html)

    def edit(self, path: str, html: str, line: int | None = None) -> None:
        """Change a page and notify every tab."""
        self.page(path, html, self.sources.get(path, "content/a.md"))
        self.send(kind="pages", pages={path: {"version": self.version(path), "line": line}})

    def version(self, path: str) -> str:
        """Return a digest of the present bytes of a page; empty if there is none."""
        file = self.files.get(path)
        return sha256(file[1] + self.sources.get(path, "").encode()).hexdigest()[:12] if file else ""

    def body(self, path: str) -> bytes:
        """Return the bytes that are sent for a path, with the preview's tag inserted into pages."""
        type, body = self.files[path]
        if type != HTML:
            return body
        data = {
            "version": self.version(path),
            "source": self.sources.get(path, ""),
            "token": f"{TOKEN}-{self.run}",
            "editor": self.editor,
        }
        said = " ".join(f'data-{name}="{escape(value)}"' for name, value in data.items())
        tag = f'<script type="module" src="{PREFIX}live.js" data-blogsmith {said}></script>\n</head>'
        return body.replace(b"</head>", tag.encode(), 1)

    def send(self, **event: object) -> None:
        """Send an event to every stream."""
        if event["kind"] == "problems":
            self.problems = event
        for stream in list(self._streams):
            stream.put(f"data: {json.dumps(event)}\n\n")

    def streams(self) -> int:
        """Count of connections that wait for events."""
        return len(self._streams)

    def break_streams(self) -> None:
        """End every stream, as a stopping server does."""
        for stream in list(self._streams):
            stream.put(None)

    @contextmanager
    def away(self) -> Iterator[None]:
        """End every stream, and accept no other while the block runs."""
        self._open.clear()
        try:
            self.break_streams()
            yield
        finally:
            self._open.set()

    def wait_for_streams(self, count: int, patience_s: float = PATIENCE_S) -> None:
        """Wait until `count` connections wait for events."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self._streams) == count, patience_s), self.streams()

    @contextmanager
    def stream(self) -> Iterator[SimpleQueue[str | None]]:
        """Yield the queue of events of one connection; None in the queue ends it."""
        self._open.wait(PATIENCE_S)
        hello = {"kind": "hello", "run": self.run, "problems": self.problems, "running": self.running}
        queue: SimpleQueue[str | None] = SimpleQueue()
        queue.put(f"retry: 100\n\ndata: {json.dumps(hello)}\n\n")
        with self._changed:
            self._streams[queue] = None
            self._changed.notify_all()
        try:
            yield queue
        finally:
            with self._changed:
                del self._streams[queue]
                self._changed.notify_all()


class Handler(BaseHTTPRequestHandler):
    """Handler that answers from memory."""

    protocol_version = "HTTP/1.1"
    server: LiveServer

    def setup(self) -> None:
        """Register the connection, so that it can be ended."""
        super().setup()
        self.server.connections.add(self.connection)
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)

    def finish(self) -> None:
        self.server.connections.discard(self.connection)
        with suppress(OSError):
            super().finish()

    def do_GET(self) -> None:
        """Answer with a page, a file, the client or its events."""
        site, target = self.server.site, urlsplit(self.path)
        site.asked.append(target.path)
        name = target.path.removeprefix(PREFIX)
        if name == "events":
            self._stream()
        elif name == "version":
            [path] = parse_qs(target.query)["path"]
            self._answer(
                200, "application/json", json.dumps({"version": site.version(path), "run": site.run})
            )
        elif target.path.startswith(PREFIX) and name in self.server.client:
            file = self.server.client[name]
            self._answer(200, file.type, file.body)
        elif target.path in site.files:
            self._answer(200, site.files[target.path][0], site.body(target.path))
        else:
            self._answer(404, HTML, "<!DOCTYPE html><title>Nothing</title><p>Nothing is here.")

    def do_POST(self) -> None:
        """Record an action, if the request has the present token."""
        data = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers["X-Blogsmith-Token"] != f"{TOKEN}-{self.server.site.run}":
            self._answer(403, "text/plain", "The token is wrong.")
            return
        self.server.site.done.append((self.path.removeprefix(f"{PREFIX}do/"), data))
        self._answer(200, "application/json", "{}")

    def _stream(self) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        with self.server.site.stream() as queue, suppress(OSError):
            while (text := _next(queue)) is not None:
                self.wfile.write(text.encode())

    def _answer(self, status: int, type: str, content: str | bytes) -> None:
        body = content.encode() if isinstance(content, str) else content
        self.send_response(status)
        self.send_header("Content-Type", type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Log nothing; tests read the browser's log."""


def _next(queue: SimpleQueue[str | None]) -> str | None:
    """Return the next event, or after a while a comment, which detects a closed connection."""
    try:
        return queue.get(timeout=PING_S)
    except Empty:
        return ": ping\n\n"


class LiveServer(Server):
    """Server for a `LiveSite` on loopback, which can be stopped and started again at the same port."""

    daemon_threads = True

    def __init__(self, site: LiveSite, port: int = 0) -> None:
        self.site = site
        self.client = client_files()
        self.connections: set[socket.socket] = set()
        super().__init__(("127.0.0.1", port), Handler)
        self._thread = Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    @property
    def origin(self) -> str:
        """Scheme, host and port, without a slash at the end."""
        return f"http://127.0.0.1:{self.server_port}"

    def stop(self) -> None:
        """Free the port and end every connection."""
        self.shutdown()
        self._thread.join()
        self.site.break_streams()
        for connection in list(self.connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.server_close()


@contextmanager
def live_site() -> Iterator[tuple[LiveSite, LiveServer]]:
    """Yield a site without pages, and its server."""
    site = LiveSite()
    server = LiveServer(site)
    try:
        yield site, server
    finally:
        server.stop()
