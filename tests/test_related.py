"""Related posts: the sums by bits equal sums by counting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.site.relations import TermOverlap
from tests.bench.relations import terms_of_posts
from tests.rows import examples

Terms = Mapping[tuple[str, str], int]
NAMES = [("tag", name) for name in "abcde"] + [("category", name) for name in "abc"]
SITES = st.lists(
    st.sets(st.sampled_from(NAMES)).map(lambda names: {name: 1 + (name[0] == "category") for name in names}),
    min_size=1,
    max_size=25,
)


def counted(terms: Sequence[Terms], post: int, left_out: set[int], count: int) -> list[int]:
    """Compute in a simple way: each term of each other post."""
    scores: Counter[int] = Counter()
    for number, others in enumerate(terms):
        if number != post and number not in left_out:
            scores[number] = sum(weight for term, weight in others.items() if term in terms[post])
    ranked = sorted((number for number in scores if scores[number]), key=lambda n: (-scores[n], n))
    return ranked[:count]


@given(SITES, st.sets(st.integers(0, 24)), st.integers(0, 5))
@examples(300)
def test_sums_are_those_of_counting(terms: Sequence[Terms], left_out: set[int], count: int) -> None:
    left_out = {number for number in left_out if number < len(terms)}
    overlap = TermOverlap(terms)
    for post in range(len(terms)):
        assert overlap.nearest(post, left_out, count) == counted(terms, post, left_out, count)


@pytest.mark.parametrize("weight", [1, 2, 3, 8])
def test_any_weight(weight: int) -> None:
    terms: list[Terms] = [{("t", "a"): 1, ("t", "b"): weight}, {("t", "a"): 1}, {("t", "b"): weight}] * 2
    for post in range(6):
        assert TermOverlap(terms).nearest(post, (), 6) == counted(terms, post, set(), 6)


def test_rare_terms_among_many_posts() -> None:
    """Terms that are too rare to be stored as integers count like the others."""
    terms = terms_of_posts(1200)
    overlap = TermOverlap(terms)
    for post in range(0, 1200, 97):
        assert overlap.nearest(post, {post + 1}, 3) == counted(terms, post, {post + 1}, 3)
