"""Rendered text of pages, read when needed.

A site has thousands of pages, and few are read at the same time. Usually only the digest of a text is in
memory; the text is compressed or on disk.
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

DESCRIPTION_LENGTH = 160
"""Maximum length of a generated description, in characters."""
_LEVEL = 1
"""Compression level of zlib. It makes a page four to ten times smaller in a third of a millisecond."""
_DIGEST_BYTES = 16
_HEAD = struct.Struct(">III")
"""Header of a compressed text: length of its outline and of its fragments in bytes, and its features as an
integer."""
_ENCODING = ("utf-8", "surrogatepass")


class EncodedText(Struct, frozen=True):
    """A text in UTF-8. Lone surrogates are encoded like other characters."""

    data: bytes
    outline: bytes = b""
    """The tags that the Content-Security-Policy of the page depends on, as `body_outline` returns them;
    empty: use all of `data`."""
    features: frozenset[str] | None = None
    """Result of `text_features`; None if not computed yet."""
    fragments: bytes = b""
    """Positions of formulas and code that can be reused, as `pack_fragments` returns them."""


class PageParts(Struct, frozen=True):
    """A page as its template prints it, split into the parts before, in and after the body."""

    before: bytes
    body: EncodedText = EncodedText(b"")
    """The body of the page. Empty if the template does not print the body exactly once and unchanged; the
    body is then part of `before`."""
    after: bytes = b""


class PageText:
    """A text that is loaded when it is read. It equals another PageText if the digests are equal."""

    __slots__ = ("_encode", "_is_open", "_text", "digest")

    def __init__(self, digest: bytes, encode: Callable[[], EncodedText], text: str | None = None) -> None:
        """Create a text. digest: BLAKE2b of the text in UTF-8, 16 bytes. encode: function that returns the
        text in UTF-8. text: the text, if it is already in memory."""
        self.digest = digest
        self._encode = encode
        self._text = text
        self._is_open = False

    @classmethod
    def from_string(
        cls,
        text: str,
        outline: Callable[[bytes], bytes] = lambda data: b"",
        data: bytes | None = None,
        fragments: Callable[[bytes], bytes] = lambda data: b"",
    ) -> PageText:
        """Return a text that stays in memory uncompressed. outline, fragments: functions that compute the
        fields of `EncodedText` when needed. data: the text in UTF-8, if available."""

        def encode() -> EncodedText:
            encoded = text.encode(*_ENCODING) if data is None else data
            return EncodedText(encoded, outline(encoded), None, fragments(encoded))

        return cls(_digest(text.encode(*_ENCODING) if data is None else data), encode, text)

    def read(self) -> str:
        """Return the text."""
        if self._text is not None:
            return self._text
        text = self._encode().data.decode(*_ENCODING)
        if self._is_open:
            self._text = text
        return text

    def get_loaded(self) -> str | None:
        """Return the text if it is in memory; otherwise None."""
        return self._text

    def encode(self) -> EncodedText:
        """Return the text in UTF-8."""
        return self._encode()

    def open(self) -> PageText:
        """Return a copy that keeps the decoded text, for several reads."""
        encoded = self._encode()
        if encoded.features is None:
            encoded = replace(encoded, features=text_features(encoded.data))
        opened = PageText(self.digest, lambda: encoded, self._text)
        opened._is_open = True
        return opened

    def features(self) -> frozenset[str]:
        """Return the features of the text that layouts load resources for (see `text_features`)."""
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
    """Descriptor of a dataclass field that is set to a string, or to a function that returns it when it is
    read."""

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
    """Make a field of a dataclass a `TextField`. Call it right after the definition of the class."""
    setattr(kind, name, TextField(name))


class TextTrace:
    """Recorder of the pages whose text is read while a file is created. The file depends on these pages."""

    def __init__(self) -> None:
        self._paths: set[str] | None = None

    def record(self, path: str) -> None:
        """Record that the text of a page is read. path: path of its source."""
        if self._paths is not None:
            self._paths.add(path)

    @contextmanager
    def watch(self) -> Iterator[set[str]]:
        """Yield the set of source paths of pages whose text is read during the context."""
        paths = self._paths = set[str]()
        try:
            yield paths
        finally:
            self._paths = None


def compress_text(text: PageText) -> bytes:
    """Return the text in compressed form, for the cache."""
    encoded = text.encode()
    features = text_features(encoded.data) if encoded.features is None else encoded.features
    head = _HEAD.pack(len(encoded.outline), len(encoded.fragments), pack_features(features))
    return zlib.compress(head + encoded.outline + encoded.fragments + encoded.data, _LEVEL)


def decompress_text(packed: bytes) -> EncodedText:
    """Return the text that `compress_text` compressed."""
    data = zlib.decompress(packed)
    outline, fragments, features = _HEAD.unpack_from(data)
    at = _HEAD.size + outline
    end = at + fragments
    return EncodedText(data[end:], data[_HEAD.size : at], unpack_features(features), data[at:end])


def lazy_text(digest: bytes, packed: Callable[[], bytes]) -> PageText:
    """Return the text with this digest, decompressed when it is read. packed: function that returns the
    result of `compress_text`."""
    return PageText(digest, lambda: decompress_text(packed()))


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()


_EMPTY = _digest(b"")
NO_TEXT = PageText.from_string("")


# Features in the HTML of a text, such as formulas, for which layouts load stylesheets and scripts. They are
# found once, and stored with the text.


_CLASS = lazy_pattern(
    rb'class="(diagram|by-|(?:math-(?:display|lines|long)|publications|ref-links|table-wrap|xref)(?=[" ]))'
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
"""Feature → string in the HTML of pages that have the feature. Prose never contains it, unlike the mere word
"embedding"."""
_LIST = b'<ol class="by-'

FEATURES = (
    *_MARKS,
    *("diagram", "diagram-scroll", "grouped-works", "math-display", "math-lines", "math-long"),
    *("publications", "ref-links", "table-wrap", "xref"),
)
"""All features: names of elements, CSS classes and roles in the HTML, and `grouped-works`, a list of works
under headings."""


def text_features(html: bytes) -> frozenset[str]:
    """Return the members of `FEATURES` that the HTML contains. html: encoded in UTF-8."""
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
    """Return names from `FEATURES` as an integer with one bit per feature."""
    return sum(1 << FEATURES.index(name) for name in features)


def unpack_features(number: int) -> frozenset[str]:
    """Return the names of features that `pack_features` encoded as `number`."""
    return frozenset(name for at, name in enumerate(FEATURES) if number >> at & 1)
