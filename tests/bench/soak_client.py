"""A stand-in for a browser that listens to the events of a preview and counts reported errors."""

from __future__ import annotations

import json
import socket
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from threading import Event, Thread

from blogsmith.preview.protocol import PREFIX

_AGAIN_S = 0.3
"""Seconds before reconnecting, as the server tells browsers."""


class Listener:
    """Event stream of one tab, which reconnects after an interruption."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._over = Event()
        self._socket: socket.socket | None = None
        self._thread = Thread(target=self._run)
        self.events = 0
        self.streams = 0
        """How often it connected."""
        self.errors = 0
        """In the site as a whole."""

    def __enter__(self) -> Listener:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._socket:
            # Wakes the thread that reads from it.
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()

    def _run(self) -> None:
        while not self._over.is_set():
            connection = HTTPConnection("127.0.0.1", self._port, timeout=60)
            with suppress(OSError, HTTPException):
                self._read(connection)
            connection.close()
            self._over.wait(_AGAIN_S)

    def _read(self, connection: HTTPConnection) -> None:
        connection.connect()
        # The connection drops its socket when a response without an end starts.
        self._socket = connection.sock
        connection.request("GET", f"{PREFIX}events", headers={"Accept": "text/event-stream"})
        answer = connection.getresponse()
        self.streams += 1
        while not self._over.is_set() and (line := answer.readline()):
            if line.startswith(b"data: "):
                self._take(json.loads(line.removeprefix(b"data: ")))

    def _take(self, event: dict[str, object]) -> None:
        self.events += 1
        problems = event.get("problems") if event["kind"] == "hello" else event
        if isinstance(problems, dict) and "errors" in problems:
            self.errors = problems["errors"]
