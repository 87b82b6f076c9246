"""Choice of the spelling of a tag or category to print, if posts spell it differently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from .slugs import slugify


def choose_spellings(terms: Iterable[str]) -> dict[str, str]:
    """Map each slug to its most frequent spelling. Among equally frequent ones, use the first in alphabetical
    order."""
    counts = Counter(terms)
    ordered = sorted(counts, key=lambda term: (-counts[term], term))
    return {slugify(term): term for term in reversed(ordered) if slugify(term)}
