"""The contents of a site: the documents to build, and the URL of each page and asset."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from ..base.diagnostics.codes import PROTECTED_CODE, PUBLICATION_CODES
from ..base.diagnostics.model import Diagnostic
from ..config.languages import find_version
from ..config.schema import Config
from ..model.documents import Asset, Document, SiteFiles, Source
from ..model.remote_images import RemoteImages
from ..render.svg.active_content import Inspect
from ..site.archive import check_series
from ..site.collisions import fold_url
from ..site.editions import group_by_language
from ..site.moved_urls import check_moved_urls
from ..site.section_rules import check_sections
from ..site.terms import term_warnings
from ..site.translations import check_translations
from ..site.urls import Urls, asset_url, assign_urls, publication
from .context import SiteContext
from .report import BuildLog, BuildOptions

ReadDocument = Callable[[Source, Config], tuple[Document, tuple[Diagnostic, ...]]]


class LoadedSite(Struct, frozen=True):
    """The site as read."""

    documents: tuple[Document, ...]
    """Documents to build."""
    unbuilt: Mapping[str, tuple[Document, str]]
    """Source path → document, and the reason why it is not built: `draft`, `expired`, `scheduled`,
    `protected` (never published), or `unclear` (whether or where to publish it)."""
    future_urls: Mapping[str, str]
    """Source path of a document that is not built → the site path that it would have."""
    urls: Urls
    assets: Mapping[str, Asset]
    """Path relative to the site root → file, for assets that are copied."""
    asset_urls: Mapping[str, str]
    """Path relative to the site root → site path, for the files in `assets`."""
    remote: RemoteImages = RemoteImages()

    @property
    def every_document(self) -> tuple[Document, ...]:
        """All documents, including those that are not built."""
        return (*self.documents, *(document for document, _ in self.unbuilt.values()))


def resolve_urls(
    files: SiteFiles,
    context: SiteContext,
    options: BuildOptions,
    log: BuildLog,
    read: ReadDocument,
    inspect: Inspect,
) -> LoadedSite:
    """Return the documents and files of the site to build, with their URLs. read: function that returns the
    document of a source, with diagnostics about the front matter. inspect: function that returns diagnostics
    about a file that is copied."""
    config = context.config
    log.add(files.diagnostics)
    documents: list[Document] = []
    left_out: dict[str, tuple[Document, str]] = {}
    for source in log.iterate("front matter", files.sources):
        document, found = read(source, config)
        state: str = publication(document, options.now, drafts=options.drafts, future=options.future)
        is_included = str(document.path) in options.include
        # all errors of a protected page are reported if a check, which writes nothing, requests that page
        if any(one.code == PROTECTED_CODE for one in found) and (options.write or not is_included):
            state = "protected"
        elif is_included:
            state = "published"
        if state != "protected" and options.keep_going and _is_publication_unclear(document, found):
            state = "unclear"
        if state == "published":
            documents.append(document)
        else:
            left_out[str(document.path)] = (document, state)
    urls = assign_urls(documents, config)
    if options.keep_going and (unclear := _without_own_address(documents, urls)):
        log.add(urls.diagnostics)
        left_out |= {str(document.path): (document, "unclear") for document in unclear}
        documents = [document for document in documents if document not in unclear]
        urls = assign_urls(documents, config)
    all_documents = [*documents, *(document for document, _ in left_out.values())]
    log.add((*urls.diagnostics, *_relation_problems(documents, all_documents, config)))
    log.add(check_moved_urls(documents, urls.urls, config))
    future_urls = assign_urls(all_documents, config).urls if left_out else {}
    waiting = {path: future_urls[path] for path in left_out}
    assets, asset_urls = _assets(files, urls, left_out)
    log.add(found for asset in assets.values() for found in inspect(asset))
    return LoadedSite(tuple(documents), left_out, waiting, urls, assets, asset_urls, files.remote)


def _relation_problems(
    documents: Sequence[Document], all_documents: Sequence[Document], config: Config
) -> Iterator[Diagnostic]:
    """Yield errors in terms, series and translations. Terms and series are separate for each language."""
    editions = {str(document.path): find_version(document.front.lang, config) for document in all_documents}
    for group in group_by_language(_by_edition(documents, editions), config).values():
        yield from term_warnings(group, config)
    for group in group_by_language(_by_edition(all_documents, editions), config).values():
        yield from check_series(group)
    yield from check_translations(all_documents, editions, config)
    yield from check_sections(documents, config)


def _by_edition(documents: Iterable[Document], editions: Mapping[str, str]) -> Iterator[tuple[str, Document]]:
    return ((editions[str(document.path)], document) for document in documents)


def _is_publication_unclear(document: Document, found: Iterable[Diagnostic]) -> bool:
    """Return whether errors in front matter make it unclear whether and where to publish a page."""
    draft = document.front.places.get("draft")
    errors = [one for one in found if one.severity == "error"]
    return any(one.code in PUBLICATION_CODES or (draft is not None and one.place == draft) for one in errors)


def _without_own_address(documents: Iterable[Document], urls: Urls) -> list[Document]:
    """Return the pages that have an invalid URL, or a URL that belongs to another page."""
    wrong = {found.path for found in urls.diagnostics if found.code in ("permalink", "slug")}
    taken: set[str] = set()
    found = []
    for document in sorted(documents, key=lambda document: document.path.as_posix()):
        path = str(document.path)
        address = fold_url(urls.urls[path])
        if path in wrong or address in taken:
            found.append(document)
        taken.add(address)
    return found


def _assets(
    files: SiteFiles, urls: Urls, left_out: Mapping[str, object]
) -> tuple[dict[str, Asset], dict[str, str]]:
    assets, asset_urls = {}, {}
    for asset in files.assets:
        url = asset_url(asset.path, urls, frozenset(left_out))
        if url:
            assets[str(asset.path)], asset_urls[str(asset.path)] = asset, url
    for asset in files.static:
        assets[str(asset.path)] = asset
        asset_urls[str(asset.path)] = "/" + str(asset.path).removeprefix("static/")
    return assets, asset_urls
