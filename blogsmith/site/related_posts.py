"""Posts that have most in common, by their terms, without comparing each with each.

The posts that have a term are one large integer with a bit for each post. The scores of all posts are added
up bit by bit: `planes[n]` holds bit n of each score. That is still each with each, but a million pairs take
some ten thousand operations on words of the machine.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

_COMMON = 256
"""Terms of one post in so many are kept as integers; of the others there may be as many as posts."""


_Weighted = tuple[tuple[str, str], int]
"""A term, by its kind and its address, and what it weighs."""


class TermOverlap:
    """Which posts have which terms. Posts are numbers from 0, in order of preference among equals."""

    def __init__(self, terms: Sequence[Mapping[tuple[str, str], int]]) -> None:
        """terms: of each post, with what it weighs that another one has it too."""
        self._terms = terms
        self._posts: dict[_Weighted, list[int]] = {}
        for number, weights in enumerate(terms):
            for term in weights.items():
                self._posts.setdefault(term, []).append(number)
        self._masks = {
            term: _mask(posts, len(terms))
            for term, posts in self._posts.items()
            if len(posts) * _COMMON > len(terms)
        }

    def nearest(self, post: int, left_out: Iterable[int], count: int) -> list[int]:
        """At most `count` posts that share a term with `post`, the highest sum of weights first."""
        planes: list[int] = []
        for term in self._terms[post].items():
            for place in range(term[1].bit_length()):
                if term[1] >> place & 1:
                    _add(planes, self._mask(term), place)
        excluded = _mask({post, *left_out}, len(self._terms))
        return _highest([plane & ~excluded for plane in planes], count)

    def _mask(self, term: _Weighted) -> int:
        return self._masks.get(term) or _mask(self._posts[term], len(self._terms))


def _mask(numbers: Collection[int], size: int) -> int:
    """An integer with these bits set. size: more than each of them."""
    octets = bytearray(size // 8 + 1)
    for number in numbers:
        octets[number >> 3] |= 1 << (number & 7)
    return int.from_bytes(octets, "little")


def _add(planes: list[int], mask: int, place: int) -> None:
    """Add 2**place to the scores of all posts in `mask`."""
    while mask:
        planes.extend([0] * (place + 1 - len(planes)))
        planes[place], mask = planes[place] ^ mask, planes[place] & mask
        place += 1


def _highest(planes: Sequence[int], count: int) -> list[int]:
    """At most `count` posts with a score, from the highest on, and among equals the first."""
    found: list[int] = []
    scored = 0
    for plane in planes:
        scored |= plane
    while scored and len(found) < count:
        best = scored
        for plane in reversed(planes):
            best = best & plane or best
        scored ^= best
        while best and len(found) < count:
            lowest = best & -best
            found.append(lowest.bit_length() - 1)
            best ^= lowest
    return found
