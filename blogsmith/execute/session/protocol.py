"""What a worker says, in the order in which it said it: frames of its socket, text of its two pipes.

A frame is four bytes of length, big end first, and that much JSON. A frame with text says under `below` how
many bytes waited in each pipe when it was sent: so many stand before it, whatever has come since behind it.
Before any other frame the pipes are emptied. Before it starts a program the worker sends `sync` and waits, so
what it printed stands before what the program prints.
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
"""One message of the worker; JSON comes in here and leaves as records."""

_LENGTH = struct.Struct(">I")
_MAX_FRAME = 256 * 1024 * 1024
_READ = 256 * 1024
# Emptying a pipe ends here even if somebody fills it faster than we read.
_MAX_DRAIN = 1024 * 1024
_SEND_S = 10.0


@dataclass(frozen=True, slots=True)
class Printed:
    """Text written to descriptor 1 or 2 itself."""

    name: Name
    text: str
    """Bytes that are no UTF-8 are replaced."""


@dataclass(frozen=True, slots=True)
class Closed:
    """The worker's end of the socket is gone; nothing more will come."""

    problem: str = ""
    """Why its last message cannot be read, in words."""


class Wire:
    """The builder's end of everything that leads to one worker."""

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
        """That have come through the pipes."""

    def send(self, frame: Mapping[str, object]) -> None:
        """Send one frame. A worker that is gone is no error here: `wait` will say so."""
        data = json.dumps(dict(frame)).encode("ascii")
        with contextlib.suppress(OSError):
            self._control.sendall(_LENGTH.pack(len(data)) + data)

    def send_descriptor(self, descriptor: int) -> None:
        """Pass a descriptor, behind a frame that says so."""
        with contextlib.suppress(OSError):
            socket.send_fds(self._control, [b"\0"], [descriptor])

    def wait(self, timeout_s: float) -> list[Printed | Closed | Frame]:
        """What has come, in order; waits for something at most so long."""
        return self._read_all(self._ready(timeout_s))

    def read_rest(self) -> list[Printed | Closed | Frame]:
        """Everything a dead worker has left behind."""
        events: list[Printed | Closed | Frame] = []
        while ready := self._ready(0):
            events += self._read_all(ready)
        return events

    def _ready(self, timeout_s: float) -> set[int]:
        return {descriptor for descriptor, _ in self._poll.poll(max(0.0, timeout_s) * 1000)}

    def _read_all(self, ready: set[int]) -> list[Printed | Closed | Frame]:
        # frames first: they say what stands before them
        if not self.closed and self._control.fileno() in ready:
            return self._frames()
        return self._text({descriptor: _MAX_DRAIN for descriptor in ready})

    def _frames(self) -> list[Printed | Closed | Frame]:
        try:
            data = self._control.recv(_READ)
        except OSError:
            data = b""
        self._received += data
        events: list[Printed | Closed | Frame] = []
        try:
            for frame in self._complete_frames():
                events += [*self._text(self._bytes_before(frame)), frame]
        except (ValueError, TypeError):
            return [*events, *self._close("it sent something blogsmith cannot read")]
        return events if data else [*events, *self._close("")]

    def _bytes_before(self, frame: Frame) -> dict[int, int]:
        """How many bytes of each pipe stand before a frame, as far as they have not been read."""
        below = frame.get("below")
        if below is None:
            return dict.fromkeys(self._pipes, _MAX_DRAIN)
        return {descriptor: int(size) for descriptor, size in zip(self._numbers, below, strict=True) if size}

    def _close(self, problem: str) -> list[Printed | Closed | Frame]:
        self._poll.unregister(self._control)
        self.closed = True
        return [Closed(problem)]

    def _complete_frames(self) -> Iterator[Frame]:
        """The frames that have come whole; ValueError at one that is none."""
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

    def _text(self, sizes: Mapping[int, int]) -> list[Printed | Closed | Frame]:
        """What stands in pipes, of each no more than so many bytes."""
        events: list[Printed | Closed | Frame] = []
        for descriptor, size in sizes.items():
            if descriptor not in self._pipes:
                continue
            name, decoder = self._pipes[descriptor]
            data = self._read(descriptor, size)
            if text := decoder.decode(data, final=descriptor not in self._pipes):
                events.append(Printed(name, text))
        return events

    def _read(self, descriptor: int, size: int) -> bytes:
        pieces: list[bytes] = []
        while size > 0:
            try:
                piece = os.read(descriptor, min(size, _READ))
            except BlockingIOError:
                break
            if not piece:
                # every writer is gone: left in the poll, it would be ready for ever
                del self._pipes[descriptor]
                self._poll.unregister(descriptor)
                break
            pieces.append(piece)
            self.piped_bytes += len(piece)
            size -= len(piece)
        return b"".join(pieces)
