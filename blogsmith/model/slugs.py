"""Slugs: the form a title takes in an address or an id."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from ..base.patterns import lazy_pattern

_SEPARATORS = lazy_pattern(r"[^\w]+|_+")


@lru_cache(maxsize=4096)  # a term stands on many pages
def slugify(text: str) -> str:
    """Lower-case words joined by hyphens; letters of every script are kept, accents too.

    `Why Scale by sqrt(d_k)?` → `why-scale-by-sqrt-d-k`. Empty if `text` has no letter or digit.
    """
    if text.isascii():
        folded = text.lower()
    else:
        folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    return _SEPARATORS.sub("-", folded).strip("-")


def github_slug(text: str) -> str:
    """The id that GitHub gives a heading: `A & B` → `a--b`, `Markov's` → `markovs`.

    Source: github-slugger 2.0. Letters, marks, digits, hyphens and underscores are kept, each blank becomes a
    hyphen. Empty if nothing is left.
    """
    return "".join("-" if char == " " else char for char in text.lower() if _is_kept(char))


def _is_kept(char: str) -> bool:
    category = unicodedata.category(char)
    return char in " -" or category[0] in "LM" or category in ("Nd", "Nl", "Pc")


def unique(
    wanted: str, taken: set[str], counts: dict[str, int], fallback: str = "section", first: int = 2
) -> str:
    """`wanted`, or `wanted-2`, `wanted-3`, … if taken; remembers the answer in `taken`.

    counts: the number to try next for each name; `taken` only grows, so none below it is free.
    first: the number of the second of a name.
    """
    base = wanted or fallback
    name, count = base, counts.get(base, first)
    while name in taken:
        name, count = f"{base}-{count}", count + 1
    taken.add(name)
    counts[base] = count
    return name
