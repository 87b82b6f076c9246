"""Long texts of which mostly only the digest is at hand.

A site has thousands of pages, and few of their texts are read at a time: the others stay packed, or on disk.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from msgspec import Struct
from msgspec.structs import replace

from ..base.patterns import lazy_pattern

_LEVEL = 1
"""Of zlib: four to ten times smaller, in a third of a millisecond a page."""
_DIGEST_BYTES = 16
_HEAD = struct.Struct(">III")
"""Of a packed text: bytes of its outline, of its fragments, and its features."""
_ENCODING = ("utf-8", "surrogatepass")


class EncodedText(Struct, frozen=True):
    """A text in UTF-8, lone surrogates like other characters."""

    data: bytes
    outline: bytes = b""
    """What stands for it where its page is guarded; empty if nothing does."""
    features: frozenset[str] | None = None
    """As `text_features` finds them; None: nobody has looked for them."""
    fragments: bytes = b""
    """Where formulas and code stand in it that may be taken over, as `pack_fragments` gives it."""


class PageParts(Struct, frozen=True):
    """A page as its templates print it."""

    before: bytes
    body: EncodedText = EncodedText(b"")
    """Where it stands in the page once and as it is; else it is in `before`."""
    after: bytes = b""


class PageText:
    """A text that is read when it is asked for; equal to another one if the digests are."""

    __slots__ = ("_encode", "_is_open", "_text", "digest")

    def __init__(self, digest: bytes, encode: Callable[[], EncodedText], text: str | None = None) -> None:
        """digest: BLAKE2b of the text in UTF-8, 16 bytes. text: where it is at hand."""
        self.digest = digest
        self._encode = encode
        self._text = text
        self._is_open = False

    @classmethod
    def of(
        cls,
        text: str,
        outline: Callable[[bytes], bytes] = lambda data: b"",
        data: bytes | None = None,
        fragments: Callable[[bytes], bytes] = lambda data: b"",
    ) -> PageText:
        """A text that stays in memory as it is.

        outline, fragments: as in `EncodedText`, made when they are asked for. data: the text in UTF-8, where
        it is at hand.
        """

        def encode() -> EncodedText:
            encoded = text.encode(*_ENCODING) if data is None else data
            return EncodedText(encoded, outline(encoded), None, fragments(encoded))

        return cls(_digest(text.encode(*_ENCODING) if data is None else data), encode, text)

    def read(self) -> str:
        """The text."""
        if self._text is not None:
            return self._text
        text = self._encode().data.decode(*_ENCODING)
        if self._is_open:
            self._text = text
        return text

    def peek(self) -> str | None:
        """The text, where it is at hand."""
        return self._text

    def encode(self) -> EncodedText:
        """The text in UTF-8."""
        return self._encode()

    def open(self) -> PageText:
        """The same, to be read several times."""
        encoded = self._encode()
        if encoded.features is None:
            encoded = replace(encoded, features=text_features(encoded.data))
        opened = PageText(self.digest, lambda: encoded, self._text)
        opened._is_open = True
        return opened

    def features(self) -> frozenset[str]:
        """What stands in it that layouts load something for, see `text_features`."""
        if not self:
            return frozenset()
        encoded = self._encode()
        return text_features(encoded.data) if encoded.features is None else encoded.features

    def __bool__(self) -> bool:
        return self.digest != _EMPTY

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PageText) and other.digest == self.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"PageText({self.digest.hex()})"


ReadText = Callable[[], str]


class TextField:
    """A field of a dataclass that is a text, and may be given as what reads it when it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = f"_{name}"

    def __get__(self, record: object, kind: type | None = None) -> str:
        if record is None:
            raise AttributeError(self._name)
        text: str | ReadText = record.__dict__[self._name]
        return text if isinstance(text, str) else text()

    def __set__(self, record: object, text: str | ReadText) -> None:
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
    encoded = text.encode()
    features = text_features(encoded.data) if encoded.features is None else encoded.features
    head = _HEAD.pack(len(encoded.outline), len(encoded.fragments), pack_features(features))
    return zlib.compress(head + encoded.outline + encoded.fragments + encoded.data, _LEVEL)


def unpack_text(packed: bytes) -> EncodedText:
    """What `pack_text` was given."""
    data = zlib.decompress(packed)
    outline, fragments, features = _HEAD.unpack_from(data)
    at = _HEAD.size + outline
    end = at + fragments
    return EncodedText(data[end:], data[_HEAD.size : at], unpack_features(features), data[at:end])


def packed_text(digest: bytes, packed: Callable[[], bytes]) -> PageText:
    """The text with this digest. packed: gives what `pack_text` gave."""
    return PageText(digest, lambda: unpack_text(packed()))


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()


_EMPTY = _digest(b"")
NO_TEXT = PageText.of("")


# What stands in the HTML of a text that layouts load something for: found once, and kept with the text.


_CLASS = lazy_pattern(
    rb'class="(diagram|by-|(?:math-(?:display|lines|long)|publications|ref-links|table-wrap|xref)(?="))'
)
_MARKS = {
    "code-mark": b"code-mark",
    "compare": b"image-compare",
    "doc-biblioref": b"doc-biblioref",
    "doc-noteref": b"doc-noteref",
    "em": b"<em>",
    "embed": b"embed-link",
    "math": b"<math",
    "pre": b"<pre",
    "video": b"<video",
}
"""Feature → what stands for it anywhere in the HTML: no word of a text, such as "embedding" is."""
_LIST = b'<ol class="by-'

FEATURES = (
    *_MARKS,
    *("diagram", "diagram-scroll", "grouped-works", "math-display", "math-lines", "math-long"),
    *("publications", "ref-links", "table-wrap", "xref"),
)
"""Names of elements, of classes and of roles; `grouped-works`: a list of works under headings."""


def text_features(html: bytes) -> frozenset[str]:
    """Those of `FEATURES` that an HTML text has. In UTF-8."""
    if not html:
        return frozenset()
    found = {name for name, mark in _MARKS.items() if mark in html}
    classes = {name.decode() for name in _CLASS.findall(html)}
    if "by-" in classes and _LIST in html:
        found.add("grouped-works")
    if "diagram" in classes and b'class="diagram-scroll"' in html:
        found.add("diagram-scroll")
    return frozenset(found | (classes - {"by-"}))


def pack_features(features: Iterable[str]) -> int:
    """Features as a number."""
    return sum(1 << FEATURES.index(name) for name in features)


def unpack_features(number: int) -> frozenset[str]:
    """What `pack_features` was given."""
    return frozenset(name for at, name in enumerate(FEATURES) if number >> at & 1)
