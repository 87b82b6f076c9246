"""Whether what is kept in a site's folder was written by this user: a clone brings whatever a stranger likes.

What is kept carries a MAC. Its key is made once, at random, and lies beside the record of trust, where no
site can bring or read it. So what others wrote, or wrote for another site, is known as such. The key proves
nothing to anybody else and protects no secret: a process that can read it can do all that this user can.

Read at each start, so it imports next to nothing.
"""

from __future__ import annotations

import os
from contextlib import suppress

from ...base.storage.digests import blake2b, compare_digest
from ...base.storage.folder import open_folder
from .place import state_folder

_KEY = "preview.key"
_KEY_BYTES = 32


class Sealer:
    """Makes and checks seals for one purpose."""

    __slots__ = ("key", "purpose")

    def __init__(self, key: bytes, purpose: str) -> None:
        self.key = key
        self.purpose = purpose
        """Seals of one purpose are worth nothing for another one."""

    def seal(self, *fields: bytes) -> bytes:
        """The MAC of these fields, each as it is and where it stands."""
        total = blake2b(key=self.key, digest_size=32)
        for field in (self.purpose.encode("utf-8", "surrogateescape"), *fields):
            # else an end of one field could pass for the beginning of the next
            total.update(len(field).to_bytes(8))
            total.update(field)
        return total.digest()

    def holds(self, seal: object, *fields: bytes) -> bool:
        """Whether this user sealed just these fields."""
        return isinstance(seal, bytes) and compare_digest(seal, self.seal(*fields))


def read_sealer(purpose: str) -> Sealer | None:
    """With this user's key; None if there is none yet."""
    with suppress(OSError), open_folder(state_folder()) as folder:
        key = folder.read(_KEY, _KEY_BYTES + 1)
        return Sealer(key, purpose) if len(key) == _KEY_BYTES else None
    return None


def make_sealer(purpose: str) -> Sealer:
    """The same; the key is made if there is none. OSError if it cannot be written."""
    known = read_sealer(purpose)
    if known is not None:
        return known
    with open_folder(state_folder(), make=True) as folder:
        folder.replace(_KEY, os.urandom(_KEY_BYTES), mode=0o600)
    made = read_sealer(purpose)
    if made is None:
        raise OSError("the key cannot be read back")
    return made
