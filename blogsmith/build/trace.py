"""The functions that pages call to query the rest of the site while they are rendered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from msgspec.structs import replace

from ..config.languages import version_url_prefix
from ..config.schema import Config
from ..model.documents import Asset, Document
from ..model.links import LinkTarget
from ..model.live_libraries import FOLDER, LIBRARIES
from ..model.pictures import ImageInfo, MediaFile
from ..model.results import PageResults
from ..project.context import SiteContext
from ..project.load import LoadedSite
from ..render.tools import SiteAccess
from ..rows.file_rows import measure_data
from ..site.editions import plan_generated
from ..site.feeds import site_feeds
from ..site.images import Digest, Measure, resolve_image, resolve_poster
from ..site.index import PageEntry, SiteIndex, find_file, index_site, resolve_link
from ..site.permalinks import files_url
from ..site.translations import translations
from ..stages.bibliographies import SiteBibliographies

if TYPE_CHECKING:
    from ..pyodide.distribution import Distribution
    from .render import PageCache

# Metadata of videos and captions, from the start of the files.


_BOM = b"\xef\xbb\xbf"
_CAPTIONS = b"WEBVTT"
_BLANKS = b" \t\r\n"


def measure_media(file: Path) -> MediaFile:
    """Return the metadata of a video or captions file, without its URL; empty if the file cannot be read."""
    # imported here, because few sites have videos
    from ..write.photos.container import ByteReader
    from ..write.photos.heif import video_size

    try:
        with file.open("rb") as stream:
            head = stream.read(16).removeprefix(_BOM)
            # WebVTT 4.1: after the keyword, white space or the end
            behind = head[len(_CAPTIONS) : len(_CAPTIONS) + 1]
            if head.startswith(_CAPTIONS) and (not behind or behind in _BLANKS):
                return MediaFile(is_captions=True)
            size = video_size(ByteReader(stream))
    except OSError:  # the error is reported when the file is copied
        size = None
    return MediaFile(width_px=size[0], height_px=size[1]) if size else MediaFile()


def build_index(loaded: LoadedSite, entries: Mapping[str, PageEntry], context: SiteContext) -> SiteIndex:
    """Return the index of URLs of the site. entries: source path of a published page → facts that other pages
    can see."""
    urls, config = loaded.urls, context.config
    plans = plan_generated(loaded.documents, urls.kinds, urls.sections, urls.editions, config)
    roots = {version_url_prefix(edition, config) for edition in ("", *urls.editions.values())}
    generated = {
        *(url for planned in plans for url in planned),
        *(feed.url.removeprefix(config.base_path) for root in roots for feed in site_feeds(config, root)),
        *site_files(config),
    }
    return index_site(
        base_path=config.base_path,
        urls=urls.urls,
        entries=entries,
        unpublished=loaded.future_urls,
        generated=generated,
        files=loaded.asset_urls,
        remote=loaded.remote,
        editions={path: edition for path, edition in urls.editions.items() if edition},
        translations=translations(loaded.documents, urls.editions, config),
    )


def site_files(config: Config) -> Iterator[str]:
    """Yield the site paths of files for programs that the settings enable, such as `robots.txt`."""
    yield "/robots.txt"
    if config.base_url:
        yield "/sitemap.xml"
    if config.llms_txt:
        yield "/llms.txt"


def page_tools(
    context: SiteContext,
    memory: PageCache,
    index: SiteIndex,
    loaded: LoadedSite,
    results: Callable[[Document], PageResults],
    python: Callable[[], Distribution],
    measure: Measure,
    digest: Digest,
    bibliographies: SiteBibliographies,
    media: MeasureMedia = measure_media,
) -> SiteAccess:
    """Return the functions that pages use while they are rendered, with the caches of `memory`."""

    def picture(document: Document, name: str, content: Path | bytes) -> ImageInfo | str:
        found = measure(content) if isinstance(content, Path) else measure_data(content, name)
        url = index.with_base(quote(files_url(loaded.urls.urls[str(document.path)]) + name))
        return replace(found, url=url) if isinstance(found, ImageInfo) else found

    return SiteAccess(
        config=context.config,
        parser=memory.parser,
        theme=context.theme,
        plugins=context.plugins,
        link=lambda written, document: resolve_link(index, written, document),
        image=lambda written, document: resolve_image(
            index, written, document, loaded.assets, measure, digest
        ),
        poster=lambda url, document: resolve_poster(index, url, loaded.assets, measure, digest),
        media=lambda written, document: resolve_media(index, written, document, loaded.assets, media),
        labels=index.page_labels,
        post_url=index.page_url,
        link_title=index.link_title,
        nearest_slug=index.nearest_slug,
        slug_hint=index.slug_hint,
        results=results,
        picture=picture,
        python_distribution=python,
        live_library=partial(_library_urls, context),
        find_reference=bibliographies.find,
        work_keys=bibliographies.keys,
        publication_keys=bibliographies.publication_keys,
        work_hint=bibliographies.hint,
        work_place=bibliographies.place,
        bibliography_problems=bibliographies.check,
        citation_style=bibliographies.style,
        templates=context.theme.files.digest,
        language=context.theme.language,
        lex_code=memory.lex,
        formula=memory.formula,
        plugin_formula=memory.foreign,
    )


def _library_urls(context: SiteContext, name: str) -> tuple[str, ...]:
    """Return the URLs of the site's copy of a library; empty if a file is missing or of another release."""
    folder = f"{FOLDER}/{name}"
    files = LIBRARIES[name].files
    if any(_file_size(context.root / folder / file.name) != file.size for file in files):
        return ()
    start = f"{context.config.base_path}/{folder.removeprefix('static/')}"
    return tuple(f"{start}/{file.name}" for file in files)


def _file_size(file: Path) -> int:
    return file.stat().st_size if file.is_file() else -1


# The file of a video or of its captions, or the error in its URL.


MeasureMedia = Callable[[Path], MediaFile]
"""Function from a video or captions file to its metadata."""


def resolve_media(
    index: SiteIndex,
    written: str,
    document: Document,
    assets: Mapping[str, Asset],
    measure: MeasureMedia,
) -> MediaFile | LinkTarget:
    """Return the video `written` in `document`, or the error in its URL."""
    target = resolve_link(index, written, document)
    if target.problem:
        return target
    path = unquote(written.partition("#")[0].partition("?")[0])
    file = find_file(index, path, document)
    if not file:
        hint = "store the file next to the post, or in static/"
        return LinkTarget("", f'file not found: "{written}"', hint)
    return replace(measure(assets[file].file), url=target.url)
