"""Finished files that wait for the others, in a file without a name: together they would fill the memory."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from typing import BinaryIO

from msgspec.structs import replace

from ..model.documents import Output
from ..storage.temporary import nameless_file


class OutputSpool:
    """Belongs to one build."""

    def __init__(self, file: BinaryIO) -> None:
        """file: to read and write, empty; nobody else writes there."""
        self._file = file
        self._end = 0

    def put(self, output: Output) -> Output:
        """The same file without its bytes in memory; as it is if there is no room on the disk."""
        data = output.data
        if data is None:
            return output
        digest = output.digest or sha256(data).hexdigest()
        try:
            self._file.seek(self._end)
            self._file.write(data)
        except OSError:
            return replace(output, digest=digest)
        make = partial(self._read, self._end, len(data))
        self._end += len(data)
        return replace(output, data=None, make=make, digest=digest)

    def _read(self, start: int, size: int) -> bytes:
        self._file.seek(start)
        data = self._file.read(size)
        if len(data) != size:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return data


def without_bytes(output: Output) -> Output:
    """The file where nothing is written."""
    return output if output.data is None else replace(output, data=b"")


@contextmanager
def open_spool() -> Iterator[OutputSpool]:
    """A spool that is gone at the end, with all that is in it."""
    with nameless_file() as file:
        yield OutputSpool(file)
