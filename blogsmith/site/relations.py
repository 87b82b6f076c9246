"""Related pages: neighbours, series, backlinks, and posts with the same terms."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ..model.template_views import Link, ManualView, PageView, SeriesPart, UsedStatement
from .frame import OLDEST, RenderedDocument

RELATED = 3
"""Maximum number of related posts on a page."""

CATEGORY_WEIGHT = 2
"""Weight of a shared category; a shared tag has weight 1."""


class Relations(Struct):
    """The related pages of a view, in fields named as in `PageView`. They are collected first, because later
    steps use earlier results, and then added to the view in one step, because copying a view costs more than
    collecting them."""

    section: Link | None = None
    previous: Link | None = None
    next: Link | None = None
    next_post: PageView | None = None
    builds_on: tuple[Link, ...] = ()
    series_name: str = ""
    series_url: str = ""
    series: tuple[SeriesPart, ...] = ()
    manual: ManualView | None = None
    layout: str = ""
    """Layout of a page of a manual; empty for other pages."""
    backlinks: tuple[Link, ...] = ()
    used_in: tuple[UsedStatement, ...] = ()
    related: tuple[Link, ...] = ()

    def apply_to(self, view: PageView) -> PageView:
        """Return a copy of `view` with these relations."""
        return replace(
            view,
            section=self.section,
            previous=self.previous,
            next=self.next,
            next_post=self.next_post,
            builds_on=self.builds_on,
            series_name=self.series_name,
            series_url=self.series_url,
            series=self.series,
            manual=self.manual,
            layout=self.layout or view.layout,
            backlinks=self.backlinks,
            used_in=self.used_in,
            related=self.related,
        )

    def linked_urls(self) -> set[str]:
        """Return the URLs of the neighbours, the parts of the series, and the pages linked in either
        direction."""
        links = (self.previous, self.next, *self.builds_on, *self.backlinks)
        return {link.url for link in links if link} | {part.url for part in self.series}


def add_relations(
    rendered: Sequence[RenderedDocument], views: Mapping[str, PageView], around: Mapping[str, Relations]
) -> None:
    """Set `next_post`, `builds_on`, `backlinks` and `related` of every post and page. Neighbours and series
    must be set already."""
    posts = sorted(
        (views[item.url] for item in rendered if item.kind == "post"),
        key=lambda post: (-(post.date or OLDEST).timestamp(), post.url),
    )
    numbers = {post.url: number for number, post in enumerate(posts)}
    overlap = TermOverlap([_terms(post) for post in posts])
    links = {views[item.url].url: item.body.links for item in rendered if item.kind in ("post", "page")}
    readable = {view.url: view for item in rendered if (view := views[item.url]).url in links}
    backlinks: dict[str, list[PageView]] = {}
    # links in generated lists do not count, because lists link to everything
    for url, targets in links.items():
        for target in targets - {url}:
            backlinks.setdefault(target, []).append(readable[url])
    for item in rendered:
        view, found = views[item.url], around[item.url]
        found.next_post = readable.get(found.next.url) if found.next else None
        if item.kind in ("post", "page"):
            targets = (links[view.url] & readable.keys()) - {view.url}
            found.builds_on = _links_by_title(readable[url] for url in targets)
            found.backlinks = _links_by_title(backlinks.get(view.url, ()))
        if item.kind == "post":
            named = (numbers[url] for url in found.linked_urls() if url in numbers)
            nearest = overlap.nearest(numbers[view.url], named, RELATED)
            found.related = tuple(_link(posts[number]) for number in nearest)


def _links_by_title(views: Iterable[PageView]) -> tuple[Link, ...]:
    return tuple(sorted(map(_link, views), key=lambda link: (link.title.casefold(), link.url)))


def _terms(post: PageView) -> dict[tuple[str, str], int]:
    """Map each term of a post to its weight. A tag and a category of the same name are different terms."""
    tags = {("tag", link.url): 1 for link in post.tags}
    return tags | {("category", link.url): CATEGORY_WEIGHT for link in post.categories}


def _link(post: PageView) -> Link:
    return Link(post.title, post.url, post.title_html)


# Finds the posts that share most terms without comparing pairs one by one. For each term, the posts that have
# it are one large integer with a bit per post. The scores of all posts are added bit by bit: `planes[n]`
# contains bit n of every score. All pairs are still compared, but a million pairs take about ten thousand
# operations on machine words.


_COMMON = 256
"""A term is stored as a bit mask of posts if more than one post in 256 has the term. Most terms are rarer."""


_WeightedTerm = tuple[tuple[str, str], int]
"""A term (kind and URL) and its weight."""


class TermOverlap:
    """The terms of posts, which are numbered from 0. Posts with equal scores are ordered by number."""

    def __init__(self, terms: Sequence[Mapping[tuple[str, str], int]]) -> None:
        """Store the terms of each post with their weights: the amount a shared term adds to the score."""
        self._terms = terms
        self._posts: dict[_WeightedTerm, list[int]] = {}
        for number, weights in enumerate(terms):
            for term in weights.items():
                self._posts.setdefault(term, []).append(number)
        self._masks = {
            term: _mask(posts, len(terms))
            for term, posts in self._posts.items()
            if len(posts) * _COMMON > len(terms)
        }

    def nearest(self, post: int, left_out: Iterable[int], count: int) -> list[int]:
        """Return at most `count` posts that share a term with `post`, by descending sum of weights. left_out:
        posts to exclude."""
        planes: list[int] = []
        for term in self._terms[post].items():
            for place in range(term[1].bit_length()):
                if term[1] >> place & 1:
                    _add(planes, self._mask(term), place)
        excluded = _mask({post, *left_out}, len(self._terms))
        return _highest([plane & ~excluded for plane in planes], count)

    def _mask(self, term: _WeightedTerm) -> int:
        return self._masks.get(term) or _mask(self._posts[term], len(self._terms))


def _mask(numbers: Collection[int], size: int) -> int:
    """Return an integer with these bits set. size: greater than all `numbers`."""
    octets = bytearray(size // 8 + 1)
    for number in numbers:
        octets[number >> 3] |= 1 << (number & 7)
    return int.from_bytes(octets, "little")


def _add(planes: list[int], mask: int, place: int) -> None:
    """Add 2**place to the score of every post whose bit is set in `mask`. planes: item i contains bit i of
    every score."""
    while mask:
        planes.extend([0] * (place + 1 - len(planes)))
        planes[place], mask = planes[place] ^ mask, planes[place] & mask
        place += 1


def _highest(planes: Sequence[int], count: int) -> list[int]:
    """Return at most `count` posts with a score above 0, highest score first, then lowest number."""
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
