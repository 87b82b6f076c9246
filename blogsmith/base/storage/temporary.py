"""Temporary files without a name, which vanish when closed, and folders for the duration of one task."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast


def nameless_file() -> BinaryIO:
    """Return a new file for writing and reading, for this process and its forks. The caller closes it."""
    # on Windows a wrapper, which has all methods of a file
    return cast("BinaryIO", tempfile.TemporaryFile())


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a new folder that only this user can access; remove it with its contents at the end."""
    # not the prefix of working folders, which runs of code remove when nobody holds their lock
    with tempfile.TemporaryDirectory(prefix="blogsmith.") as folder:
        yield Path(folder)
