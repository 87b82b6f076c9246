"""One connection with a thread of its own, from its first request to its last.

A deadline applies to a whole header, so a client that sends slowly does not block the thread. The thread that
accepts connections inspects their states, and may disconnect a client without a request in progress.

One thread owns the streams of Server-Sent Events to every tab. Their sockets do not block. Data that a client
has not read waits in memory, up to a limit. A client that exceeds it is disconnected, and reconnects by
itself.
"""

from __future__ import annotations

import json
import selectors
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock, Thread
from time import monotonic

from .reply import FilePart, HttpResponse, RequestRejectedError, encode_header, plain_reply
from .request import MAX_BODY, MAX_HEAD, MAX_TARGET, ClientLimits, Request, parse_head

_RETRY = b"retry: 300\n\n"
"""Field of the stream that sets the delay, in milliseconds, after which a browser reconnects."""
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
        """Create a hub without streams. hello: function that returns the first event of a stream. It runs in
        the hub's thread and must not block. Code that changes its result must do so before it publishes the
        event about the change, so that no stream misses it."""
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
        """Add a connection as a stream, and send `head` first. Return False if there are too many streams;
        the caller then still owns the connection."""
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
        """Handle a client that can receive data, has sent data, or has disconnected. Data from the client is
        ignored."""
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


_PIECE = 1024 * 1024
_LINGER_S = 0.5


class _DisconnectedError(Exception):
    """The client has disconnected, or sends no more requests."""


