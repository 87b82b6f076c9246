"""The `PageView` of every page, with its section, neighbours, series, tags and lists.

Input: the rendered documents. Output: the views of all pages, including generated lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from ..model.template_views import Link, PageView
from .archive import add_neighbours, add_series, archive_pages, paginate, series_pages
from .editions import group_by_language, search_page
from .exercises import exercise_pages
from .feeds import with_feed
from .frame import OLDEST, RenderedDocument, TermNames, UnpublishedPost, ViewContext
from .list_styles import news_groups, note_urls, with_list_style, without_news
from .lists import generate_lists, not_found, section_title, taxonomy
from .manuals import add_manuals
from .pages import page_view
from .profiles import author_pages, with_profile
from .relations import Relations, add_relations
from .statements import add_uses, statement_graph
from .terms import term_names
from .theorem_map import theorem_map
from .translations import add_translations


def page_views(
    rendered: Sequence[RenderedDocument], unpublished: Sequence[UnpublishedPost], frame: ViewContext
) -> tuple[PageView, ...]:
    """Return the views of all pages in a stable order.

    Pages are grouped by language. In each group, pages from documents come before generated pages.
    """
    groups = _editions(rendered, frame)
    frame = replace(frame, term_names=names_by_edition(rendered, frame))
    pages: list[PageView] = []
    for edition, items in groups.items():
        waiting = [one for one in unpublished if one.edition == edition]
        pages += _edition_views(items, waiting, frame.for_language(edition))
    return add_translations(pages, rendered, frame)


def names_by_edition(rendered: Iterable[RenderedDocument], frame: ViewContext) -> dict[str, TermNames]:
    """Map each language version to the display names of its terms."""
    groups = _editions(rendered, frame).items()
    config = frame.config
    return {edition: term_names((item.document for item in items), config) for edition, items in groups}


def _editions(rendered: Iterable[RenderedDocument], frame: ViewContext) -> dict[str, list[RenderedDocument]]:
    pairs = ((item.edition, item) for item in rendered)
    return group_by_language(pairs, frame.settings or frame.config)


def _edition_views(
    rendered: Sequence[RenderedDocument], unpublished: Sequence[UnpublishedPost], frame: ViewContext
) -> list[PageView]:
    views = {item.url: page_view(item, frame) for item in rendered}
    listed = [item for item in rendered if not item.document.front.unlisted]
    sections = _sections(listed, frame)
    around = {url: Relations() for url in views}
    add_neighbours(listed, views, around)
    add_series(listed, unpublished, views, around, frame)
    _add_section_links(rendered, views, around, sections, frame)
    add_manuals(listed, views, around, frame)
    add_relations(listed, views, around)
    graph = statement_graph(listed, frame.config.base_path)
    if frame.config.theorems.used_in:
        add_uses(graph, {view.url: around[url] for url, view in views.items()}, frame.language)
    views = {url: around[url].apply_to(view) for url, view in views.items()}
    newest_first = _newest_first(listed)
    posts = [views[item.url] for item in newest_first]
    by_section = _group_by_section(newest_first, views)
    titles = {name: section_title(name, views, url, frame) for name, url in sections.items()}
    news = news_groups(by_section, sections, titles, frame)
    pages = [_with_lists(views[item.url], item, posts, by_section) for item in rendered]
    pages += generate_lists(listed, posts, sections, views, frame)
    pages = [without_news(_with_subsections(page, sections, views, frame), news) for page in pages]
    pages += taxonomy(posts, "tags", frame.language.translate("Tags"), frame)
    pages += taxonomy(posts, "categories", frame.language.translate("Categories"), frame)
    pages += author_pages([post for post in posts if post.url not in note_urls(news)], frame)
    pages = [with_feed(page, frame.config) for page in paginate(pages, frame.config.pagination)]
    pages += [*archive_pages(posts, frame), *series_pages(posts, frame), *theorem_map(graph, views, frame)]
    pages += exercise_pages(graph, views, frame)
    pages = [with_profile(with_list_style(page, sections, news, frame), frame) for page in pages]
    pages += search_page(listed, views, sections, titles, frame)
    return [*pages, not_found(posts, frame)]


def _newest_first(rendered: Sequence[RenderedDocument]) -> list[RenderedDocument]:
    posts = [item for item in rendered if item.kind == "post"]
    # series written in a day often have equal dates, so posts are sorted by path first
    ordered = sorted(posts, key=lambda item: str(item.document.path))
    ordered.sort(key=lambda item: item.document.front.date or OLDEST, reverse=True)
    return ordered


def _group_by_section(
    posts: Iterable[RenderedDocument], views: Mapping[str, PageView]
) -> dict[str, list[PageView]]:
    found: dict[str, list[PageView]] = {}
    for item in posts:
        found.setdefault(item.section, []).append(views[item.url])
    return found


def _sections(rendered: Sequence[RenderedDocument], frame: ViewContext) -> dict[str, str]:
    """Map each section that has a post or an index page to the site path of its list."""
    found = {
        item.section: f"{frame.root}/{item.section}/"
        for item in rendered
        if item.section and item.kind == "post"
    }
    found |= {item.section: item.url for item in rendered if item.kind == "section"}
    return dict(sorted(found.items()))


def _add_section_links(
    rendered: Sequence[RenderedDocument],
    views: Mapping[str, PageView],
    around: Mapping[str, Relations],
    sections: Mapping[str, str],
    frame: ViewContext,
) -> None:
    for item in rendered:
        if item.kind == "post" and item.section in sections:
            url = sections[item.section]
            around[item.url].section = Link(
                section_title(item.section, views, url, frame), frame.with_base(url)
            )


def _with_lists(
    view: PageView,
    item: RenderedDocument,
    posts: Sequence[PageView],
    by_section: Mapping[str, Sequence[PageView]],
) -> PageView:
    if not item.document.front.listing:
        return view
    if item.kind == "home":
        return replace(view, pages=tuple(post for post in posts if post.date))
    if item.kind != "section":
        return view
    return replace(view, pages=tuple(by_section.get(item.section, ())))


def _with_subsections(
    view: PageView, sections: Mapping[str, str], views: Mapping[str, PageView], frame: ViewContext
) -> PageView:
    """Return the view of a section with links to its direct subsections. Other views stay unchanged."""
    if view.kind != "section":
        return view
    own = next((name for name, url in sections.items() if frame.with_base(url) == view.url), "")
    if not own:
        return view
    below = [name for name in sections if name.rpartition("/")[0] == own]
    links = (
        Link(section_title(name, views, sections[name], frame), frame.with_base(sections[name]))
        for name in below
    )
    return replace(view, groups=tuple(links))
