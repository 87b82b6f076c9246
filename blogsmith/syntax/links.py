"""Places for links and images: the stock rules, with the author's line and column kept."""

from __future__ import annotations

from collections.abc import Callable

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline, autolink, html_inline, image, link, linkify
from markdown_it.token import Token

from ..base.diagnostics.model import Place
from ..base.patterns import lazy_pattern
from .html_nodes import VERBATIM, raw_tag
from .lookahead import comes_after
from .records import LinkAt, attach_record
from .state import PageState, inline_place, page_of

Rule = Callable[[StateInline, bool], bool]

SCHEMES = ("http:", "https:", "mailto:", "tel:")
"""Addresses a link may have besides site paths and anchors."""

LONGEST_SCHEME = 64
"""Characters before a `://` that are looked at; the longest scheme we accept has six."""

MAX_ADDRESSES = 1_000_000
"""Characters in the addresses of links and images of a page, beyond the length of its text."""

_MARKED_ENDS = (("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>"), ("<!", ">"))
_SCHEME = lazy_pattern(r"<([A-Za-z][A-Za-z0-9+.-]*:)")


def locate_tokens(rule: Rule, kind: str, attribute: str) -> Rule:
    """`rule`, but the first token of type `kind` it makes knows where it stands."""

    def wrapped(state: StateInline, silent: bool) -> bool:
        start, count = state.pos, len(state.tokens)
        if not rule(state, silent):
            return False
        for token in state.tokens[count:]:
            if token.type == kind and "linkat" not in token.meta:
                place = inline_place(state, start, state.pos)
                _limit_address(token, attribute, place, page_of(state.env))
                target = str(token.attrs.get(attribute, "")) or token.content
                attach_record(token, LinkAt(target, place))
                break
        return True

    return wrapped


def _limit_address(token: Token, attribute: str, place: Place, page: PageState) -> None:
    """Take an address away once those before it are longer than any page's.

    A definition `[a]: …` may be long and used often: 100 kB would become gigabytes. Pictures that are pasted
    into a text are long, but no longer than the text.
    """
    before, limit = page.address_characters, MAX_ADDRESSES + page.line_starts[-1] + len(page.lines[-1])
    page.address_characters += len(str(token.attrs.get(attribute, "")))
    if page.address_characters <= limit:
        return
    token.attrs[attribute] = "#"
    if before <= limit:
        message = (
            f"the addresses on this page are {MAX_ADDRESSES:,} characters longer together than its whole text"
        )
        page.reporter.error("link-length", message, place, "use a long address once, or shorten it")


def image_located(state: StateInline, silent: bool) -> bool:
    """The stock image rule; formulas in its alt text keep their place."""
    page = page_of(state.env)
    base, takes_values = page.base, page.takes_values
    # the stock rule parses the alt text, which starts behind `![`, as a text of its own
    page.base, page.takes_values = base + state.pos + 2, False
    try:
        return image(state, silent)
    finally:
        page.base, page.takes_values = base, takes_values


_link = locate_tokens(link, "link_open", "href")
_image = locate_tokens(image_located, "image", "src")
_autolink = locate_tokens(autolink, "link_open", "href")
_html = locate_tokens(html_inline, "html_inline", "")


def link_rule(state: StateInline, silent: bool) -> bool:
    """The stock rule, unless more brackets stand open than can be sorted out."""
    return page_of(state.env).links and _link(state, silent)


def image_rule(state: StateInline, silent: bool) -> bool:
    """The stock rule, unless more brackets stand open than can be sorted out."""
    return page_of(state.env).links and _image(state, silent)


def autolink_rule(state: StateInline, silent: bool) -> bool:
    """The stock rule for our schemes only: `<std::vector>` is no address."""
    scheme = _SCHEME.match(state.src, state.pos)
    if scheme and not scheme[1].lower().startswith(SCHEMES):
        return False
    return _autolink(state, silent)


def linkify_rule(state: StateInline, silent: bool) -> bool:
    """The stock rule for bare addresses.

    At every `://` it searches all text before it for the scheme; what is too far away is put aside.
    """
    if not silent and state.src[state.pos] == ":" and len(state.pending) > 2 * LONGEST_SCHEME:
        near = state.pending[-LONGEST_SCHEME:]
        state.pending = state.pending[:-LONGEST_SCHEME]
        state.pushPending()
        state.pending = near
    return linkify(state, silent)


def html_rule(state: StateInline, silent: bool) -> bool:
    """The stock rule, where a tag or its end may stand."""
    for opening, closing in _MARKED_ENDS:
        if state.src.startswith(opening, state.pos) and not comes_after(state.src, closing, state.pos):
            return False
    page, start = page_of(state.env), state.pos
    if not (page.html and _html(state, silent)):
        return False
    if not silent:
        _note_verbatim(state.src, start, state.pos, page)
    return True


def _note_verbatim(text: str, start: int, end: int, page: PageState) -> None:
    """Whether the tag begins or ends an element such as `<code>`, in which dollars are text."""
    name, is_end = raw_tag(text[start:end])
    if is_end:
        page.verbatim = "" if name == page.verbatim else page.verbatim
    elif name in VERBATIM and not page.verbatim and comes_after(text, f"</{name}", end):
        page.verbatim = name


def _accept(url: str) -> bool:
    return True


def link_rules(md: MarkdownIt) -> None:
    """Wrap the stock rules."""
    md.inline.ruler.at("link", link_rule)
    md.inline.ruler.at("image", image_rule)
    md.inline.ruler.at("autolink", autolink_rule)
    md.inline.ruler.at("html_inline", html_rule)
    # what an address leads to is checked, and reported, when the page is rendered
    md.validateLink = _accept  # type: ignore[method-assign]
