"""Search for images on other hosts in the pages of a site.

The pages are rendered as in a build, so every image is found that a build would request, in Markdown, HTML
and shortcodes. No code of the posts runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from ..base.diagnostics.model import Diagnostic
from ..build.load import load_site
from ..build.render import PageCache
from ..build.snapshot import LazyEntries
from ..build.trace import build_index, page_tools
from ..model.documents import Document
from ..model.links import LinkTarget
from ..model.pictures import ImageInfo
from ..model.remote_images import is_remote, normalize_remote_url
from ..model.results import PageResults
from ..project.context import SiteContext
from ..project.report import BuildLog, BuildOptions
from ..render.html import render_body
from ..render.tools import SiteAccess
from ..stages.bibliographies import SiteBibliographies

if TYPE_CHECKING:
    from ..pyodide.distribution import Distribution

_CODE = "image-fetch"


class RemoteImageUse(Struct, frozen=True):
    """A reference of a page to an image on another host."""

    source_text: str
    url: str
    """Normalised URL (`normalize_remote_url`) of the image, or of the poster of a video; empty if the URL
    cannot be requested."""
    template: Diagnostic
    """Diagnostic at the location of the reference. Commands replace its message to report about this
    image."""
    is_poster: bool = False
    """Whether `source_text` is the URL of a video, and `url` the URL of its poster."""


def remote_uses(context: SiteContext, options: BuildOptions, log: BuildLog) -> list[RemoteImageUse]:
    """Return all references to remote images in the order of the site, one per location."""
    memory = PageCache(None)
    loaded = load_site(context, memory, options, log)
    documents = {str(document.path): document for document in loaded.documents}
    entries = LazyEntries(documents, lambda document: memory.get_facts(document).entry)
    index = build_index(loaded, entries, context)
    bibliographies = SiteBibliographies(context.root)
    bibliographies.use_settings(context.settings)
    tools = page_tools(
        context=context,
        memory=memory,
        index=index,
        loaded=loaded,
        results=_no_results,
        python=_no_python,
        measure=lambda file: ImageInfo("", None, None),
        digest=lambda file: "",
        bibliographies=bibliographies,
    )
    return [
        use
        for document in log.iterate("find images", loaded.documents)
        for use in _find_uses(document, memory, tools)
    ]


def _find_uses(document: Document, memory: PageCache, tools: SiteAccess) -> Iterator[RemoteImageUse]:
    named: dict[str, str] = {}
    posters: set[str] = set()

    def image(written: str, document: Document) -> ImageInfo | LinkTarget:
        if not is_remote(written):
            return ImageInfo("", None, None)
        # a unique number as message, so that each report can be matched with its image
        problem = named.setdefault(written, f"{len(named)}")
        return LinkTarget("", problem, "", _CODE)

    def poster(url: str, document: Document) -> ImageInfo | LinkTarget | None:
        if tools.config.images.remote != "fetch":
            return None
        posters.add(url)
        return image(url, document)

    head = document.front.image
    if is_remote(head):
        place = document.front.places.get("image")
        yield RemoteImageUse(
            head, normalize_remote_url(head), Diagnostic(_CODE, "", str(document.path), place)
        )
    body = render_body(memory.parse(document), replace(tools, image=image, poster=poster))
    written_of = {problem: written for written, problem in named.items()}
    for found in body.diagnostics:
        if found.code == _CODE:
            written = written_of[found.message]
            yield RemoteImageUse(written, normalize_remote_url(written), found, written in posters)


def _no_results(document: Document) -> PageResults:
    return PageResults()


def _no_python() -> Distribution:
    from ..pyodide.distribution import cdn_distribution

    return cdn_distribution()
