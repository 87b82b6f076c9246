"""What pages may ask of the rest of the site while they are rendered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from markdown_it import MarkdownIt
from msgspec.structs import replace

from ..model.documents import Document, ImageInfo
from ..model.results import PageResults
from ..project.context import SiteContext
from ..project.load import LoadedSite
from ..render.context import Tools
from ..site.archive import plan_archive
from ..site.feeds import site_feeds
from ..site.images import Digest, Measure, resolve_image
from ..site.index import PageEntry, SiteIndex, index_site, resolve_link
from ..site.lists import plan_lists
from ..site.permalinks import files_url
from ..site.search_page import plan_search
from ..site.terms import plan_terms

if TYPE_CHECKING:
    from ..pyodide.distribution import Distribution


def index_of(loaded: LoadedSite, entries: Mapping[str, PageEntry], context: SiteContext) -> SiteIndex:
    """Where everything is. entries: as in `SiteIndex`."""
    urls, config = loaded.urls, context.config
    generated = {
        *plan_lists(loaded.documents, urls.kinds, urls.sections),
        *plan_terms(loaded.documents),
        *plan_archive(loaded.documents, urls.kinds),
        *plan_search(config),
        *(feed.url.removeprefix(config.base_path) for feed in site_feeds(config)),
    }
    return index_site(
        config.base_path, urls.urls, entries, loaded.waiting, generated, loaded.asset_urls, loaded.remote
    )


def page_tools(
    context: SiteContext,
    md: MarkdownIt,
    index: SiteIndex,
    loaded: LoadedSite,
    results: Callable[[Document], PageResults],
    python: Callable[[], Distribution],
    measure: Measure,
    digest: Digest,
) -> Tools:
    """The site as its pages see it while they are rendered."""

    def picture(document: Document, name: str, content: Path | bytes) -> ImageInfo | str:
        assert isinstance(content, Path), "a build shows what is recorded, and records are files"
        found = measure(content)
        url = index.with_base(quote(files_url(loaded.urls.urls[str(document.path)]) + name))
        return replace(found, url=url) if isinstance(found, ImageInfo) else found

    return Tools(
        config=context.config,
        md=md,
        theme=context.theme,
        plugins=context.plugins,
        link=lambda written, document: resolve_link(index, written, document),
        image=lambda written, document: resolve_image(
            index, written, document, loaded.assets, measure, digest
        ),
        labels=index.page_labels,
        post_url=index.page_url,
        slug_hint=index.slug_hint,
        results=results,
        picture=picture,
        python=python,
        language=context.theme.language,
    )
