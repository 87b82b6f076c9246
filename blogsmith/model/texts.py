"""Long texts of which mostly only the digest is at hand.

A site has thousands of pages, and few of their texts are read at a time: the others stay packed, or on disk.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable

_LEVEL = 1
"""Of zlib: four to ten times smaller, in a third of a millisecond a page."""
_DIGEST_BYTES = 16
_ENCODING = ("utf-8", "surrogatepass")


class PageText:
    """A text that is read when it is asked for; equal to another one if the digests are."""

    __slots__ = ("_encode", "_read", "digest")

    def __init__(
        self, digest: bytes, read: Callable[[], str], encode: Callable[[], bytes] | None = None
    ) -> None:
        """digest: BLAKE2b of the text in UTF-8, 16 bytes. read: what gives that text; encode: what UTF-8."""
        self.digest = digest
        self._read = read
        self._encode = encode

    @classmethod
    def of(cls, text: str) -> PageText:
        """A text that stays in memory as it is."""
        return cls(_digest(text.encode(*_ENCODING)), lambda: text)

    def read(self) -> str:
        """The text."""
        return self._read()

    def encode(self) -> bytes:
        """The text in UTF-8, lone surrogates like other characters."""
        return self._encode() if self._encode else self._read().encode(*_ENCODING)

    def open(self) -> PageText:
        """The same, to be read several times."""
        data = self.encode()
        text = data.decode(*_ENCODING) if self._encode else self._read()
        return PageText(self.digest, lambda: text, lambda: data)

    def __bool__(self) -> bool:
        return self.digest != _EMPTY

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PageText) and other.digest == self.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"PageText({self.digest.hex()})"


def pack_text(text: PageText) -> bytes:
    """The text as few bytes."""
    return zlib.compress(text.encode(), _LEVEL)


def packed_text(digest: bytes, packed: Callable[[], bytes]) -> PageText:
    """The text with this digest. packed: gives what `pack_text` gave."""

    def encode() -> bytes:
        return zlib.decompress(packed())

    return PageText(digest, lambda: encode().decode(*_ENCODING), encode)


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()


_EMPTY = _digest(b"")
NO_TEXT = PageText.of("")
