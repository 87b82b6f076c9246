"""HTML of formulas and code, each under a key of all its inputs, to reuse most of it after an edit.

The cache stores the positions of these fragments in the HTML of a page, a few bytes each. When the page is
rendered again with the same program and settings, a fragment with the same key is not typeset or highlighted
again.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from struct import Struct

from ..model.texts import EncodedText

_KEY_BYTES = 16
_PLACE = Struct(f">{_KEY_BYTES}sII")
"""Binary format: key, start and end of a fragment in the HTML, in bytes."""
_ENCODING = ("utf-8", "surrogatepass")


def fragment_key(*inputs: object) -> bytes:
    """Return a digest of the inputs of a fragment, except for settings, theme and program. inputs: strings,
    numbers, and records of them whose `repr` is unambiguous."""
    return blake2b(repr(inputs).encode(), digest_size=_KEY_BYTES).digest()


def pack_fragments(fragments: Mapping[bytes, str], text: bytes) -> bytes:
    """Return the positions of fragments in the HTML, encoded. Fragments that do not occur verbatim are left
    out."""
    places, after = list[bytes](), 0
    for key, html in fragments.items():
        data = html.encode(*_ENCODING)
        # searched from the last position, because fragments are usually in the order of the text
        start = text.find(data, after)
        if start < 0:
            start = text.find(data, 0, after)
        if start >= 0:
            after = start + len(data)
            places.append(_PLACE.pack(key, start, after))
    return b"".join(places)


def unpack_fragments(text: EncodedText) -> Mapping[bytes, str]:
    """Return key → HTML of the fragments in the cached text of a page."""
    return {
        key: text.data[start:end].decode(*_ENCODING) for key, start, end in _PLACE.iter_unpack(text.fragments)
    }
