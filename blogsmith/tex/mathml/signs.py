"""Characters that formulas print, read from finished HTML. The math font needs no other characters."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from html import unescape
from types import MappingProxyType

from ...base.patterns import lazy_pattern

_SIGN = lazy_pattern(r"[^\ufe00-\ufe0f][\ufe00-\ufe0f]?", re.DOTALL)
_SLANTED = MappingProxyType(
    {
        chr(plain): chr(italic)
        for plain, italic in (
            *((0x41 + n, 0x1D434 + n) for n in range(26)),
            *((0x61 + n, 0x1D44E + n) for n in range(26) if n != 7),
            *((0x391 + n, 0x1D6E2 + n) for n in range(25) if n != 17),
            *((0x3B1 + n, 0x1D6FC + n) for n in range(25)),
            *zip(map(ord, "hıȷ∇∂ϴϵϑϰϕϱϖ"), map(ord, "ℎ𝚤𝚥𝛻𝜕𝛳𝜖𝜗𝜘𝜙𝜚𝜛"), strict=True),
        )
    }
)
"""Single letter in an `<mi>` → the slanted letter that browsers draw for it."""
_INVISIBLE = "\u00a0\u2061\u2062\u2063\u2064"


def find_formula_characters(texts: Iterable[str]) -> frozenset[str]:
    """Return the characters that the formulas in these HTML strings print."""
    found: set[str] = set()
    for html in texts:
        formulas = "<".join(part.partition("</math>")[0] for part in html.split("<math")[1:])
        # many formulas have few different tags with the text after them
        for piece in set(formulas.split("<")):
            found.update(_characters_after_tag(piece))
    return frozenset(sign for sign in found if sign.isprintable() or sign in _INVISIBLE)


def join_characters(signs: Iterable[str]) -> str:
    """Return characters as one sorted string, which needs much less memory for thousands of pages."""
    return "".join(sorted(signs))


def split_characters(text: str) -> frozenset[str]:
    """Return the characters that `join_characters` joined."""
    return frozenset(_SIGN.findall(text))


@lru_cache(4096)
def _characters_after_tag(piece: str) -> Iterable[str]:
    """Return the characters that a fragment of HTML prints. The fragment is a tag without its `<`, followed
    by text."""
    tag, _, text = piece.partition(">")
    if len(text) == 1 and tag.startswith("mi") and "mathvariant" not in tag:
        return (_SLANTED.get(text, text),)
    return _SIGN.findall(unescape(text)) if text else ()
