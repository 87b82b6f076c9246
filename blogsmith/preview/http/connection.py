"""One connection with a thread of its own, from its first request to its last.

A deadline holds for a head as a whole, so that a byte now and then keeps no thread. The thread that accepts
looks at what is going on here, and may send a client away that has nothing going.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

from .hub import Hub
from .reply import FilePart, HttpReply, RequestRefused, head_of, plain
from .request import MAX_BODY, MAX_HEAD, MAX_TARGET, ClientLimits, Request, parse_head

_PIECE = 1024 * 1024
_LINGER_S = 0.5


class _Gone(Exception):
    """The client has hung up, or has nothing more to ask."""


class Connection:
    """The conversation on one socket."""

    def __init__(
        self,
        connection: socket.socket,
        answer: Callable[[Request, bytes], HttpReply],
        hub: Hub,
        limits: ClientLimits,
    ) -> None:
        self._connection = connection
        self._answer = answer
        self._hub = hub
        self._limits = limits
        self._read = b""
        self.is_asking = True
        """Whether a request is still to come, or the rest of one."""
        self.is_idle = False
        """Whether it is one after an answer, and nothing of it has come yet."""
        self.is_sending = False
        self.is_evicted = False
        self.since_s = time.monotonic()
        """Since when it is asking, or when the client took a piece of the answer last."""

    @property
    def socket(self) -> socket.socket:
        """The client's end is the other one."""
        return self._connection

    def evict(self) -> None:
        """Have it end, unless a whole request has come by now; any thread may call this."""
        self.is_evicted = True
        # what the client has sent already is still read
        _shut(self._connection, socket.SHUT_RDWR if self.is_sending else socket.SHUT_RD)

    def hang_up(self) -> None:
        """Have it end whatever goes on; any thread may call this."""
        # not close(): the thread may be reading, and the number could be given to another file
        _shut(self._connection, socket.SHUT_RDWR)

    def serve(self) -> bool:
        """Answer until the client has enough. True: the hub has the socket now; False: it is to be closed."""
        try:
            while True:
                try:
                    request = self._request()
                except RequestRefused as refused:
                    self._refuse(refused.reply)
                    return False
                body, is_read = self._body(request)
                self.is_asking = False
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
        except (_Gone, OSError):  # a browser that hangs up in the middle is no error
            return False

    def _await_request(self) -> None:
        """Wait for the next request from now on."""
        self.since_s = time.monotonic()
        self.is_idle = not self._read
        self.is_asking = True

    def _request(self) -> Request:
        """The next request; `_Gone` if none comes, `RequestRefused` if it is none."""
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
                raise RequestRefused(408, "The request takes too long.") from None
        if end > MAX_HEAD:
            raise RequestRefused(431, "The headers are too long.")
        head, self._read = self._read[:end], self._read[end + 4 :]
        return parse_head(head)

    def _check_beginning(self) -> None:
        """`RequestRefused` as soon as it is sure that no request comes of it."""
        # a browser that tries https here waits for an answer that it would never get
        if not b"A" <= self._read[:1] <= b"Z":
            raise RequestRefused(400, "This is no HTTP request.")
        if b"\r\n" not in self._read and len(self._read) > MAX_TARGET + 100:
            raise RequestRefused(400, "The address is too long.")
        if len(self._read) > MAX_HEAD:
            raise RequestRefused(431, "The headers are too long.")

    def _body(self, request: Request) -> tuple[bytes, bool]:
        """The body, and whether all of it is read; what no request may have is left alone."""
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
        """Read on; TimeoutError at `until`, `_Gone` at the end."""
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        piece = self._connection.recv(65536)
        if not piece:
            raise _Gone
        self._read += piece

    def _refuse(self, reply: HttpReply) -> None:
        self.is_asking = False
        self._send(reply, head_only=False, keep_alive=False)
        self._linger()

    def _hand_over(self, reply: HttpReply) -> bool:
        if self._hub.add(self._connection, head_of(reply, keep_alive=False)):
            return True
        self._send(plain(503, "Too many tabs."), head_only=False, keep_alive=False)
        return False

    def _send(self, reply: HttpReply, head_only: bool, keep_alive: bool) -> None:
        head = head_of(reply, keep_alive=keep_alive)
        if reply.part is not None:
            with reply.part.file:
                self._write(head, () if head_only else _pieces(reply.part))
        else:
            body = b"" if head_only else reply.body
            self._write(head, (body[at : at + _PIECE] for at in range(0, len(body), _PIECE)))

    def _write(self, head: bytes, pieces: Iterator[bytes] | tuple[()]) -> None:
        """Head and first piece at once: a page is one packet on its way, not two."""
        self.since_s, self.is_sending = time.monotonic(), True
        waiting = head
        for piece in pieces:
            self._write_all(waiting + piece)
            waiting = b""
        self._write_all(waiting)
        self.is_sending = False

    def _write_all(self, data: bytes) -> None:
        """As `sendall`, noting when the client took something last."""
        until_s = time.monotonic() + self._limits.send_s
        left = memoryview(data)
        while left:
            self._connection.settimeout(max(until_s - time.monotonic(), 0.001))
            left = left[self._connection.send(left) :]
            self.since_s = time.monotonic()

    def _linger(self) -> None:
        """Read what still comes: a socket closed with unread bytes takes back the answer it has just sent."""
        self._connection.shutdown(socket.SHUT_WR)
        until = time.monotonic() + _LINGER_S
        with suppress(TimeoutError):
            while True:
                self._read = b""
                self._receive(until)


def _shut(connection: socket.socket, how: int) -> None:
    with suppress(OSError):  # the client was faster
        connection.shutdown(how)


def _pieces(part: FilePart) -> Iterator[bytes]:
    """The bytes of a piece of a file; OSError if the file has become shorter than the client was told."""
    part.file.seek(part.start)
    left = part.length
    while left:
        piece = part.file.read(min(left, _PIECE))
        if not piece:
            raise OSError("the file has become shorter")
        left -= len(piece)
        yield piece
