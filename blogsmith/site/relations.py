"""Pages that have to do with each other: neighbours, series, what links here, what shares terms."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from ..model.template_views import Link, PageView, SeriesPart, UsedStatement
from .frame import OLDEST, Rendered

RELATED = 3
"""Related posts a page names, at most."""

CATEGORY_WEIGHT = 2
"""A shared category says more than a shared tag."""


@dataclass(slots=True)
class Relations:
    """The pages that a view names, with the fields of `PageView`.

    Collected step by step, since a step asks what those before it found, and given to the view at once:
    a copy of a view costs more than what is looked up for it.
    """

    section: Link | None = None
    previous: Link | None = None
    next: Link | None = None
    series_name: str = ""
    series_url: str = ""
    series: tuple[SeriesPart, ...] = ()
    backlinks: tuple[Link, ...] = ()
    used_in: tuple[UsedStatement, ...] = ()
    related: tuple[Link, ...] = ()

    def apply_to(self, view: PageView) -> PageView:
        """The view of a page with its relations."""
        return replace(
            view,
            section=self.section,
            previous=self.previous,
            next=self.next,
            series_name=self.series_name,
            series_url=self.series_url,
            series=self.series,
            backlinks=self.backlinks,
            used_in=self.used_in,
            related=self.related,
        )

    def names(self) -> set[str]:
        """Addresses of the neighbours and of the parts of the series."""
        neighbours = {link.url for link in (self.previous, self.next) if link}
        return neighbours | {part.url for part in self.series}


def add_relations(
    rendered: Sequence[Rendered], views: Mapping[str, PageView], around: Mapping[str, Relations]
) -> None:
    """Find `backlinks` and `related` of every post and page; their neighbours must be known already."""
    posts = sorted(
        (views[item.url] for item in rendered if item.kind == "post"),
        key=lambda post: (-(post.date or OLDEST).timestamp(), post.url),
    )
    numbers = {post.url: number for number, post in enumerate(posts)}
    overlap = TermOverlap([_terms(post) for post in posts])
    linked = _backlinks(rendered, views)
    for item in rendered:
        view, found = views[item.url], around[item.url]
        if item.kind in ("post", "page"):
            found.backlinks = linked.get(view.url, ())
        if item.kind == "post":
            named = (numbers[url] for url in found.names() if url in numbers)
            nearest = overlap.nearest(numbers[view.url], named, RELATED)
            found.related = tuple(_link(posts[number]) for number in nearest)


def _backlinks(rendered: Sequence[Rendered], views: Mapping[str, PageView]) -> dict[str, tuple[Link, ...]]:
    """URL → posts and pages whose text links to it, by title; lists link to everything and do not count."""
    found: dict[str, set[Link]] = {}
    for item in rendered:
        view = views[item.url]
        if view.kind in ("post", "page"):
            for url in item.body.links - {view.url}:
                found.setdefault(url, set()).add(_link(view))
    return {
        url: tuple(sorted(links, key=lambda link: (link.title.casefold(), link.url)))
        for url, links in found.items()
    }


def _terms(post: PageView) -> dict[tuple[str, str], int]:
    """Each term of a post, with its weight; a tag and a category of one name are two terms."""
    tags = {("tag", link.url): 1 for link in post.tags}
    return tags | {("category", link.url): CATEGORY_WEIGHT for link in post.categories}


def _link(post: PageView) -> Link:
    return Link(post.title, post.url, post.title_html)


# Posts that have most in common, by their terms, without comparing each with each.
#
# The posts that have a term are one large integer with a bit for each post. The scores of all posts are added
# up bit by bit: `planes[n]` holds bit n of each score. That is still each with each, but a million pairs take
# some ten thousand operations on words of the machine.


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
