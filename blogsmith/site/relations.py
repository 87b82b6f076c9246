"""Pages that have to do with each other: neighbours, series, what links here, what shares terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest

from ..model.template_views import Link, PageView, SeriesPart
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
    sharing = _sharing(posts)
    linked = _backlinks(rendered, views)
    for item in rendered:
        view, found = views[item.url], around[item.url]
        if item.kind in ("post", "page"):
            found.backlinks = linked.get(view.url, ())
        if item.kind == "post":
            found.related = _related_posts(view, {view.url} | found.names(), posts, sharing)


def _backlinks(rendered: Sequence[Rendered], views: Mapping[str, PageView]) -> dict[str, tuple[Link, ...]]:
    """URL → posts and pages whose text links to it, by title; lists link to everything and do not count."""
    found: dict[str, set[Link]] = {}
    for item in rendered:
        view = views[item.url]
        if view.kind in ("post", "page"):
            for url in item.body.links - {view.url}:
                found.setdefault(url, set()).add(Link(view.title, view.url, view.title_html))
    return {
        url: tuple(sorted(links, key=lambda link: (link.title.casefold(), link.url)))
        for url, links in found.items()
    }


def _terms(post: PageView) -> Iterator[tuple[int, str]]:
    """Each term of a post once, with its weight; a tag and a category of one name are two terms."""
    for weight, links in ((1, post.tags), (CATEGORY_WEIGHT, post.categories)):
        yield from ((weight, url) for url in {link.url for link in links})


def _sharing(posts: Sequence[PageView]) -> dict[tuple[int, str], list[int]]:
    """Term → which of `posts` have it, so that none has to be compared with all others."""
    found: dict[tuple[int, str], list[int]] = {}
    for number, post in enumerate(posts):
        for term in _terms(post):
            found.setdefault(term, []).append(number)
    return found


def _related_posts(
    view: PageView,
    named: set[str],
    posts: Sequence[PageView],
    sharing: Mapping[tuple[int, str], Sequence[int]],
) -> tuple[Link, ...]:
    """The posts with most in common, the first of `posts` among equals.

    named: addresses that the page names elsewhere: its own, its neighbours', those of its series.
    """
    scores: Counter[int] = Counter()
    for weight, url in _terms(view):
        for _ in range(weight):
            scores.update(sharing[weight, url])
    # one number for score and place; there are more posts than places, so the score counts first
    count = len(posts)
    ranked = (number - score * count for number, score in scores.items())
    best = (posts[rank % count] for rank in nsmallest(RELATED + len(named), ranked))
    found = [Link(post.title, post.url, post.title_html) for post in best if post.url not in named]
    return tuple(found[:RELATED])
