"""Files without a name, which are gone when nobody has them open."""

from __future__ import annotations

import tempfile
from typing import BinaryIO


def nameless_file() -> BinaryIO:
    """A new file to write and read, for this process and those forked from it; whoever asks closes it."""
    return tempfile.TemporaryFile()
