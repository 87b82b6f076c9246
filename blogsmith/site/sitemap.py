"""`sitemap.xml` and `robots.txt`: which pages there are, for search engines.

Source: sitemaps.org protocol 0.9. A site without `base_url` has no sitemap, since addresses in it are
absolute; its `robots.txt` then only says that everything may be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from ..config.schema import Config
from ..model.template_views import PageView

_NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


def sitemap(pages: Sequence[PageView]) -> bytes:
    """Every page with an address of its own, sorted, with the day of its last change if known."""
    ElementTree.register_namespace("", _NAMESPACE)
    urlset = ElementTree.Element(f"{{{_NAMESPACE}}}urlset")
    for page in sorted(pages, key=lambda page: page.canonical_url):
        if not page.canonical_url:
            continue
        url = ElementTree.SubElement(urlset, f"{{{_NAMESPACE}}}url")
        ElementTree.SubElement(url, f"{{{_NAMESPACE}}}loc").text = page.canonical_url
        changed = page.updated or page.date
        if changed:
            ElementTree.SubElement(url, f"{{{_NAMESPACE}}}lastmod").text = changed.date().isoformat()
    ElementTree.indent(urlset)
    text = ElementTree.tostring(urlset, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'.encode()


def robots(config: Config) -> bytes:
    """Everything may be read; where the sitemap is."""
    lines = ["User-agent: *", "Allow: /"]
    if config.base_url:
        lines.append(f"Sitemap: {config.base_url.rstrip('/')}/sitemap.xml")
    return ("\n".join(lines) + "\n").encode()
