"""Reading and writing at an offset of an open file: its position is shared by all processes that have it."""

from __future__ import annotations

import os
from typing import BinaryIO


def read_at(file: BinaryIO, start: int, size: int) -> bytes:
    """`size` bytes from `start`; fewer where the file ends. OSError if it cannot be read."""
    if hasattr(os, "pread"):
        return os.pread(file.fileno(), size, start)
    # Windows: no process is copied there, so nobody else moves the place
    file.seek(start)
    return file.read(size)


def write_at(file: BinaryIO, start: int, data: bytes) -> None:
    """Write all of `data` from `start` on. OSError if there is no room."""
    if not hasattr(os, "pwrite"):
        file.seek(start)
        file.write(data)
        file.flush()
        return
    written = 0
    while written < len(data):
        written += os.pwrite(file.fileno(), data[written:], start + written)
