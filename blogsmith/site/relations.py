"""Pages that have to do with each other: neighbours, series, what links here, what shares terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from ..model.template_views import Link, PageView, SeriesPart, UsedStatement
from .frame import OLDEST, Rendered
from .related_posts import TermOverlap

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
