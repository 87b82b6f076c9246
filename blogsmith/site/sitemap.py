"""`sitemap.xml` and `robots.txt`: which pages there are, for search engines.

Source: sitemaps.org protocol 0.9. A site without `base_url` has no sitemap, since addresses in it are
absolute; its `robots.txt` then only says that everything may be read. Above what one file may hold,
`sitemap.xml` is the index of `sitemap-1.xml`, `sitemap-2.xml`, …
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from xml.etree import ElementTree

from ..config.schema import Config
from ..model.generated_files import GeneratedFile
from ..model.template_views import PageView
from .frame import canonical

_NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
_XHTML = "http://www.w3.org/1999/xhtml"
_Entry = tuple[str, str, tuple[tuple[str, str], ...]]
"""Address, day of the last change or an empty text, and the page in other languages."""
_ENTRY_BYTES = 128
"""More than what stands around an address in its entry."""


@dataclass(frozen=True, slots=True)
class SitemapLimits:
    """What one file may hold; the protocol's own limits by default."""

    addresses: int = 50_000
    size: int = 50_000_000
    """Bytes; the protocol has 52,428,800."""


def sitemap_files(
    pages: Sequence[PageView], config: Config, limits: SitemapLimits | None = None
) -> dict[PurePosixPath, GeneratedFile]:
    """`sitemap.xml`, with the files that it names where one is too few; each is made when it is called."""
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
    """Every page with an address of its own, sorted, with the day of its last change if known.

    With the same page in other languages, as Google asks for it: each entry names all of them, itself too.
    """
    entries = [(page.canonical_url, _last_change([page]), page.alternates) for page in _addressed(pages)]
    return _listing("urlset", "url", entries)


def robots(config: Config) -> bytes:
    """Everything may be read; where the sitemap is."""
    lines = ["User-agent: *", "Allow: /"]
    if config.base_url:
        lines.append(f"Sitemap: {config.base_url.rstrip('/')}/sitemap.xml")
    return ("\n".join(lines) + "\n").encode()


def _fits(pages: Sequence[PageView], limits: SitemapLimits) -> bool:
    """Whether one file can name them all."""
    sizes = [_entry_bytes(page) for page in pages if page.canonical_url]
    return len(sizes) <= limits.addresses and sum(sizes) + _ENTRY_BYTES <= limits.size


def _parts(pages: Sequence[PageView], limits: SitemapLimits) -> Iterator[Sequence[PageView]]:
    """The pages in order, as many at a time as a file may name."""
    part: list[PageView] = []
    size = _ENTRY_BYTES
    for page in _addressed(pages):
        if part and (len(part) == limits.addresses or size + _entry_bytes(page) > limits.size):
            yield part
            part, size = [], _ENTRY_BYTES
        part.append(page)
        size += _entry_bytes(page)
    yield part


def _entry_bytes(page: PageView) -> int:
    # addresses are ASCII; only an ampersand of the host's path would become longer
    urls = (page.canonical_url, *(url for _, url in page.alternates))
    return sum(len(url) + 4 * url.count("&") + _ENTRY_BYTES for url in urls)


def _addressed(pages: Sequence[PageView]) -> list[PageView]:
    return sorted(
        (page for page in pages if page.canonical_url and not page.unlisted),
        key=lambda page: page.canonical_url,
    )


def _last_change(pages: Sequence[PageView]) -> str:
    """The day; empty if it is not known of any."""
    changes = [changed for page in pages if (changed := page.updated or page.date)]
    return max(changed.date().isoformat() for changed in changes) if changes else ""


def _index(parts: Sequence[tuple[str, Sequence[PageView]]]) -> bytes:
    entries = [(url, _last_change(pages), ()) for url, pages in parts]
    return _listing("sitemapindex", "sitemap", entries)


def _listing(root: str, tag: str, entries: Sequence[_Entry]) -> bytes:
    """A list of addresses."""
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
