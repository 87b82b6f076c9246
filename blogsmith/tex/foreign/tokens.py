"""Letters, numbers, signs and text of foreign MathML, with the faces that MathML Core has no attribute for.

`mathvariant` is in Core for `normal` only. Letters in another face are characters of their own, as in our
formulas; text in one is HTML, for letters of formulas are no words to search engines and screen readers.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from html import escape
from types import MappingProxyType

from ...base.patterns import lazy_pattern
from ..mathml.alphabets import Face, letters
from .unusable import UnusableMathml

_FACES: Mapping[str, Face] = MappingProxyType(
    {
        "bold": "bf",
        "italic": "it",
        "bold-italic": "bi",
        "double-struck": "bb",
        "script": "cal",
        "bold-script": "bcal",
        "fraktur": "frak",
        "bold-fraktur": "bfrak",
        "sans-serif": "sf",
        "bold-sans-serif": "bsf",
        "sans-serif-italic": "sfit",
        "sans-serif-bold-italic": "bsfit",
        "monospace": "tt",
    }
)
_SLANTED = frozenset({"it", "bi", "sfit", "bsfit"})
_TEXT_ELEMENTS: Mapping[str, str] = MappingProxyType({"bold": "b", "italic": "i", "monospace": "code"})
_COMMAND = lazy_pattern(r"\\(?:[A-Za-z]+|[^\sA-Za-z])")
"""TeX that was not understood, and printed as it is; a backslash alone is a sign."""


def write_token(name: str, attributes: str, text: str, variant: str) -> str:
    """A token element. variant: its `mathvariant`, or empty. UnusableMathml if it cannot be shown."""
    if raw := _COMMAND.search(text):
        raise UnusableMathml(f"it prints {raw[0][:40]} as text")
    shown = escape(text, quote=False)
    if variant in ("", "normal"):
        # a letter alone would be slanted; of others it says nothing
        upright = ' mathvariant="normal"' if variant and name == "mi" and len(text) == 1 else ""
        return f"<{name}{upright}{attributes}>{shown}</{name}>"
    if name == "mtext":
        html = _TEXT_ELEMENTS.get(variant)
        if html is None:
            raise _no_face(variant)
        return f"<mtext{attributes}><{html}>{shown}</{html}></mtext>"
    face = _FACES.get(variant)
    if face is None:
        raise _no_face(variant)
    shown = "".join(_letters(face).get(sign, sign) for sign in shown)
    is_plain = name == "mi" and shown == text and len(text) == 1 and face not in _SLANTED
    upright = ' mathvariant="normal"' if is_plain else ""
    return f"<{name}{upright}{attributes}>{shown}</{name}>"


@lru_cache(maxsize=32)
def _letters(face: Face) -> Mapping[str, str]:
    return MappingProxyType(letters(face))


def _no_face(variant: str) -> UnusableMathml:
    return UnusableMathml(f'MathML Core has no mathvariant="{variant[:40]}"')
