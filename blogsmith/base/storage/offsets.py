"""Reading and writing at an offset of an open file: its position is shared by all processes that have it."""

from __future__ import annotations

import os
import sys
from typing import BinaryIO

if sys.platform == "win32":

    def read_at(file: BinaryIO, start: int, size: int) -> bytes:
        """`size` bytes from `start`; fewer where the file ends. OSError if it cannot be read."""
        # no process is copied there, so nobody else moves the place
        file.seek(start)
        return file.read(size)

    def write_at(file: BinaryIO, start: int, data: bytes) -> None:
        """Write all of `data` from `start` on. OSError if there is no room."""
        file.seek(start)
        file.write(data)
        file.flush()

else:

    def read_at(file: BinaryIO, start: int, size: int) -> bytes:
        """`size` bytes from `start`; fewer where the file ends. OSError if it cannot be read."""
        return os.pread(file.fileno(), size, start)

    def write_at(file: BinaryIO, start: int, data: bytes) -> None:
        """Write all of `data` from `start` on. OSError if there is no room."""
        written = 0
        while written < len(data):
            written += os.pwrite(file.fileno(), data[written:], start + written)
