"""The transfer size of pages: style sheets, and bytes without fonts and images."""

from __future__ import annotations

import gzip
import re

from .conftest import Served

_LOADED = re.compile(r'<(?:link rel="stylesheet" href|script[^>]* src)="(/assets/[^"?]+)')
MOST = 43_200
LISTS = ("/posts/", "/archive/", "/tags/", "/series/", "/404.html")


def packed(data: bytes) -> int:
    """Return the gzip size, as sent by a server."""
    return len(gzip.compress(data, 9))


def weight(site: Served, page: str) -> int:
    html = site.text(page)
    files = [(site.folder / path.lstrip("/")).read_bytes() for path in _LOADED.findall(html)]
    return packed(html.encode()) + sum(map(packed, files))


def posts_of(site: Served) -> list[str]:
    """Return the paths of its posts and of its front page."""
    return [page for page in site.pages() if page.startswith("/posts/") or page == "/"]


def heavy_posts(site: Served) -> dict[str, int]:
    """Return posts above the limit, with their size."""
    return {page: size for page in posts_of(site) if (size := weight(site, page)) > MOST}


def test_a_page_has_one_style_sheet_or_two(own_site: Served) -> None:
    names = {page: _LOADED.findall(own_site.text(page)) for page in own_site.pages()}
    sheets = {page: [name for name in found if name.endswith(".css")] for page, found in names.items()}
    # Style sheets for features that few pages have: enlarged images, other languages, comments, code
    # annotations, lists of references, notes in the margin, the tree of a manual.
    few = re.compile(r"/(?:pictures|languages|community|teaching|references|margins|manual)-\w+\.css$")
    sheets = {page: [name for name in found if not few.search(name)] for page, found in sheets.items()}
    # The front page and the tour have one more, which no other page needs.
    most = {"/": 3, "/tour/": 3}
    assert {page: found for page, found in sheets.items() if not 1 <= len(found) <= most.get(page, 2)} == {}
    # A reader who has seen some pages has all of them, except for pages with a math font of their own.
    distinct = {name for found in sheets.values() for name in found}
    fonts = len(list(own_site.folder.glob("assets/paper/fonts/*.woff2")))
    assert len(distinct) <= 2 + 2 * fonts


def test_no_post_is_heavy(own_site: Served) -> None:
    assert heavy_posts(own_site) == {}
    sheets = {
        page: [name for name in _LOADED.findall(own_site.text(page)) if name.endswith(".css")]
        for page in posts_of(own_site)
    }
    assert {page: names for page, names in sheets.items() if len(names) > 2 and page != "/"} == {}


def test_lists_are_light(own_site: Served) -> None:
    assert {page: size for page in LISTS if (size := weight(own_site, page)) > 25_000} == {}
