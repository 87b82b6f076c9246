"""A site served on loopback, at a port the system chooses, as a plain web host would serve it."""

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
    """Files of a folder, and the site's own page for what is not there."""

    def send_error(self, code: int, *arguments: Any, **options: Any) -> None:
        """Answer a missing address with `404.html`."""
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
        """Say nothing: the browser's own log is read."""


class Server(ThreadingHTTPServer):
    """A server that does not mind a browser that hangs up."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection closed in the middle of an answer is no fault of the site."""


@contextmanager
def served(folder: Path, handler: type[SimpleHTTPRequestHandler] = Handler) -> Iterator[str]:
    """Serve `folder` while the block runs; gives the origin, without a slash at its end."""
    with Server(("127.0.0.1", 0), partial(handler, directory=str(folder))) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
