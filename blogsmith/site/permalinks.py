"""The address that a page's `permalink:` asks for, its files, and redirects from old addresses.

Jekyll's and Hugo's forms are read: with or without slashes at the ends, `/a/b.html`, placeholders such as
`/:year/:title/`. Such an address says all of the path; the page's folder and section have no part in it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from html import escape
from pathlib import PurePosixPath
from types import MappingProxyType
from urllib.parse import unquote

from ..base.diagnostics.model import nearest
from ..base.patterns import lazy_pattern
from ..model.documents import Document
from ..model.slugs import slug_problem, slugify
from ..model.template_views import PageView

HTML = ".html"
_INDEX = "index.html"
_PLACEHOLDER = lazy_pattern(r":([a-z_]+)")
_OTHER_NAMES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("title", "name", "basename", "filename"), "slug"),
        "category": "categories",
        "collection": "section",
    }
)
_OTHER_FILES = lazy_pattern(r"\.(?:xml|json|txt|css|js|md|pdf)\Z")


class WrongPermalink(Exception):
    """A permalink that is no address, with the reason in the author's terms."""

    def __init__(self, problem: str, hint: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.hint = hint


def permalink_url(written: str, values: Mapping[str, str]) -> str:
    """The site path: `/a/`, or `/a.html` as it is; WrongPermalink if it is none.

    values: what placeholders stand for.
    """
    path = "/" + unicodedata.normalize("NFC", unquote(written)).strip().lstrip("/")
    path = _PLACEHOLDER.sub(lambda found: _value_of(found[1], values), path)
    if path.endswith(f"/{_INDEX}"):
        path = path.removesuffix(_INDEX)
    if _OTHER_FILES.search(path):
        raise WrongPermalink("is the address of another kind of file", "a page ends with / or .html")
    parts = [part for part in path.split("/") if part]
    for part in parts:
        if problem := slug_problem(part.removesuffix(HTML)):
            raise WrongPermalink(problem, "write it as /old/name/")
    url = "/" + "/".join(parts)
    return url if url.endswith(("/", HTML)) else f"{url}/"


def _value_of(name: str, values: Mapping[str, str]) -> str:
    ours = _OTHER_NAMES.get(name, name)
    if ours not in values:
        known = (*values, *(other for other, our in _OTHER_NAMES.items() if our in values))
        near = nearest(name, known)
        every = ", ".join(f":{one}" for one in sorted(known))
        hint = f"did you mean :{near}?" if near else f"known: {every}"
        raise WrongPermalink(f"has a part :{name} that nothing fills here", hint)
    return values[ours]


def placeholder_values(document: Document, section: str, slug: str) -> dict[str, str]:
    """What the placeholders of a page's permalink stand for; those of a date are missing if there is none."""
    front = document.front
    categories = "/".join(filter(None, map(slugify, front.categories)))
    values = {"section": section, "slug": slug, "categories": categories}
    if front.date is not None:
        date = front.date
        values |= {"year": f"{date.year:04}", "month": f"{date.month:02}", "day": f"{date.day:02}"}
    return values


def files_url(url: str) -> str:
    """The site path under which the files of a page lie: `/a/` of `/a/` and of `/a.html`."""
    return url if url.endswith("/") else f"{url.removesuffix(HTML)}/"


def links_url(url: str) -> str:
    """The site path that relative addresses on a page start from: `/a/` of `/a/`, `/` of `/a.html`."""
    return url[: url.rindex("/") + 1]


# Aliases: a page at each old address that sends readers and search engines to the new one.


_PAGE = """<!DOCTYPE html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<title>{title}</title>
<link rel="canonical" href="{canonical}">
<meta name="robots" content="noindex">
<meta http-equiv="refresh" content="0; url={url}">
</head>
<body><p><a href="{url}">{title}</a></p></body>
</html>
"""


def output_path(url: str) -> PurePosixPath:
    """File of a site path without base path: `/a/` → `a/index.html`, `/404.html` → `404.html`."""
    path = url.strip("/")
    if url.endswith("/"):
        # in one piece: paths are taken apart again when they are joined
        return PurePosixPath(f"{path}/index.html" if path else "index.html")
    return PurePosixPath(path)


def redirect_path(alias: str) -> PurePosixPath:
    """File of the page at `alias` (a site path such as `/old/name/` or `/2019/x.html`)."""
    url = alias if alias.endswith((".html", "/")) else f"{alias}/"
    return output_path("/" + url.lstrip("/"))


def redirect(page: PageView) -> bytes:
    """A page that leads to `page`."""
    return _PAGE.format(
        lang=escape(page.lang),
        title=escape(page.title),
        url=escape(page.url),
        canonical=escape(page.canonical_url or page.url),
    ).encode()
