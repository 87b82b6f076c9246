"""Messages between a process and one that it has started: each with its length before it."""

from __future__ import annotations

import struct
from typing import BinaryIO

_LENGTH = struct.Struct(">Q")


def write_frame(stream: BinaryIO, data: bytes) -> None:
    """Send a message; OSError if nobody is there to read it."""
    stream.write(_LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()


def read_frame(stream: BinaryIO) -> bytes | None:
    """The next message; None if there is none, or it is not whole."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (size,) = _LENGTH.unpack(head)
    data = stream.read(size)
    return data if len(data) == size else None
