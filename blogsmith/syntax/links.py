"""Places for links and images: the stock rules, with the author's line and column kept."""

from __future__ import annotations

from collections.abc import Callable

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline, autolink, html_inline, image, link

from .records import LinkAt, put
from .state import inline_place, page_of

Rule = Callable[[StateInline, bool], bool]

SCHEMES = ("http:", "https:", "mailto:", "tel:")
"""Addresses a link may have besides site paths and anchors."""


def located(rule: Rule, kind: str, attribute: str) -> Rule:
    """`rule`, but the first token of type `kind` it makes knows where it stands."""

    def wrapped(state: StateInline, silent: bool) -> bool:
        start, count = state.pos, len(state.tokens)
        if not rule(state, silent):
            return False
        for token in state.tokens[count:]:
            if token.type == kind and "linkat" not in token.meta:
                target = str(token.attrs.get(attribute, "")) or token.content
                put(token, LinkAt(target, inline_place(state, start, state.pos)))
                break
        return True

    return wrapped


def image_located(state: StateInline, silent: bool) -> bool:
    """The stock image rule; formulas in its alt text keep their place."""
    page = page_of(state.env)
    base = page.base
    # the stock rule parses the alt text, which starts behind `![`, as a text of its own
    page.base = base + state.pos + 2
    try:
        return image(state, silent)
    finally:
        page.base = base


def _image(state: StateInline, silent: bool) -> bool:
    return located(image_located, "image", "src")(state, silent)


def validate(url: str) -> bool:
    """True for an address we let into a page: an allow-list, unlike the stock deny-list."""
    head = url.strip().lower().split("/", 1)[0].split("?", 1)[0].split("#", 1)[0]
    if any(ord(char) < 32 for char in url):
        return False
    return ":" not in head or head.startswith(SCHEMES)


def link_rules(md: MarkdownIt) -> None:
    """Wrap the stock rules."""
    md.inline.ruler.at("link", located(link, "link_open", "href"))
    md.inline.ruler.at("image", _image)
    md.inline.ruler.at("autolink", located(autolink, "link_open", "href"))
    md.inline.ruler.at("html_inline", located(html_inline, "html_inline", ""))
    md.validateLink = validate  # type: ignore[method-assign]
