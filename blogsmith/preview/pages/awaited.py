"""Which pages to read before all others: those that a browser waits for while the preview starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...build.snapshot import ResolvedSite
from ...model.documents import Document
from ...site.frame import OLDEST
from .urls import path_of

LISTED = 20
"""Pages of a list that are read before it is shown; of the others it tells what their front matter says."""


def awaited_sources(resolved: ResolvedSite, paths: Iterable[str]) -> list[str]:
    """Source paths of the pages at these paths, and of the newest posts that a list among them shows.

    A guess, made before it is known what lists hold: what it leaves out is read when the page is made.
    """
    found: dict[str, None] = {}
    base_path, urls = resolved.config.base_path, resolved.loaded.urls
    sources = {url: path for path, url in urls.urls.items()}
    for path in paths:
        site_path = path_of(path, base_path).removeprefix(base_path).removesuffix("index.html")
        source = sources.get(site_path, "")
        if source:
            found[source] = None
        section = urls.sections[source] if source else site_path.strip("/")
        # a list may be one that no file of the author's makes
        is_list = urls.kinds[source] in ("home", "section") if source else section in _sections(resolved)
        if is_list:
            found |= dict.fromkeys(_newest_posts(resolved, section, urls.editions.get(source, "")))
    return list(found)


def _sections(resolved: ResolvedSite) -> set[str]:
    """The sections of the site, the whole of it among them."""
    return {"", *resolved.loaded.urls.sections.values()}


def _newest_posts(resolved: ResolvedSite, section: str, edition: str) -> list[str]:
    """Source paths of the newest posts of a section; of the whole edition if it is empty."""
    urls = resolved.loaded.urls

    def posts() -> Iterator[Document]:
        for path, document in resolved.documents.items():
            is_listed = urls.kinds[path] == "post" and not document.front.unlisted
            if is_listed and urls.editions.get(path, "") == edition and section in ("", urls.sections[path]):
                yield document

    newest = sorted(posts(), key=lambda document: document.front.date or OLDEST, reverse=True)
    return [str(document.path) for document in newest[: min(LISTED, resolved.config.pagination)]]
