"""Temporary files without a name, which vanish when closed, and temporary folders that last for one task."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast


def nameless_file() -> BinaryIO:
    """Return a new file for writing and reading, for this process and its forks. The caller closes it."""
    # on Windows it is a wrapper with all methods of a file
    return cast("BinaryIO", tempfile.TemporaryFile())


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a new folder that only this user can access; remove it with its contents at the end."""
    # not the prefix of working folders: a run of code removes those that no process has locked
    with tempfile.TemporaryDirectory(prefix="blogsmith.") as folder:
        yield Path(folder)
