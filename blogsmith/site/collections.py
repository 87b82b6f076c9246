"""Pages in relation: every page of the site with its section, neighbours, series, tags and lists.

Takes rendered documents and makes the `PageView` of every page, generated lists included.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ..page_view import Link, PageView
from .archive import archive, series_pages
from .feeds import with_feed
from .frame import OLDEST, Frame, Rendered, Unpublished
from .lists import generated_lists, not_found, section_title, taxonomy
from .neighbours import add_neighbours, add_series
from .pages import page_view
from .pagination import paginated
from .relations import add_relations
from .terms import term_names


def page_views(
    rendered: Sequence[Rendered], unpublished: Iterable[Unpublished], frame: Frame
) -> tuple[PageView, ...]:
    """Every page of the site: the documents', then the generated ones, in a stable order."""
    frame = replace(frame, term_names=term_names(item.document for item in rendered))
    views = {item.url: page_view(item, frame) for item in rendered}
    sections = _sections(rendered)
    posts = _newest_first(rendered, views)
    add_neighbours(rendered, views, frame)
    add_series(rendered, list(unpublished), views, frame)
    _add_section_links(rendered, views, sections, frame)
    add_relations(rendered, views)
    posts = [views[view.url.removeprefix(frame.config.base_path)] for view in posts]
    pages = [_with_lists(views[item.url], item, posts, views, rendered) for item in rendered]
    pages += generated_lists(rendered, posts, sections, views, frame)
    pages = [_with_subsections(page, sections, views, frame) for page in pages]
    pages += taxonomy(posts, "tags", "Tags", frame)
    pages += taxonomy(posts, "categories", "Categories", frame)
    pages = [with_feed(page, frame.config) for page in paginated(pages, frame.config.pagination)]
    return (*pages, *archive(posts, frame), *series_pages(posts, frame), not_found(frame))


def _newest_first(rendered: Sequence[Rendered], views: Mapping[str, PageView]) -> list[PageView]:
    posts = [item for item in rendered if item.kind == "post"]
    # equal dates are common in a series written in a day; the path decides then
    ordered = sorted(posts, key=lambda item: str(item.document.path))
    ordered.sort(key=lambda item: item.document.front.date or OLDEST, reverse=True)
    return [views[item.url] for item in ordered]


def _sections(rendered: Sequence[Rendered]) -> dict[str, str]:
    """Section → site path of its list, for every section that has a post or an index."""
    found = {item.section: f"/{item.section}/" for item in rendered if item.section and item.kind == "post"}
    found |= {item.section: item.url for item in rendered if item.kind == "section"}
    return dict(sorted(found.items()))


def _add_section_links(
    rendered: Sequence[Rendered], views: dict[str, PageView], sections: Mapping[str, str], frame: Frame
) -> None:
    for item in rendered:
        if item.kind == "post" and item.section in sections:
            url = sections[item.section]
            link = Link(section_title(item.section, views, url), frame.with_base(url))
            views[item.url] = replace(views[item.url], section=link)


def _with_lists(
    view: PageView,
    item: Rendered,
    posts: Sequence[PageView],
    views: Mapping[str, PageView],
    rendered: Sequence[Rendered],
) -> PageView:
    if item.kind == "home":
        return replace(view, pages=tuple(post for post in posts if post.date))
    if item.kind != "section":
        return view
    listed = {views[other.url].url for other in rendered if other.section == item.section}
    return replace(view, pages=tuple(post for post in posts if post.url in listed))


def _with_subsections(
    view: PageView, sections: Mapping[str, str], views: Mapping[str, PageView], frame: Frame
) -> PageView:
    """The list of a section with links to the sections right below it."""
    own = next((name for name, url in sections.items() if frame.with_base(url) == view.url), "")
    if view.kind != "section" or not own:
        return view
    below = [name for name in sections if name.rpartition("/")[0] == own]
    links = (
        Link(section_title(name, views, sections[name]), frame.with_base(sections[name])) for name in below
    )
    return replace(view, groups=tuple(links))
