"""Server-Sent Events to every tab; one thread owns all streams.

The sockets of the streams do not block. Data that a client has not read waits in memory, up to a limit. A
client that exceeds it is disconnected, and reconnects by itself.
"""

from __future__ import annotations

import json
import selectors
import socket
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock, Thread
from time import monotonic

from .request import ClientLimits

_RETRY = b"retry: 300\n\n"
"""Field of the stream with the delay, in milliseconds, after which a browser reconnects."""
_PING = b": ping\n\n"


def frame(event: Mapping[str, object]) -> bytes:
    """Encode an event on one line. Line ends, lone surrogates and other non-ASCII characters are escaped."""
    text = json.dumps(dict(event), ensure_ascii=True, allow_nan=False, separators=(",", ":"), default=_plain)
    return f"data: {text}\n\n".encode("ascii")


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be encoded as JSON")


@dataclass(slots=True, eq=False)
class _Stream:
    """Stream to one tab, or to one shared worker of all tabs."""

    connection: socket.socket
    unsent: bytearray = field(default_factory=bytearray)
    """Data that the system has not accepted for sending yet."""


class EventHub:
    """Distributes events from any thread to all streams."""

    def __init__(
        self,
        hello: Callable[[], Mapping[str, object]],
        report_bug: Callable[[Exception], None],
        limits: ClientLimits,
    ) -> None:
        """Create a hub without streams. hello: returns the first event of a stream. It runs in the hub's
        thread and must not block. Code that changes its result must do so before it publishes the event about
        the change, so that no stream misses it."""
        self._hello = hello
        self._report_bug = report_bug
        self._limits = limits
        self._lock = Lock()
        self._work: deque[bytes | _Stream] = deque()
        self._streams: set[_Stream] = set()
        self._pending_count = 0
        self._running = False
        self._thread = Thread(target=self._run, name="preview events", daemon=True)

    def start(self) -> None:
        """Start the thread, so that streams can be added."""
        self._selector = selectors.DefaultSelector()
        self._wake_out, self._wake_in = socket.socketpair()
        for end in (self._wake_out, self._wake_in):
            end.setblocking(False)
        self._selector.register(self._wake_out, selectors.EVENT_READ)
        self._running = True
        self._thread.start()

    def close(self) -> None:
        """End all streams and the thread."""
        with self._lock:
            if not self._running:
                return
            self._running = False
            self._wake()
        if self._thread.is_alive():  # Ctrl-C may come before the thread starts
            self._thread.join()

    def publish(self, event: Mapping[str, object]) -> None:
        """Send an event to all streams without blocking. Raise TypeError or ValueError if it cannot be
        encoded as JSON."""
        data = frame(event)
        with self._lock:
            if self._running:
                self._enqueue(data)

    def add(self, connection: socket.socket, head: bytes) -> bool:
        """Become the owner of a connection, and send `head` first. Return False if there are too many; the
        connection then stays with the caller."""
        with self._lock:
            if not self._running or self._pending_count + len(self._streams) >= self._limits.streams:
                return False
            self._pending_count += 1
            connection.setblocking(False)
            self._enqueue(_Stream(connection, bytearray(head + _RETRY)))
            return True

    def clients(self) -> int:
        """Return the number of streams."""
        return len(self._streams)

    def _enqueue(self, work: bytes | _Stream) -> None:
        self._work.append(work)
        if len(self._work) == 1:
            self._wake()

    def _wake(self) -> None:
        with suppress(BlockingIOError):  # the pipe is full, so the thread will wake up anyway
            self._wake_in.send(b"!")

    def _run(self) -> None:
        ping_at = monotonic() + self._limits.ping_s
        while self._running:
            for key, events in self._selector.select(max(0.0, ping_at - monotonic())):
                if key.data is None:
                    self._wake_out.recv(4096)
                else:
                    self._handle_ready(key.data, events)
            self._do_work()
            if monotonic() >= ping_at:
                self._send_all(_PING)
                ping_at = monotonic() + self._limits.ping_s
        self._end()

    def _do_work(self) -> None:
        with self._lock:
            work = list(self._work)
            self._work.clear()
        for item in work:
            if isinstance(item, _Stream):
                self._register_stream(item)
            else:
                self._send_all(item)

    def _register_stream(self, stream: _Stream) -> None:
        with self._lock:
            self._streams.add(stream)
            self._pending_count -= 1
        try:
            self._selector.register(stream.connection, selectors.EVENT_READ, stream)
            self._send(stream, frame(self._hello()))
        except Exception as error:
            self._report_bug(error)
            self._drop(stream)

    def _send_all(self, data: bytes) -> None:
        for stream in list(self._streams):
            self._send(stream, data)

    def _send(self, stream: _Stream, data: bytes) -> None:
        # checked before `data` is added, so that an event larger than the limit reaches a client that reads
        if len(stream.unsent) > self._limits.unread:
            self._drop(stream)
            return
        stream.unsent += data
        self._flush(stream)

    def _flush(self, stream: _Stream) -> None:
        try:
            sent = stream.connection.send(stream.unsent)
        except BlockingIOError:
            sent = 0
        except OSError:
            self._drop(stream)
            return
        del stream.unsent[:sent]
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if stream.unsent else 0)
        if self._selector.get_key(stream.connection).events != wanted:
            self._selector.modify(stream.connection, wanted, stream)

    def _handle_ready(self, stream: _Stream, events: int) -> None:
        """Handle a client that can receive data, has sent data (which is ignored), or has disconnected."""
        if events & selectors.EVENT_READ:
            try:
                heard = stream.connection.recv(65536)
            except BlockingIOError:
                heard = b"?"
            except OSError:
                heard = b""
            if not heard:
                self._drop(stream)
                return
        if events & selectors.EVENT_WRITE:
            self._flush(stream)

    def _drop(self, stream: _Stream) -> None:
        if stream not in self._streams:
            return
        with suppress(KeyError):  # it was not registered yet
            self._selector.unregister(stream.connection)
        stream.connection.close()
        # free the unsent data, which may be large, although a list that is being iterated may contain the
        # record
        stream.unsent = bytearray()
        self._streams.discard(stream)

    def _end(self) -> None:
        for item in self._work:
            if isinstance(item, _Stream):
                item.connection.close()
        for stream in list(self._streams):
            self._drop(stream)
        self._selector.close()
        self._wake_out.close()
        self._wake_in.close()
