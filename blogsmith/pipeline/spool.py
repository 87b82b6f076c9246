"""What waits for its turn, in a file without a name: together it would fill the memory."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from typing import BinaryIO

from msgspec.structs import replace

from ..base.storage.offsets import read_at, write_at
from ..base.storage.temporary import nameless_file
from ..model.documents import Output
from ..model.texts import ReadText

_ENCODING = ("utf-8", "surrogatepass")


class Spool:
    """Belongs to one build. Processes that are forked from it may read."""

    def __init__(self, file: BinaryIO) -> None:
        """file: to read and write; nobody else writes there."""
        self._file = file
        self._end = 0

    def append(self, data: bytes) -> Callable[[], bytes] | None:
        """What gives these bytes again; None if there is no room on the disk."""
        start = self._end
        try:
            write_at(self._file, start, data)
        except OSError:
            return None
        self._end += len(data)
        return partial(self._read, start, len(data))

    def put_output(self, output: Output) -> Output:
        """The same file without its bytes in memory; as it is if there is no room on the disk."""
        data = output.data
        if data is None:
            return output
        digest = output.digest or sha256(data).hexdigest()
        make = self.append(data)
        return replace(output, data=None if make else data, make=make, digest=digest)

    def put_text(self, text: str) -> ReadText:
        """What reads this text again; it is not kept in memory, if there is room on the disk."""
        make = self.append(text.encode(*_ENCODING))
        return (lambda: make().decode(*_ENCODING)) if make else lambda: text

    def _read(self, start: int, size: int) -> bytes:
        data = read_at(self._file, start, size)
        if len(data) != size:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return data


def without_bytes(output: Output) -> Output:
    """The file where nothing is written."""
    return output if output.data is None else replace(output, data=b"")


@contextmanager
def open_spool() -> Iterator[Spool]:
    """A spool that is gone at the end, with all that is in it."""
    with nameless_file() as file:
        yield Spool(file)
