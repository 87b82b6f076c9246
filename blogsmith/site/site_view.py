"""The site data that templates can use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from msgspec.structs import replace

from ..base.storage.file_names import LINKED_ENDS
from ..config.languages import version_config, version_url_prefix
from ..config.schema import Config
from ..config.services import analytics_host
from ..model.template_views import Counting, Ground, Link, PageView, SearchView, SiteView
from .editions import SEARCH_PATH, group_by_language
from .feeds import site_feeds


def site_view(
    config: Config, pages: Sequence[PageView], with_base: Callable[[str], str], generator: str
) -> SiteView:
    """Return the site data for templates: menu, sections and settings. Without a `menu` setting, the menu
    lists the sections."""
    groups = group_by_language(((page.edition, page) for page in pages), config)
    own, *others = (
        _edition_view(version_config(edition, config), members, with_base, generator, root)
        for edition, members in groups.items()
        for root in [version_url_prefix(edition, config)]
    )
    named = [edition for edition in groups if edition]
    return replace(own, editions=dict(zip(named, others, strict=True)))


def with_options(site: SiteView, options: Mapping[str, Any], ground: Ground) -> SiteView:
    """Return the view of a site and its language versions, with the data that the theme reads from files."""
    editions = {name: with_options(view, options, ground) for name, view in site.editions.items()}
    return replace(site, options=options, ground=ground, editions=editions)


def _edition_view(
    config: Config,
    pages: Sequence[PageView],
    with_base: Callable[[str], str],
    generator: str,
    root: str,
) -> SiteView:
    home = with_base(f"{root}/")
    sections = tuple(
        Link(page.title, page.url) for page in pages if page.kind == "section" and _is_top(page, home)
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
        feeds=site_feeds(config, root),
        has_markdown=config.llms_txt,
        search=_search(config, with_base, root),
        indexes=tuple(Link(page.title, page.url) for page in pages if _is_index(page)),
        counting=_counting(config),
        covers=config.images.covers,
        host=urlsplit(config.base_url).netloc,
        share=config.share,
        home_url=home,
    )


def _counting(config: Config) -> Counting | None:
    host = analytics_host(config.analytics)
    # without its own URL, a site cannot distinguish visits from the author's previews
    if not host or not config.base_url:
        return None
    chosen = config.analytics
    name = urlsplit(host).netloc
    return Counting(chosen.provider, chosen.site, host, name, asks=chosen.consent == "ask")


def _search(config: Config, with_base: Callable[[str], str], root: str) -> SearchView | None:
    settings = config.search_settings
    if not settings:
        return None
    return SearchView(with_base(root + SEARCH_PATH), settings.dialog, settings.engine)


def _is_index(page: PageView) -> bool:
    is_first = page.pager is None or page.pager.number == 1
    return page.kind in ("archive", "map", "tags") and is_first


def _is_top(page: PageView, home: str) -> bool:
    return page.url.removeprefix(home).strip("/").count("/") == 0


def _menu_url(url: str, pages: Sequence[PageView], with_base: Callable[[str], str]) -> str:
    """Return the URL of a menu entry. As in posts, `/posts/a.md` refers to a page by its file."""
    path, mark, anchor = url.partition("#")
    page = next(
        (page for page in pages if path.endswith(LINKED_ENDS) and page.path == f"content{path}"), None
    )
    if page:
        return page.url + mark + anchor
    return with_base(url) if url.startswith("/") else url


def _plain(options: Mapping[str, object]) -> Mapping[str, object]:
    return dict(options)
