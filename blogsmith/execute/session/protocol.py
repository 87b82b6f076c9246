"""Receives messages of a worker in their original order: frames from its socket, text from its two pipes.

A frame is a length of four bytes, big-endian, followed by JSON of that length. The field `below` of a frame
says how many bytes each pipe contained when the frame was sent. These bytes precede the frame; later bytes
follow it. If a frame lacks that field, all text in the pipes precedes it. Before the worker starts another
program, it sends `sync` and waits, so that its own output precedes that of the program.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import select
import socket
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .process import Process

Name = Literal["stdout", "stderr"]
Frame = Mapping[str, Any]
"""One message of the worker, decoded from JSON."""

_LENGTH = struct.Struct(">I")
_MAX_FRAME = 256 * 1024 * 1024
_READ = 256 * 1024
# Limit for emptying a pipe, in case a writer fills it faster than we read.
_MAX_DRAIN = 1024 * 1024
_SEND_S = 10.0


@dataclass(frozen=True, slots=True)
class PipeText:
    """Text written directly to descriptor 1 or 2."""

    name: Name
    text: str
    """Decoded text, with invalid UTF-8 replaced."""


@dataclass(frozen=True, slots=True)
class SocketClosed:
    """End of messages: the worker's end of the socket is closed."""

    problem: str = ""
    """Reason why its last message cannot be read, as a message; empty if there is none."""


class WorkerConnection:
    """Builder's end of the socket and pipes of one worker."""

    def __init__(self, process: Process) -> None:
        self._control = process.control
        self._control.settimeout(_SEND_S)
        decoder = codecs.getincrementaldecoder("utf-8")
        self._pipes: dict[int, tuple[Name, codecs.IncrementalDecoder]] = {
            process.out: ("stdout", decoder("replace")),
            process.err: ("stderr", decoder("replace")),
        }
        self._numbers = (process.out, process.err)
        self._poll = select.poll()
        self._poll.register(self._control, select.POLLIN)
        for descriptor in self._pipes:
            os.set_blocking(descriptor, False)
            self._poll.register(descriptor, select.POLLIN)
        self._received = bytearray()
        self.closed = False
        self.piped_bytes = 0
        """Number of bytes received through the pipes."""

    def send(self, frame: Mapping[str, object]) -> None:
        """Send one frame. Do not raise an error if the worker is gone; `wait` reports that."""
        data = json.dumps(dict(frame)).encode("ascii")
        with contextlib.suppress(OSError):
            self._control.sendall(_LENGTH.pack(len(data)) + data)

    def send_descriptor(self, descriptor: int) -> None:
        """Pass a file descriptor to the worker. The previous frame must announce it."""
        with contextlib.suppress(OSError):
            socket.send_fds(self._control, [b"\0"], [descriptor])

    def wait(self, timeout_s: float) -> list[PipeText | SocketClosed | Frame]:
        """Return new messages in order. Wait for the first one for at most `timeout_s` seconds."""
        return self._read_all(self._ready(timeout_s))

    def read_rest(self) -> list[PipeText | SocketClosed | Frame]:
        """Return all remaining messages of a dead worker."""
        events: list[PipeText | SocketClosed | Frame] = []
        while ready := self._ready(0):
            events += self._read_all(ready)
        return events

    def _ready(self, timeout_s: float) -> set[int]:
        return {descriptor for descriptor, _ in self._poll.poll(max(0.0, timeout_s) * 1000)}

    def _read_all(self, ready: set[int]) -> list[PipeText | SocketClosed | Frame]:
        # Frames first: they say how much text comes before them.
        if not self.closed and self._control.fileno() in ready:
            return self._frames()
        return self._text({descriptor: _MAX_DRAIN for descriptor in ready})

    def _frames(self) -> list[PipeText | SocketClosed | Frame]:
        try:
            data = self._control.recv(_READ)
        except OSError:
            data = b""
        self._received += data
        events: list[PipeText | SocketClosed | Frame] = []
        try:
            for frame in self._complete_frames():
                events += [*self._text(self._bytes_before(frame)), frame]
        except (ValueError, TypeError, RecursionError):
            return [*events, *self._close("it sent data that blogsmith cannot read")]
        return events if data else [*events, *self._close("")]

    def _bytes_before(self, frame: Frame) -> dict[int, int]:
        """Return how many unread bytes of each pipe come before a frame."""
        below = frame.get("below")
        if below is None:
            return dict.fromkeys(self._pipes, _MAX_DRAIN)
        return {descriptor: int(size) for descriptor, size in zip(self._numbers, below, strict=True) if size}

    def _close(self, problem: str) -> list[PipeText | SocketClosed | Frame]:
        self._poll.unregister(self._control)
        self.closed = True
        return [SocketClosed(problem)]

    def _complete_frames(self) -> Iterator[Frame]:
        """Yield complete frames. Raises `ValueError` for an invalid one."""
        while len(self._received) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._received)
            if length > _MAX_FRAME:
                raise ValueError(length)
            end = _LENGTH.size + length
            if len(self._received) < end:
                return
            frame = json.loads(self._received[_LENGTH.size : end])
            if not isinstance(frame, dict):
                raise ValueError(frame)
            del self._received[:end]
            yield frame

    def _text(self, sizes: Mapping[int, int]) -> list[PipeText | SocketClosed | Frame]:
        """Return text from the pipes, at most the given number of bytes from each."""
        events: list[PipeText | SocketClosed | Frame] = []
        for descriptor, size in sizes.items():
            if descriptor not in self._pipes:
                continue
            name, decoder = self._pipes[descriptor]
            data = self._read(descriptor, size)
            if text := decoder.decode(data, final=descriptor not in self._pipes):
                events.append(PipeText(name, text))
        return events

    def _read(self, descriptor: int, size: int) -> bytes:
        pieces: list[bytes] = []
        while size > 0:
            try:
                piece = os.read(descriptor, min(size, _READ))
            except BlockingIOError:
                break
            if not piece:
                # All writers are gone. A poll would always report the pipe as ready.
                del self._pipes[descriptor]
                self._poll.unregister(descriptor)
                break
            pieces.append(piece)
            self.piped_bytes += len(piece)
            size -= len(piece)
        return b"".join(pieces)
