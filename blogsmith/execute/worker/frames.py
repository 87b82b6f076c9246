"""Messages between worker and builder on one socket: a length of four bytes, big-endian, followed by JSON of
that length.

The socket's descriptor must survive what cells do with descriptors. It is moved to a high number and hidden
from Python code: closing it fails as for any unused number. A child process that the author's code forks has
no socket.
"""

from __future__ import annotations

import fcntl
import os
from _thread import RLock
from json.decoder import JSONDecoder
from json.encoder import JSONEncoder
from os import _exit, write
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from .limits import Interrupts

_MIN_DESCRIPTORS = (1000, 200, 3)


class Channel:
    """Worker's end of the socket."""

    def __init__(self, descriptor: int, interrupts: Interrupts) -> None:
        self._interrupts = interrupts
        self._descriptor = _move_descriptor(descriptor)
        self._lock = RLock()
        self._encode = JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
        self._decode = JSONDecoder().decode
        self.sent_bytes = 0
        """Bytes sent by this process."""
        self._guard()
        os.register_at_fork(after_in_child=self.close)

    @property
    def is_closed(self) -> bool:
        """Whether this process is a forked child without a connection to the builder."""
        return self._descriptor < 0

    def close(self) -> None:
        """Close the connection for this process only."""
        # A lock that another thread held at the fork would never be released.
        self._lock = RLock()
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            self._close(descriptor)

    def reopen(self, descriptor: int) -> None:
        """Use another socket, in a forked process that becomes a worker itself."""
        self._descriptor = _move_descriptor(descriptor)
        self.sent_bytes = 0

    def send(self, frame: dict[str, Any]) -> None:
        """Send one message. Do nothing in a forked child. Unpaired surrogates become U+FFFD."""
        if self.is_closed:
            return
        text = self._encode(frame)
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError:
            data = without_surrogates(text).encode("utf-8")
        self._interrupts.hold()
        try:
            with self._lock:
                self._write(len(data).to_bytes(4, "big") + data)
        finally:
            self._interrupts.release()

    def receive(self) -> dict[str, Any] | None:
        """Return the next message. None if the builder is gone."""
        head = self._read(4)
        body = head and self._read(int.from_bytes(head, "big"))
        message: dict[str, Any] | None = self._decode(body.decode("utf-8")) if body else None
        return message

    def receive_descriptors(self, count: int) -> list[int]:
        """Return `count` descriptors. The previous message must announce them."""
        return receive_passed(self._descriptor, 1, count)[1]

    def _write(self, data: bytes) -> None:
        self.sent_bytes += len(data)
        view = memoryview(data)
        try:
            while view:
                view = view[write(self._descriptor, view) :]
        except ConnectionError:
            _exit(1)  # the builder is gone, so the exit status does not matter

    def _read(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            try:
                piece = os.read(self._descriptor, count - len(data))
            except ConnectionError:
                return b""
            if not piece:
                return b""
            data += piece
        return data

    def _guard(self) -> None:
        """Replace `os.close` and `os.closerange` by versions that ignore our descriptor."""
        close, closerange = os.close, os.closerange

        def guarded_close(fd: int) -> None:
            close(-1 if fd == self._descriptor else fd)

        def guarded_closerange(fd_low: int, fd_high: int) -> None:
            ours = self._descriptor
            if fd_low <= ours < fd_high:
                closerange(fd_low, ours)
                fd_low = ours + 1
            closerange(fd_low, fd_high)

        self._close = close
        os.close, os.closerange = guarded_close, guarded_closerange


def receive_passed(descriptor: int, size: int, count: int) -> tuple[bytes, list[int]]:
    """Return `size` bytes and the descriptors sent with them. Both are empty if the other end is gone."""
    import _socket
    from struct import calcsize, unpack

    end = _socket.socket(fileno=descriptor)
    try:
        data, passed, _, _ = end.recvmsg(size, _socket.CMSG_SPACE(count * calcsize("i")))
    except ConnectionError:
        return b"", []
    finally:
        end.detach()
    numbers = passed[0][2] if passed else b""
    return data, list(unpack(f"{len(numbers) // calcsize('i')}i", numbers))


def without_surrogates(text: str) -> str:
    """Return text where surrogate pairs are joined and unpaired ones replaced by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _move_descriptor(descriptor: int) -> int:
    """Move the socket to an unlikely number, and return the number. Children do not inherit the socket."""
    for lowest in _MIN_DESCRIPTORS:
        try:
            moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, lowest)
        except (OSError, ValueError):  # it is above the limit of the system
            continue
        os.close(descriptor)
        return moved
    os.set_inheritable(descriptor, False)
    return descriptor
