"""Digests of files."""

from __future__ import annotations

import hashlib
from pathlib import Path


def file_digest(file: Path) -> str:
    """SHA-256 of a file in hex; empty if it cannot be read."""
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return ""
