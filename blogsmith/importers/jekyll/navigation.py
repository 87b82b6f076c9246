"""Menu of a Jekyll site with the theme al-folio, Chirpy, Minimal Mistakes, minima or Beautiful Jekyll. Also
the old URLs of its archives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from ...api.importing import lazy_pattern, slugify
from ..addresses import new_url, redirect_files
from ..model import ImportedData, ImportedPage
from ..text.data import one_line, read_names
from .settings import slugify as old_slug
from .source import JekyllDocument, JekyllSite, address_key

Entry = tuple[str, str]
"""Title and target (URL or file) of a menu entry."""
_LISTS = {"archives": "/archive/", "archive": "/archive/", "tags": "/tags/", "categories": "/categories/"}
"""Result of `address_key` for the old URL of a list → URL of this list in the new site."""


def site_menu(
    site: JekyllSite, pages: Sequence[ImportedPage], patterns: Mapping[str, str]
) -> list[dict[str, str]]:
    """Return the entries of the old menu whose targets are in the new site or on another host; empty if there
    are none.

    patterns: the setting `permalinks` of the new site.
    """
    urls = ((page, str(page.front.get("permalink") or new_url(page, patterns))) for page in pages)
    known = {"": "/"} | {address_key(page.address): url for page, url in urls if page.address}
    for page in pages:
        known |= {address_key(alias): new_url(page, patterns) for alias in page.front.get("aliases", ())}
        known |= {key: _LISTS[key] for key in _LISTS if key == "archives" or page.front.get(key)}
    files = {document.path.as_posix(): document.address for document in site.files.documents}
    found: dict[str, str] = {}
    for title, target in [*_entries(site)] or _titled_pages(site):
        is_remote = target.startswith(("https://", "http://"))
        path = files.get(target, target).removeprefix(site.config.base_path)
        url = target if is_remote else known.get(address_key(path), path if path in site.copied else "")
        if title and target and url:
            found.setdefault(url, title)
    return [{"title": title, "url": url} for url, title in found.items()]


def _entries(site: JekyllSite) -> Iterator[Entry]:
    """Yield the entries of all menus that settings, data files and front matter define."""
    values = site.config.values
    data = site.data.get("navigation") or site.data.get("menu")
    if isinstance(data, Mapping):
        data = data.get("main") or next((each for each in data.values() if isinstance(each, list)), None)
    for written in (data, values.get("navigation"), values.get("nav"), values.get("menu")):
        if isinstance(written, list):
            yield from _listed(written)
    bar = values.get("navbar-links")
    for title, target in bar.items() if isinstance(bar, Mapping) else ():
        inner = target if isinstance(target, list) else [{title: target}]
        yield from ((str(key), str(each[key])) for each in inner if isinstance(each, Mapping) for key in each)
    named = values.get("header_pages")
    documents = {each.path.name: each for each in site.files.documents if each.collection == "pages"}
    for name in named if isinstance(named, list) else ():
        if document := documents.get(PurePosixPath(str(name)).name):
            yield one_line(document.front.get("title")), document.address
    for document in sorted(site.files.documents, key=_order):
        front = document.front
        if document.collection == "tabs" or front.get("nav") is True:
            children = front.get("children") if front.get("dropdown") else None
            if isinstance(children, list):
                yield from _listed(children)
            else:
                title = one_line(front.get("title")) or document.name.replace("-", " ").capitalize()
                yield title, document.address


def _titled_pages(site: JekyllSite) -> Iterator[Entry]:
    """Yield the pages with a title, if a template of the site links to all of them, as in the theme
    minima."""
    has_loop = any(_PAGE_LOOP.search(text) for text in site.texts.values())
    if has_loop or "minima" in one_line(site.config.values.get("theme")):
        for document in site.files.documents:
            if document.collection == "pages" and document.front.get("title") and document.address != "/":
                yield one_line(document.front["title"]), document.address


_PAGE_LOOP = lazy_pattern(r"\bfor\s+(\w+)\s+in\s+site\.pages\b[\s\S]{1,400}?\1\.title\b")


def _listed(entries: Sequence[Any]) -> Iterator[Entry]:
    for entry in entries:
        if isinstance(entry, Mapping):
            title = _first(entry, ("title", "text", "name", "label"))
            yield title, _first(entry, ("url", "permalink", "link", "href"))
            for key in ("children", "sublinks", "sub_links"):
                yield from _listed(entry[key]) if isinstance(entry.get(key), list) else ()


def _first(entry: Mapping[str, Any], keys: Sequence[str]) -> str:
    return next((one_line(entry[key]) for key in keys if entry.get(key)), "")


def _order(document: JekyllDocument) -> tuple[float, str]:
    written = document.front.get("nav_order", document.front.get("order"))
    # the home page is first, as in the header of al-folio
    first = -1.0 if document.address == "/" else float("inf")
    return (float(written) if isinstance(written, (int, float)) else first, document.path.as_posix())


_KINDS = {"tags": ("tags", "tag"), "categories": ("categories", "category")}
"""Front matter key → its name in the settings, and the value of `:type`."""


def archive_redirects(site: JekyllSite, pages: Sequence[ImportedPage]) -> tuple[ImportedData, ...]:
    """Return redirects from lists that jekyll-archives generated, if the new site has no pages at their
    URLs."""
    settings = site.config.values.get("jekyll-archives")
    settings = settings.get("posts", settings) if isinstance(settings, Mapping) else {}
    patterns = settings.get("permalinks") if isinstance(settings, Mapping) else None
    patterns = patterns if isinstance(patterns, Mapping) else {}
    targets: dict[str, str] = {}
    for page in pages:
        year = str(page.front.get("date", ""))[:4]
        is_post = page.path.parts[1] == "posts"
        for key, (_, kind) in _KINDS.items():
            pattern = next((str(patterns[name]) for name in (key, kind) if patterns.get(name)), "")
            for term in read_names(page.front.get(key)) if is_post and pattern else ():
                old = pattern.replace(":type", kind).replace(":name", old_slug(term))
                targets[old] = f"/{key}/{slugify(term)}/"
        if patterns.get("year") and is_post and year.isdecimal():
            targets[str(patterns["year"]).replace(":year", year)] = "/archive/"
    return redirect_files(targets)
