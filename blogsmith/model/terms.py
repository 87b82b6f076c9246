"""Choice of the spelling of a tag or category that pages print, if posts spell it in different ways."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from .slugs import slugify


def choose_spellings(terms: Iterable[str], *, marks: bool = False) -> dict[str, str]:
    """Map the slug of each term to its most frequent spelling; among equally frequent ones, to the first in
    alphabetical order. marks: combining marks are part of a word, as in `slugify`."""
    counts = Counter(terms)
    ordered = sorted(counts, key=lambda term: (-counts[term], term))
    return {slug: term for term in reversed(ordered) if (slug := slugify(term, marks=marks))}
