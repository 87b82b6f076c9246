"""A site served on loopback, at a port chosen by the system, like on a plain web host."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any


class Handler(SimpleHTTPRequestHandler):
    """Handler for files of a folder, with the site's own page for missing ones."""

    def send_error(self, code: int, *arguments: Any, **options: Any) -> None:
        """Answer a missing path with `404.html`."""
        page = Path(self.directory) / "404.html"
        if code != HTTPStatus.NOT_FOUND or not page.is_file():
            super().send_error(code, *arguments, **options)
            return
        body = page.read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Log nothing; tests read the browser's log."""


class Server(ThreadingHTTPServer):
    """A server that ignores interrupted connections."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a connection that was closed during a response, which is not an error of the site."""


@contextmanager
def served(folder: Path, handler: type[SimpleHTTPRequestHandler] = Handler) -> Iterator[str]:
    """Serve `folder` while the block runs; yield the origin, without a slash at the end."""
    with Server(("127.0.0.1", 0), partial(handler, directory=str(folder))) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