class Connection:
    """Sequence of requests and responses on one socket."""

    def __init__(
        self,
        connection: socket.socket,
        answer: Callable[[Request, bytes], HttpResponse],
        hub: EventHub,
        limits: ClientLimits,
    ) -> None:
        self._connection = connection
        self._answer = answer
        self._hub = hub
        self._limits = limits
        self._read = b""
        self.is_awaiting_request = True
        """Whether the thread waits for a request, or for the rest of a request."""
        self.is_idle = False
        """Whether the thread waits for a further request and no byte of that request has arrived."""
        self.is_sending = False
        self.is_evicted = False
        self.since_s = time.monotonic()
        """Time of `time.monotonic` when the thread began to wait for a request, or when the client last
        accepted data."""

    @property
    def socket(self) -> socket.socket:
        """The server's end of the connection."""
        return self._connection

    def evict(self) -> None:
        """End the connection unless a complete request has arrived. Other threads may call this."""
        self.is_evicted = True
        # data that the client has already sent is still read
        _shut(self._connection, socket.SHUT_RDWR if self.is_sending else socket.SHUT_RD)

    def abort(self) -> None:
        """End the connection in any state. Other threads may call this."""
        # not close(): the thread may be reading, and the system could use the file descriptor for another
        # file
        _shut(self._connection, socket.SHUT_RDWR)

    def serve(self) -> bool:
        """Answer requests until the client sends no more. Return True if the hub now owns the socket, False
        if the caller must close it."""
        try:
            while True:
                try:
                    request = self._request()
                except RequestRejectedError as refused:
                    self._reject(refused.reply)
                    return False
                body, is_read = self._body(request)
                self.is_awaiting_request = False
                reply = self._answer(request, body)
                if reply.stream and request.method == "GET":
                    return self._hand_over(reply)
                keep_alive = request.keep_alive and is_read and not reply.stream and not self.is_evicted
                self._send(reply, request.method == "HEAD", keep_alive)
                if not keep_alive:
                    if not is_read:
                        self._linger()
                    return False
                self._await_request()
        except (_DisconnectedError, OSError):  # a browser may disconnect at any time
            return False

    def _await_request(self) -> None:
        self.since_s = time.monotonic()
        self.is_idle = not self._read
        self.is_awaiting_request = True

    def _request(self) -> Request:
        """Return the next request. Raises `_DisconnectedError` if the client sends none, and
        `RequestRejectedError` if the request is invalid."""
        if not self._read:
            self._receive(time.monotonic() + self._limits.idle_s)
        if self.is_idle:
            self.since_s, self.is_idle = time.monotonic(), False
        until = time.monotonic() + self._limits.head_s
        while (end := self._read.find(b"\r\n\r\n")) < 0:
            self._check_beginning()
            try:
                self._receive(until)
            except TimeoutError:
                raise RequestRejectedError(408, "The request timed out.") from None
        if end > MAX_HEAD:
            raise RequestRejectedError(431, "The headers are too long.")
        head, self._read = self._read[:end], self._read[end + 4 :]
        return parse_head(head)

    def _check_beginning(self) -> None:
        """Raise `RequestRejectedError` as soon as the data received so far cannot begin a valid request."""
        # a browser that tries https here would wait for an answer that never comes
        if not b"A" <= self._read[:1] <= b"Z":
            raise RequestRejectedError(400, "This is not an HTTP request.")
        if b"\r\n" not in self._read and len(self._read) > MAX_TARGET + 100:
            raise RequestRejectedError(400, "The URL is too long.")
        if len(self._read) > MAX_HEAD:
            raise RequestRejectedError(431, "The headers are too long.")

    def _body(self, request: Request) -> tuple[bytes, bool]:
        """Return the body, and whether it was read. Only the body of a `POST` request is read, and only if it
        has at most `MAX_BODY` bytes."""
        length = request.length or 0
        if length == 0:
            return b"", True
        if request.method != "POST" or length > MAX_BODY:
            return b"", False
        until = time.monotonic() + self._limits.head_s
        while len(self._read) < length:
            self._receive(until)
        body, self._read = self._read[:length], self._read[length:]
        return body, True

    def _receive(self, until: float) -> None:
        """Receive more data. Raises TimeoutError if none has arrived at the time `until`, and
        `_DisconnectedError` if the client has closed the connection."""
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        piece = self._connection.recv(65536)
        if not piece:
            raise _DisconnectedError
        self._read += piece

    def _reject(self, reply: HttpResponse) -> None:
        self.is_awaiting_request = False
        self._send(reply, head_only=False, keep_alive=False)
        self._linger()

    def _hand_over(self, reply: HttpResponse) -> bool:
        if self._hub.add(self._connection, encode_header(reply, keep_alive=False)):
            return True
        self._send(plain_reply(503, "Too many open tabs."), head_only=False, keep_alive=False)
        return False

    def _send(self, reply: HttpResponse, head_only: bool, keep_alive: bool) -> None:
        head = encode_header(reply, keep_alive=keep_alive)
        if reply.part is not None:
            with reply.part.file:
                self._write(head, () if head_only else _read_chunks(reply.part))
        else:
            body = b"" if head_only else reply.body
            self._write(head, (body[at : at + _PIECE] for at in range(0, len(body), _PIECE)))

    def _write(self, head: bytes, pieces: Iterator[bytes] | tuple[()]) -> None:
        """Send the header and the first piece of the body together, so that a page is one packet instead of
        two."""
        self.since_s, self.is_sending = time.monotonic(), True
        waiting = head
        for piece in pieces:
            self._write_all(waiting + piece)
            waiting = b""
        self._write_all(waiting)
        self.is_sending = False

    def _write_all(self, data: bytes) -> None:
        """Send all data, as `sendall` of a socket does. Record each time when the client accepts some of
        it."""
        until_s = time.monotonic() + self._limits.send_s
        left = memoryview(data)
        while left:
            self._connection.settimeout(max(until_s - time.monotonic(), 0.001))
            left = left[self._connection.send(left) :]
            self.since_s = time.monotonic()

    def _linger(self) -> None:
        """Read the remaining data, because closing a socket with unread bytes discards the answer that was
        just sent."""
        self._connection.shutdown(socket.SHUT_WR)
        until = time.monotonic() + _LINGER_S
        with suppress(TimeoutError):
            while True:
                self._read = b""
                self._receive(until)


def _shut(connection: socket.socket, how: int) -> None:
    with suppress(OSError):  # the client closed it first
        connection.shutdown(how)


def _read_chunks(part: FilePart) -> Iterator[bytes]:
    """Yield the bytes of a part of a file. Raise OSError if the file has become shorter than announced."""
    part.file.seek(part.start)
    left = part.length
    while left:
        piece = part.file.read(min(left, _PIECE))
        if not piece:
            raise OSError("the file has become shorter")
        left -= len(piece)
        yield piece
