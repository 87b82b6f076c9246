"""HTML of formulas and code, stored under a key of all its inputs, so that most of it survives an edit.

The cache stores the positions of fragments in the HTML of a page, at a cost of a few bytes each. When the
page is rendered again with the same program and settings, fragments with the same key are reused instead of
typeset or highlighted again.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from struct import Struct

from ..model.texts import EncodedText

_KEY_BYTES = 16
_PLACE = Struct(f">{_KEY_BYTES}sII")
"""Key, start and end of a fragment in the HTML, in bytes."""
_ENCODING = ("utf-8", "surrogatepass")


def fragment_key(*inputs: object) -> bytes:
    """Return the key of a fragment: a digest of its inputs, other than settings, theme and program.

    inputs: Strings, numbers and records of them whose `repr` is unambiguous.
    """
    return blake2b(repr(inputs).encode(), digest_size=_KEY_BYTES).digest()


def pack_fragments(fragments: Mapping[bytes, str], text: bytes) -> bytes:
    """Return the packed positions of fragments in the HTML. Fragments not contained verbatim are omitted."""
    places, after = list[bytes](), 0
    for key, html in fragments.items():
        data = html.encode(*_ENCODING)
        # Fragments are usually in the order of the text.
        start = text.find(data, after)
        if start < 0:
            start = text.find(data, 0, after)
        if start >= 0:
            after = start + len(data)
            places.append(_PLACE.pack(key, start, after))
    return b"".join(places)


def unpack_fragments(text: EncodedText) -> Mapping[bytes, str]:
    """Return the HTML of each fragment in a cached text, by key."""
    return {
        key: text.data[start:end].decode(*_ENCODING) for key, start, end in _PLACE.iter_unpack(text.fragments)
    }
