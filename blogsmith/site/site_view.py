"""The site as templates see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..config.schema import Config
from ..model.template_views import Link, PageView, SearchView, SiteView
from .feeds import site_feeds
from .search_page import SEARCH_PATH


def site_view(
    config: Config, pages: Sequence[PageView], with_base: Callable[[str], str], generator: str
) -> SiteView:
    """Menu, sections and settings; the menu is the sections unless the site names one."""
    sections = tuple(
        Link(page.title, page.url) for page in pages if page.kind == "section" and _is_top(page, config)
    )
    menu = tuple(Link(item.title, _menu_url(item.url, pages, with_base)) for item in config.menu)
    return SiteView(
        title=config.title,
        description=config.description,
        author=config.author,
        lang=config.lang,
        base_path=config.base_path,
        base_url=config.base_url,
        menu=menu or sections,
        sections=sections,
        options=_plain(config.theme_options),
        generator=generator,
        feeds=site_feeds(config),
        search=_search(config, with_base),
        indexes=tuple(Link(page.title, page.url) for page in pages if _is_index(page)),
    )


def _search(config: Config, with_base: Callable[[str], str]) -> SearchView | None:
    settings = config.search_settings
    return SearchView(with_base(SEARCH_PATH), settings.dialog, settings.engine) if settings else None


def _is_index(page: PageView) -> bool:
    is_first = page.pager is None or page.pager.number == 1
    return page.kind in ("archive", "tags") and is_first


def _is_top(page: PageView, config: Config) -> bool:
    return page.url.removeprefix(config.base_path).strip("/").count("/") == 0


def _menu_url(url: str, pages: Sequence[PageView], with_base: Callable[[str], str]) -> str:
    """The address of an entry; `/posts/a.md` names a page by its file, as links in posts may."""
    path, mark, anchor = url.partition("#")
    page = next((page for page in pages if path.endswith(".md") and page.path == f"content{path}"), None)
    if page:
        return page.url + mark + anchor
    return with_base(url) if url.startswith("/") else url


def _plain(options: Mapping[str, object]) -> Mapping[str, object]:
    return dict(options)
