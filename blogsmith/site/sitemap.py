"""`sitemap.xml` and `robots.txt`, which list pages for search engines.

Source: sitemaps.org protocol 0.9. URLs in a sitemap are absolute, so a site without `base_url` has none; its
`robots.txt` then only allows everything. For a site that is too large for one file, `sitemap.xml` is the
index of `sitemap-1.xml`, `sitemap-2.xml`, …
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import PurePosixPath
from xml.etree import ElementTree

from msgspec import Struct

from ..config.schema import Config
from ..model.generated_files import GeneratedFile
from ..model.template_views import PageView
from .frame import canonical

_NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
_XHTML = "http://www.w3.org/1999/xhtml"
_Entry = tuple[str, str, tuple[tuple[str, str], ...]]
"""URL, day of the last change (may be empty), and (language, URL) of each translation, for one entry."""
_ENTRY_BYTES = 128
"""Upper bound for the markup around a URL in its entry, in bytes."""


class SitemapLimits(Struct, frozen=True):
    """Limits of one sitemap file. The default number of URLs is that of the protocol."""

    urls: int = 50_000
    size: int = 50_000_000
    """Maximum number of bytes; the protocol allows 52,428,800."""


def sitemap_files(
    pages: Sequence[PageView], config: Config, limits: SitemapLimits | None = None
) -> dict[PurePosixPath, GeneratedFile]:
    """Map paths to `sitemap.xml` and, if it is too large for one file, its parts.

    The content of each file is made when it is requested.
    """
    name = PurePosixPath("sitemap.xml")
    if not config.base_url:
        return {}
    limits = limits or SitemapLimits()
    if _fits(pages, limits):
        return {name: GeneratedFile(partial(sitemap, pages), (*pages,))}
    parts = list(_parts(pages, limits))
    names = [f"sitemap-{number}.xml" for number in range(1, len(parts) + 1)]
    index = [(canonical(config, f"/{file}"), part) for file, part in zip(names, parts, strict=True)]
    return {
        name: GeneratedFile(partial(_index, index), (*pages,)),
        **{
            PurePosixPath(file): GeneratedFile(partial(sitemap, part), (*part,))
            for file, part in zip(names, parts, strict=True)
        },
    }


def sitemap(pages: Sequence[PageView]) -> bytes:
    """Return a sitemap of all pages with a canonical URL, sorted, with the day of the last change if known.

    Each entry also lists all translations of the page including itself, as Google requires.
    """
    entries = [(page.canonical_url, _last_change([page]), page.alternates) for page in _indexed_pages(pages)]
    return _listing("urlset", "url", entries)


def robots(config: Config) -> bytes:
    """Return a `robots.txt` that allows everything and names the sitemap, if there is one."""
    lines = ["User-agent: *", "Allow: /"]
    if config.base_url:
        lines.append(f"Sitemap: {config.base_url.rstrip('/')}/sitemap.xml")
    return ("\n".join(lines) + "\n").encode()


def _fits(pages: Sequence[PageView], limits: SitemapLimits) -> bool:
    """Return whether one file can list all pages."""
    sizes = [_entry_bytes(page) for page in pages if page.canonical_url]
    return len(sizes) <= limits.urls and sum(sizes) + _ENTRY_BYTES <= limits.size


def _parts(pages: Sequence[PageView], limits: SitemapLimits) -> Iterator[Sequence[PageView]]:
    """Yield the pages in order, in groups as large as fit into one file."""
    part: list[PageView] = []
    size = _ENTRY_BYTES
    for page in _indexed_pages(pages):
        if part and (len(part) == limits.urls or size + _entry_bytes(page) > limits.size):
            yield part
            part, size = [], _ENTRY_BYTES
        part.append(page)
        size += _entry_bytes(page)
    yield part


def _entry_bytes(page: PageView) -> int:
    # URLs are ASCII, so a character is a byte; only an ampersand in the host's path gets longer by escaping
    urls = (page.canonical_url, *(url for _, url in page.alternates))
    return sum(len(url) + 4 * url.count("&") + _ENTRY_BYTES for url in urls)


def _indexed_pages(pages: Sequence[PageView]) -> list[PageView]:
    return sorted(
        (page for page in pages if page.canonical_url and not page.unlisted),
        key=lambda page: page.canonical_url,
    )


def _last_change(pages: Sequence[PageView]) -> str:
    """Return the day of the latest change as an ISO date, or an empty string if no page has a date."""
    changes = [changed for page in pages if (changed := page.updated or page.date)]
    return max(changed.date().isoformat() for changed in changes) if changes else ""


def _index(parts: Sequence[tuple[str, Sequence[PageView]]]) -> bytes:
    entries = [(url, _last_change(pages), ()) for url, pages in parts]
    return _listing("sitemapindex", "sitemap", entries)


def _listing(root: str, tag: str, entries: Sequence[_Entry]) -> bytes:
    """Return a sitemap or an index of sitemaps as XML."""
    ElementTree.register_namespace("", _NAMESPACE)
    ElementTree.register_namespace("xhtml", _XHTML)
    listing = ElementTree.Element(f"{{{_NAMESPACE}}}{root}")
    for address, changed, others in entries:
        entry = ElementTree.SubElement(listing, f"{{{_NAMESPACE}}}{tag}")
        ElementTree.SubElement(entry, f"{{{_NAMESPACE}}}loc").text = address
        if changed:
            ElementTree.SubElement(entry, f"{{{_NAMESPACE}}}lastmod").text = changed
        for lang, url in others:
            link = {"rel": "alternate", "hreflang": lang, "href": url}
            ElementTree.SubElement(entry, f"{{{_XHTML}}}link", link)
    ElementTree.indent(listing)
    text = ElementTree.tostring(listing, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'.encode()
