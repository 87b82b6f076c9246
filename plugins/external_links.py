"""Links that leave the site say so: `rel="external"`, for themes and for readers' programs."""

import re

LINK = re.compile(r'<a (?=[^<>]*?href="https?://)(?P<rest>[^<>]*)>')
REL = re.compile(r'rel="(?P<names>[^"]*)"')


def register(hooks):
    @hooks.page_rendered
    def mark(html, document):
        return LINK.sub(_external, html)


def _external(link):
    rest = link["rest"]
    given = REL.search(rest)
    if given is None:
        return f'<a {rest} rel="external">'
    names = given["names"].split()
    if "external" in names:
        return link[0]
    return f'<a {rest[: given.start()]}rel="{" ".join([*names, "external"])}"{rest[given.end() :]}>'
