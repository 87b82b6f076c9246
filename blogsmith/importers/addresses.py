"""Old URLs of pages, and the front matter and settings that keep these URLs working on the new site."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from html import escape
from pathlib import PurePosixPath
from typing import Any

from ..api.importing import alias_problem, slug_problem, slugify, split_dated_name
from .model import ImportedData, ImportedPage, Notice, SiteImport

_TAXONOMIES = ("tags", "categories", "series")
"""Taxonomy keys of front matter. The new site generates a page that lists all values of each: `/tags/`, for
example."""
_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")


def keep_url(page: ImportedPage, patterns: Mapping[str, str]) -> ImportedPage:
    """Set the front matter key `slug`, `permalink` or `aliases` if a page needs it to keep its old URL.

    patterns: the setting `permalinks` of the new site.
    """
    wanted = page.address
    if not wanted and _lacks_date(page, patterns):
        return replace(page, front={**page.front, "permalink": new_url(page, {})})
    is_home = page.path.stem in ("index", "_index") and page.path.parent.name == "content"
    if not wanted or is_home or new_url(page, patterns) == _normalize_url(wanted):
        return page
    last = wanted.rstrip("/").rpartition("/")[2]
    with_slug = replace(page, front={**page.front, "slug": last})
    if last and not slug_problem(last) and new_url(with_slug, patterns) == _normalize_url(wanted):
        return with_slug
    if any(slug_problem(part.removesuffix(".html")) for part in wanted.strip("/").split("/")):
        if not alias_problem(wanted):
            return add_aliases(page, [wanted])
        hint = "redirect the URL on your host; otherwise it shows the 404 page"
        notice = Notice("changed", f'unsupported page URL "{wanted}"', page.source, hint=hint)
        return replace(page, notices=(*page.notices, notice))
    if page.path.stem != "_index":
        return replace(page, front={**page.front, "permalink": wanted})
    # the folder determines the URL of a list, except for the case of the last segment
    if new_url(page, patterns).casefold() == _normalize_url(wanted).casefold():
        return with_slug
    return add_aliases(page, [wanted])


def add_aliases(page: ImportedPage, addresses: Sequence[str]) -> ImportedPage:
    """Add old URLs to the aliases of a page, without duplicates."""
    if not addresses:
        return page
    aliases = list(dict.fromkeys([*page.front.get("aliases", ()), *addresses]))
    return replace(page, front={**page.front, "aliases": aliases})


def avoid_list_urls(site: SiteImport) -> SiteImport:
    """Move pages away from URLs of lists that the new site generates, such as `/tags/` and `/tags/a/`. These
    lists contain posts, which are the pages in folders."""
    posts = [page for page in site.pages if len(page.path.parts) > 2]
    terms = {(name, term) for name in _TAXONOMIES for page in posts for term in _terms(page.front.get(name))}
    made = {f"/{name}/" for name, _ in terms} | {f"/{name}/{slugify(term)}/" for name, term in terms}
    return replace(site, pages=tuple(_avoid_list_urls(page, made) for page in site.pages))


def _terms(value: Any) -> list[str]:
    """Return the names in the value of a taxonomy key, which is a string, a list, or a mapping with
    `name`."""
    if isinstance(value, Mapping):
        value = value.get("name")
    return [str(each) for each in (value if isinstance(value, list) else [value]) if each]


def _avoid_list_urls(page: ImportedPage, made: Collection[str]) -> ImportedPage:
    front = dict(page.front)
    address = _normalize_url(str(front.get("permalink") or new_url(page, {})))
    notices = []
    if address.casefold() in made and page.path.stem != "_index":
        front["permalink"] = f"{address.rstrip('/')}-page/"
        message = f'URL "{address}" is reserved for a list of "{address.split("/")[1]}"'
        hint = f"link to `{front['permalink']}`, the new URL of the page"
        notices.append(Notice("changed", message, page.source, hint=hint))
    aliases = [each for each in front.get("aliases", ()) if _normalize_url(str(each)).casefold() not in made]
    if len(aliases) != len(front.get("aliases", ())):
        front["aliases"] = aliases
    return replace(page, front=front, notices=(*page.notices, *notices))


def redirect_files(targets: Mapping[str, str]) -> tuple[ImportedData, ...]:
    """Return an HTML page for each old URL of a list. The page redirects to the new URL, because generated
    pages for lists cannot have `aliases`. targets: old URL → new URL."""
    return tuple(
        ImportedData(PurePosixPath("static", *path.strip("/").split("/"), "index.html"), _redirect(path, url))
        for path, url in sorted(targets.items())
        if path.strip("/") != url.strip("/") and ":" not in path and ".." not in path.split("/")
    )


def _redirect(path: str, url: str) -> bytes:
    up = "../" * len(path.strip("/").split("/"))
    target = escape(f"{up}{url.lstrip('/')}")
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Redirect</title>\n'
        f'<meta http-equiv="refresh" content="0; url={target}">\n<meta name="robots" content="noindex">\n'
        f'<p><a href="{target}">This page has moved.</a></p>\n</html>\n'
    ).encode()


def _lacks_date(page: ImportedPage, patterns: Mapping[str, str]) -> bool:
    """Return whether a page has no date although the URL pattern of its section contains one."""
    pattern = patterns.get("/".join(page.path.parts[1:2]), "")
    return re.search(":(year|month|day)", pattern) is not None and not page.front.get("date")


def new_url(page: ImportedPage, patterns: Mapping[str, str]) -> str:
    """Return the URL of a page in the new site, with the rules of `site/urls.py`."""
    folder = page.path.parent
    is_bundle = page.path.stem == "index"
    section = folder.parent if is_bundle else folder
    names = [slugify(name) for name in section.parts[1:]]
    slug = _slug(page, page.front)
    if page.path.stem == "_index":
        return "/" + "".join(f"{name}/" for name in names)
    pattern = patterns.get("/".join(section.parts[1:2]), "") if names else ""
    if pattern and (filled := _fill(pattern, slug, page.front)):
        return filled
    return "/" + "".join(f"{name}/" for name in [*names, slug])


def _slug(page: ImportedPage, front: Mapping[str, Any]) -> str:
    name = page.path.parent.name if page.path.stem == "index" else page.path.stem
    return str(front.get("slug") or slugify(split_dated_name(name)[1]))


def _fill(pattern: str, slug: str, front: Mapping[str, Any]) -> str:
    date = _DATE.match(str(front.get("date", "")))
    if not date and re.search(":(year|month|day)", pattern):
        return ""
    values = {"slug": slug}
    if date:
        values |= {"year": date[1], "month": f"{int(date[2]):02}", "day": f"{int(date[3]):02}"}
    filled = re.sub(r":([a-z]+)", lambda found: values.get(found[1], found[0]), pattern)
    return filled if filled.endswith("/") else f"{filled}/"


def _normalize_url(address: str) -> str:
    """Return a URL as that of a folder, which is `/a/` for `/a` and `/a/index.html`."""
    address = address.removesuffix("index.html")
    return address if address.endswith((".html", "/")) else f"{address}/"
