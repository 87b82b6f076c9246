"""Bytes that are dear to make, kept in the site's `.blogsmith/` from one build to the next.

A name says everything its bytes depend on, so what is kept never grows stale; what is damaged is made again.
Nothing depends on it: without the folder, or without the right to write there, a build only takes longer.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

MOST = 8
"""Files of one kind; the oldest go first."""


def kept(folder: Path, name: str, make: Callable[[], bytes]) -> bytes:
    """What `make` gives, from `folder` if it lies there under `name`.

    Two builds at once are safe: each file appears whole.
    """
    file = folder / name
    found = _read(file)
    if found is not None:
        return found
    data = make()
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        _write(file, hashlib.sha256(data).digest() + data)
        for old in _by_age(folder)[MOST:]:
            old.unlink(missing_ok=True)
    return data


def _read(file: Path) -> bytes | None:
    """The bytes behind their own SHA-256; None if there are none or they do not agree with it."""
    try:
        stored = file.read_bytes()
    except OSError:
        return None
    digest, data = stored[:32], stored[32:]
    return data if hashlib.sha256(data).digest() == digest else None


def _write(file: Path, stored: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=file.parent, prefix=".new-", delete=False) as new:
        path = Path(new.name)
        try:
            new.write(stored)
        except OSError:
            path.unlink(missing_ok=True)
            raise
    path.replace(file)


def _by_age(folder: Path) -> list[Path]:
    """The youngest first; with files that a build which was stopped left behind."""
    return sorted(folder.iterdir(), key=lambda file: (-file.stat().st_mtime_ns, file.name))
