"""Marking of external links with `rel="external"`, for themes and readers' programs."""

import re

from blogsmith.hooks import Document, Hooks

LINK = re.compile(r'<a (?=[^<>]*?href="https?://)(?P<rest>[^<>]*)>')
REL = re.compile(r'rel="(?P<names>[^"]*)"')


def register(hooks: Hooks) -> None:
    @hooks.page_rendered
    def mark(html: str, document: Document) -> str:
        return LINK.sub(_external, html)


def _external(link: re.Match[str]) -> str:
    rest = link["rest"]
    given = REL.search(rest)
    if given is None:
        return f'<a {rest} rel="external">'
    names = given["names"].split()
    if "external" in names:
        return link[0]
    return f'<a {rest[: given.start()]}rel="{" ".join([*names, "external"])}"{rest[given.end() :]}>'
