"""Posts that have to do with each other: what links here, and what shares tags and categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..page_view import Link, PageView
from .frame import OLDEST, Rendered

RELATED = 3
"""Related posts a page names, at most."""

CATEGORY_WEIGHT = 2
"""A shared category says more than a shared tag."""


def add_relations(rendered: Sequence[Rendered], views: dict[str, PageView]) -> None:
    """Fill `backlinks` and `related` of every post and page."""
    posts = [views[item.url] for item in rendered if item.kind == "post"]
    linked = _backlinks(rendered, views)
    for item in rendered:
        if item.kind not in ("post", "page"):
            continue
        view = views[item.url]
        views[item.url] = replace(
            view,
            backlinks=linked.get(view.url, ()),
            related=_related(view, posts) if item.kind == "post" else (),
        )


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


def _related(view: PageView, posts: Sequence[PageView]) -> tuple[Link, ...]:
    """The posts with most in common; neighbours and parts of the same series are named elsewhere."""
    named = {view.url, *(link.url for link in (view.previous, view.next) if link)}
    named |= {part.url for part in view.series}
    scored = [(_score(view, post), post) for post in posts if post.url not in named]
    best = sorted(
        ((score, post) for score, post in scored if score),
        key=lambda pair: (-pair[0], -(pair[1].date or OLDEST).timestamp(), pair[1].url),
    )
    return tuple(Link(post.title, post.url, post.title_html) for _, post in best[:RELATED])


def _score(one: PageView, other: PageView) -> int:
    tags = len({link.url for link in one.tags} & {link.url for link in other.tags})
    categories = len({link.url for link in one.categories} & {link.url for link in other.categories})
    return tags + CATEGORY_WEIGHT * categories
