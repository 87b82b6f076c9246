"""The benchmark measures what it says: every formula of every post, in a site that builds."""

from __future__ import annotations

from .build import measure
from .generators import blogsmith
from .posts import FORMULAS, post


def test_every_formula_is_counted() -> None:
    measured = measure(blogsmith(), posts=2, runs=1)
    assert measured.formulas == 2 * FORMULAS
    assert measured.seconds > 0 < measured.peak_bytes


def test_posts_differ_and_repeat() -> None:
    assert post(1) == post(1) != post(2)
