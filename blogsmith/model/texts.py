"""Long texts of which mostly only the digest is at hand.

A site has thousands of pages, and few of their texts are read at a time: the others stay packed, or on disk.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_LEVEL = 1
"""Of zlib: four to ten times smaller, in a third of a millisecond a page."""
_DIGEST_BYTES = 16
_MOST_BYTES = 256 << 20
"""Of one text; what inflates to more is not ours."""
_ENCODING = ("utf-8", "surrogatepass")


class PageText:
    """A text that is read when it is asked for; equal to another one if the digests are."""

    __slots__ = ("_read", "digest")

    def __init__(self, digest: bytes, read: Callable[[], str]) -> None:
        """digest: BLAKE2b of the text in UTF-8, 16 bytes. read: what gives that text."""
        self.digest = digest
        self._read = read

    @classmethod
    def of(cls, text: str) -> PageText:
        """A text that stays in memory as it is."""
        return cls(_digest(text.encode(*_ENCODING)), lambda: text)

    def read(self) -> str:
        """The text."""
        return self._read()

    def open(self) -> PageText:
        """The same, to be read several times."""
        text = self._read()
        return PageText(self.digest, lambda: text)

    def __reduce__(self) -> tuple[Callable[[str], PageText], tuple[str]]:
        return PageText.of, (self._read(),)

    def __bool__(self) -> bool:
        return self.digest != _EMPTY

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PageText) and other.digest == self.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"PageText({self.digest.hex()})"


class TextField:
    """A field of a dataclass that is a text, and may be given as one that is read when it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = f"_{name}"

    def __get__(self, record: object, kind: type | None = None) -> str:
        if record is None:
            raise AttributeError(self._name)
        text: str | PageText = record.__dict__[self._name]
        return text if isinstance(text, str) else text.read()

    def __set__(self, record: object, text: str | PageText) -> None:
        record.__dict__[self._name] = text


def read_on_demand(kind: type, name: str) -> None:
    """Make a field of a dataclass a `TextField`; to be called right after its definition."""
    setattr(kind, name, TextField(name))


class TextTrace:
    """Whose texts are read while a file is made: what it depends on is seen, not declared."""

    def __init__(self) -> None:
        self._paths: set[str] | None = None

    def note(self, path: str) -> None:
        """The text of this page is read. path: of its source."""
        if self._paths is not None:
            self._paths.add(path)

    @contextmanager
    def watch(self) -> Iterator[set[str]]:
        """The source paths of pages whose texts are read from now on to the end of the context."""
        paths = self._paths = set[str]()
        try:
            yield paths
        finally:
            self._paths = None


def pack_text(text: PageText) -> bytes:
    """The text as few bytes."""
    return zlib.compress(text.read().encode(*_ENCODING), _LEVEL)


def unpack_text(packed: bytes, digest: bytes) -> str | None:
    """The text with this digest, of what `pack_text` gave for it; None if these bytes hold another one."""
    try:
        data = zlib.decompressobj().decompress(packed, _MOST_BYTES)
    except zlib.error:
        return None
    return data.decode(*_ENCODING) if _digest(data) == digest else None


def packed_text(digest: bytes, packed: Callable[[], bytes]) -> PageText:
    """The text with this digest. packed: gives what `pack_text` gave."""
    return PageText(digest, lambda: zlib.decompress(packed()).decode(*_ENCODING))


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()


_EMPTY = _digest(b"")
NO_TEXT = PageText.of("")
