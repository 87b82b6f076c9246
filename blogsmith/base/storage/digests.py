"""Digests and their comparison as every start needs them, without OpenSSL; and digests of files.

To import `hashlib` or `hmac` loads OpenSSL, a tenth of the time of a build in which nothing has changed.
Python's own `random` takes its digest this way, too.
"""

from __future__ import annotations

# `typing` would be imported for its name alone
TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

try:
    from _blake2 import blake2b
    from _operator import _compare_digest as compare_digest
except ImportError:  # of a Python that is put together another way
    from hashlib import blake2b
    from hmac import compare_digest  # type: ignore[no-redef]

__all__ = ("blake2b", "compare_digest", "file_digest")


def file_digest(file: Path) -> str:
    """SHA-256 of a file in hex; empty if it cannot be read."""
    import hashlib  # loads OpenSSL: only what needs this digest pays for it

    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return ""
