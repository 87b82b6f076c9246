"""Files without a name, which are gone when nobody has them open, and folders for the time of one task."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast


def nameless_file() -> BinaryIO:
    """A new file to write and read, for this process and those forked from it; the caller closes it."""
    # a wrapper on Windows, which has all methods of a file
    return cast("BinaryIO", tempfile.TemporaryFile())


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A new folder for this user alone, removed with all that is in it at the end."""
    # not the prefix of working folders, which runs of code remove when nobody holds their lock
    with tempfile.TemporaryDirectory(prefix="blogsmith.") as folder:
        yield Path(folder)
