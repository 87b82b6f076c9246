"""Formulas and code of a page as HTML, each under a name of all it is made from: most outlast an edit.

With the text of a page it is kept where in it they stand, at no cost but a few bytes each. Whoever makes the
page again, by the same program under the same settings, takes from there what has the same name, and neither
typesets nor colours it.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from struct import Struct

from ..model.texts import EncodedText

_KEY_BYTES = 16
_PLACE = Struct(f">{_KEY_BYTES}sII")
"""Key, where the fragment begins in the text, and where it ends, in bytes."""
_ENCODING = ("utf-8", "surrogatepass")


def fragment_key(*inputs: object) -> bytes:
    """Names a fragment by all that its HTML depends on, beside settings, theme and program.

    inputs: texts, numbers and records of them, whose `repr` tells each from any other one.
    """
    return blake2b(repr(inputs).encode(), digest_size=_KEY_BYTES).digest()


def pack_fragments(fragments: Mapping[bytes, str], text: bytes) -> bytes:
    """Where fragments stand in a text; those that do not stand in it as they are, are left out."""
    places, after = list[bytes](), 0
    for key, html in fragments.items():
        data = html.encode(*_ENCODING)
        # as a rule they come in the order of the text
        start = text.find(data, after)
        if start < 0:
            start = text.find(data, 0, after)
        if start >= 0:
            after = start + len(data)
            places.append(_PLACE.pack(key, start, after))
    return b"".join(places)


def unpack_fragments(text: EncodedText) -> Mapping[bytes, str]:
    """Key → HTML, as it stands in a text that was kept."""
    return {
        key: text.data[start:end].decode(*_ENCODING) for key, start, end in _PLACE.iter_unpack(text.fragments)
    }
