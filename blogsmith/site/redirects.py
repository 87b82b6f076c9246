"""Aliases: a page at each old address that sends readers and search engines to the new one."""

from __future__ import annotations

from html import escape
from pathlib import PurePosixPath

from ..model.template_views import PageView

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
