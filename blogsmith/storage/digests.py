"""Digests and their comparison as every start needs them, without OpenSSL.

To import `hashlib` or `hmac` loads OpenSSL, a tenth of the time of a build in which nothing has changed.
Python's own `random` takes its digest this way, too.
"""

from __future__ import annotations

try:
    from _blake2 import blake2b
    from _operator import _compare_digest as compare_digest
except ImportError:  # of a Python that is put together another way
    from hashlib import blake2b
    from hmac import compare_digest  # type: ignore[no-redef]

__all__ = ("blake2b", "compare_digest")
