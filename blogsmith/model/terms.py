"""Which spelling of a tag or category is printed, where posts spell it in different ways."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from .slugs import slugify


def choose_spellings(terms: Iterable[str]) -> dict[str, str]:
    """Map each slug to its most frequent spelling; among equally frequent ones to the first by letter."""
    counts = Counter(terms)
    ordered = sorted(counts, key=lambda term: (-counts[term], term))
    return {slugify(term): term for term in reversed(ordered) if slugify(term)}
