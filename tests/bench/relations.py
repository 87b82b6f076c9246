"""`python -m tests.bench.relations`: how the time for related posts grows with a site.

Nothing is asserted: a time is meaningful only compared with another one. Tests check the results.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Mapping, Sequence
from math import log

from blogsmith.site.relations import RELATED, TermOverlap

SIZES = (1_000, 4_000, 16_000, 64_000)
TAGS = 400
"""Number of common tags. One post in ten also has a rare tag."""


def main(sizes: Sequence[int]) -> int:
    """Measure and print a table. An exponent of 1 is growth with the posts, 2 with their pairs."""
    print(f"{'posts':>8}{'seconds':>10}{'exponent':>10}")
    before: tuple[int, float] | None = None
    for size in sizes:
        seconds = measured(size)
        exponent = log(seconds / before[1]) / log(size / before[0]) if before else float("nan")
        print(f"{size:>8}{seconds:>10.3f}{exponent:>10.2f}", flush=True)
        before = size, seconds
    return 0


def measured(posts: int) -> float:
    """Return the CPU seconds for the related posts of a whole site."""
    terms = terms_of_posts(posts)
    started = time.process_time()
    overlap = TermOverlap(terms)
    for post in range(posts):
        overlap.nearest(post, (), RELATED)
    return time.process_time() - started


def terms_of_posts(posts: int) -> list[Mapping[tuple[str, str], int]]:
    """Return four tags of very different frequency and a category for each post; deterministic."""
    chance = random.Random(1)
    found: list[Mapping[tuple[str, str], int]] = []
    for number in range(posts):
        tags = {("tag", str(int(TAGS * chance.random() ** 3))): 1 for _ in range(4)}
        rare = {("tag", f"rare {number // 20}"): 1} if number % 10 == 0 else {}
        found.append({**tags, **rare, ("category", str(chance.randrange(8))): 2})
    return found


if __name__ == "__main__":
    sys.exit(main([int(size) for size in sys.argv[1:]] or SIZES))
