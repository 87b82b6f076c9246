"""URLs from `permalink:` in front matter, the output files of pages, and redirects from old URLs.

The forms of Jekyll and Hugo are accepted: with or without outer slashes, `/a/b.html`, placeholders such as
`/:year/:title/`. A permalink sets the complete path; the folder and section of the page do not matter.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from html import escape
from pathlib import PurePosixPath
from types import MappingProxyType
from urllib.parse import unquote

from ..base.diagnostics.model import list_choices, nearest
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


class PermalinkError(Exception):
    """A permalink is not a valid URL. The argument is the reason, for the author."""

    def __init__(self, problem: str, hint: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.hint = hint


def permalink_url(written: str, values: Mapping[str, str]) -> str:
    """Return the URL path of a permalink, with a slash at the start and, unless it ends with `.html`, at the
    end.

    values: values of placeholders. Raises `PermalinkError` if the path is invalid.
    """
    path = "/" + unicodedata.normalize("NFC", unquote(written)).strip().lstrip("/")
    path = _PLACEHOLDER.sub(lambda found: _placeholder_value(found[1], values), path)
    if path.endswith(f"/{_INDEX}"):
        path = path.removesuffix(_INDEX)
    if _OTHER_FILES.search(path):
        raise PermalinkError(
            "is the URL of another kind of file", "end the URL of a page with `/` or `.html`"
        )
    parts = [part for part in path.split("/") if part]
    for part in parts:
        if problem := slug_problem(part.removesuffix(HTML)):
            raise PermalinkError(problem, "write a path such as `/my-page/`")
    url = "/" + "/".join(parts)
    return url if url.endswith(("/", HTML)) else f"{url}/"


def _placeholder_value(name: str, values: Mapping[str, str]) -> str:
    ours = _OTHER_NAMES.get(name, name)
    if ours not in values:
        known = (*values, *(other for other, our in _OTHER_NAMES.items() if our in values))
        near = nearest(name, known)
        hint = f"did you mean `:{near}`?" if near else list_choices(f":{one}" for one in sorted(known))
        raise PermalinkError(f'has the unknown placeholder ":{name}"', hint)
    return values[ours]


def placeholder_values(document: Document, section: str, slug: str, *, marks: bool = False) -> dict[str, str]:
    """Return the values of placeholders in a page's permalink. Date placeholders are missing for undated
    pages.

    marks: whether combining marks are kept, as for `slugify`.
    """
    front = document.front
    categories = "/".join(filter(None, (slugify(name, marks=marks) for name in front.categories)))
    values = {"section": section, "slug": slug, "categories": categories}
    if front.date is not None:
        date = front.date
        values |= {"year": f"{date.year:04}", "month": f"{date.month:02}", "day": f"{date.day:02}"}
    return values


def files_url(url: str) -> str:
    """Return the site path of the folder with the page's files: `/a/` for both `/a/` and `/a.html`."""
    return url if url.endswith("/") else f"{url.removesuffix(HTML)}/"


def links_url(url: str) -> str:
    """Return the site path that relative URLs of a page start from: `/a/` for `/a/`, `/` for `/a.html`."""
    return url[: url.rindex("/") + 1]


# Aliases: a page at each old URL that redirects readers and search engines to the new one.


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
    """Return the output file of a site path without base path: `/a/` → `a/index.html`, `/404.html` →
    `404.html`."""
    path = url.strip("/")
    if url.endswith("/"):
        # one string: `PurePosixPath` would split a joined path again
        return PurePosixPath(f"{path}/index.html" if path else "index.html")
    return PurePosixPath(path)


def redirect_path(alias: str) -> PurePosixPath:
    """Return the output file of an alias, a site path such as `/old/name/` or `/2019/x.html`."""
    url = alias if alias.endswith((".html", "/")) else f"{alias}/"
    return output_path("/" + url.lstrip("/"))


def redirect(page: PageView) -> bytes:
    """Return an HTML page that redirects to `page`."""
    return _PAGE.format(
        lang=escape(page.lang),
        title=escape(page.title),
        url=escape(page.url),
        canonical=escape(page.canonical_url or page.url),
    ).encode()
