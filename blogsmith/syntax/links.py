"""Links and images: markdown-it's rules extended by positions, bare URLs, wiki links."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from linkify_it import LinkifyIt
from linkify_it.main import Match
from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference
from markdown_it.helpers import parseLinkDestination
from markdown_it.rules_core import StateCore
from markdown_it.rules_core import linkify as link_addresses
from markdown_it.rules_inline import StateInline, autolink, html_inline, image, link, linkify
from markdown_it.token import Token

from ..base.diagnostics.model import Place
from ..base.patterns import lazy_pattern
from ..model.names import name_set
from .html_nodes import VERBATIM, raw_tag
from .lookahead import occurs_after
from .records import LinkTargetPlace, WikiLink, attach_record
from .state import PageState, get_page, inline_place

Rule = Callable[[StateInline, bool], bool]

SCHEMES = ("http:", "https:", "mailto:", "tel:")
"""URL schemes of links, in addition to site paths and anchors."""

LONGEST_SCHEME = 64
"""Number of characters searched for a scheme before `://`. The longest accepted scheme has six."""

MAX_URL_CHARACTERS = 1_000_000
"""Maximum total length of the URLs of a page, in characters, after subtracting the length of its source."""

_MARKED_ENDS = (("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>"), ("<!", ">"))
_SCHEME = lazy_pattern(r"<([A-Za-z][A-Za-z0-9+.-]*:)")


def locate_tokens(rule: Rule, kind: str, attribute: str) -> Rule:
    """Wrap `rule` so that it attaches a `LinkTargetPlace` to the first token of type `kind` that it adds."""

    def wrapped(state: StateInline, silent: bool) -> bool:
        start, count = state.pos, len(state.tokens)
        if not rule(state, silent):
            return False
        for token in state.tokens[count:]:
            if token.type == kind and "linktargetplace" not in token.meta:
                place = inline_place(state, start, state.pos)
                _limit_url(token, attribute, place, get_page(state.env))
                target = str(token.attrs.get(attribute, "")) or token.content
                attach_record(token, LinkTargetPlace(target, place))
                break
        return True

    return wrapped


def _limit_url(token: Token, attribute: str, place: Place, page: PageState) -> None:
    """Remove the URL of a link or image if the total length of the page's URLs exceeds the limit. Report the
    first case.

    If a long definition `[a]: …` is used often, 100 kB of source become gigabytes. Images pasted as data URLs
    stay below the limit, because their length is also that of the source.
    """
    before, limit = page.url_characters, MAX_URL_CHARACTERS + page.line_starts[-1] + len(page.lines[-1])
    page.url_characters += len(str(token.attrs.get(attribute, "")))
    if page.url_characters <= limit:
        return
    token.attrs[attribute] = "#"
    if before <= limit:
        most = f"{MAX_URL_CHARACTERS:,}"
        message = f"the URLs on this page are together over {most} characters longer than its text"
        page.reporter.error("link-length", message, place, "use a long URL only once, or shorten it")


def image_located(state: StateInline, silent: bool) -> bool:
    """Apply the stock image rule, but give formulas in the alternative text their correct positions."""
    page = get_page(state.env)
    base, takes_values = page.base, page.takes_values
    # The stock rule parses the alternative text, which starts after `![`, as a separate string.
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
    """Apply the stock rule, unless the page has too many unclosed brackets."""
    return get_page(state.env).allows_links and _link(state, silent)


def image_rule(state: StateInline, silent: bool) -> bool:
    """Apply the stock rule, unless the page has too many unclosed brackets."""
    return get_page(state.env).allows_links and _image(state, silent)


def autolink_rule(state: StateInline, silent: bool) -> bool:
    """Apply the stock rule for accepted schemes only, because `<std::vector>` is not a URL."""
    scheme = _SCHEME.match(state.src, state.pos)
    if scheme and not scheme[1].lower().startswith(SCHEMES):
        return False
    return _autolink(state, silent)


def find_destination(text: str, pos: int, end: int) -> Any:
    """Apply the stock function, except after a `(` without an end, because a page may have 200,000 of
    these."""
    is_open = text[pos - 1 : pos] == "(" and not occurs_after(text, ")", pos)
    return parseLinkDestination(text, pos, pos if is_open else end)


def find_label_end(state: StateInline, start: int, disableNested: bool = False) -> int:
    """Return the index of the `]` that closes the `[` at `start`; -1 if there is none.

    Works like markdown-it's `parseLinkLabel`. With `disableNested`, return -1 also if the text contains a
    link. Footnotes, wiki links and citations do not count as links.
    """
    before, level = state.pos, 1
    state.pos = start + 1
    try:
        while state.pos < state.posMax:
            at, sign = state.pos, state.src[state.pos]
            if sign == "]":
                level -= 1
                if not level:
                    return state.pos
            state.md.inline.skipToken(state)
            if sign == "[":
                if state.pos == at + 1:
                    level += 1
                elif disableNested and not _is_own_bracket(state, at):
                    return -1
        return -1
    finally:
        state.pos = before


def _is_own_bracket(state: StateInline, start: int) -> bool:
    """Return whether the brackets from `start` to the current position are a footnote, a wiki link or a
    citation, which are not Markdown links."""
    written = state.src[start : state.pos]
    if not written.endswith("]"):
        return False
    label = written[1:-1]
    if label.startswith("^"):
        return label[1:] in get_page(state.env).notes
    if label.startswith("[") and label.endswith("]"):
        return True
    return "@" in label and normalizeReference(label) not in state.env.get("references", {})


def linkify_rule(state: StateInline, silent: bool) -> bool:
    """Apply the stock rule for unquoted URLs. At every `://`, the stock rule searches all pending text for
    the scheme, so distant text becomes a token of its own first."""
    if not silent and state.src[state.pos] == ":" and len(state.pending) > 2 * LONGEST_SCHEME:
        near = state.pending[-LONGEST_SCHEME:]
        state.pending = state.pending[:-LONGEST_SCHEME]
        state.pushPending()
        state.pending = near
    return linkify(state, silent)


def html_rule(state: StateInline, silent: bool) -> bool:
    """Apply the stock rule if a tag, comment or declaration at this position has an end."""
    for opening, closing in _MARKED_ENDS:
        if state.src.startswith(opening, state.pos) and not occurs_after(state.src, closing, state.pos):
            return False
    page, start = get_page(state.env), state.pos
    if not (page.allows_html and _html(state, silent)):
        return False
    if not silent:
        _note_verbatim(state.src, start, state.pos, page)
    return True


def _note_verbatim(text: str, start: int, end: int, page: PageState) -> None:
    """Record the start or end of an element such as `<code>`, where dollars are plain text."""
    name, is_end = raw_tag(text[start:end])
    if is_end:
        page.verbatim = "" if name == page.verbatim else page.verbatim
    elif name in VERBATIM and not page.verbatim and occurs_after(text, f"</{name}", end):
        page.verbatim = name


def _accept(url: str) -> bool:
    return True


def link_rules(md: MarkdownIt) -> None:
    """Install the rules of this module, which call the stock rules for links."""
    md.helpers = SimpleNamespace(
        **{**vars(md.helpers), "parseLinkLabel": find_label_end, "parseLinkDestination": find_destination}
    )  # type: ignore[assignment]
    md.inline.ruler.at("link", link_rule)
    md.inline.ruler.at("image", image_rule)
    md.inline.ruler.at("autolink", autolink_rule)
    md.inline.ruler.at("html_inline", html_rule)
    # Links are checked later, when the page is rendered.
    md.validateLink = _accept  # type: ignore[method-assign]


# Bare URLs as links: `https://…`, `www.…` and `name@host`, found by linkify-it.
#
# linkify-it searches every word for a domain even if the text contains none, which took a fifth of the time
# of parsing. Here it receives only paragraphs with the characters that every match contains.


# GFM 6.9: punctuation at the end of a URL is not part of it. The length limits are those of DNS and of
# common servers. Every `www.` is tried, and without limits each attempt would read to the end of its word.
_WWW = re.compile(
    r"[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,126}(?:[/?#](?:[^\s<]{0,2000}[^\s<.,;:!?)\"'*_~])?)?",
    re.IGNORECASE,
)


_FULL_WIDTH = lazy_pattern("[、。〈-】〔-〟，．：；！？（）［］｛｝“”‘’…—]")
"""Punctuation of Chinese and Japanese, which follows a URL without a space."""


class UrlFinder(LinkifyIt):  # type: ignore[misc]  # it has no types
    """linkify-it with a fast test for text without any match."""

    def __init__(self, options: dict[str, bool]) -> None:
        super().__init__(options=options)
        # `//` follows http:, https: and ftp:, `@` is in every e-mail address.
        self._triggers = ["//", "@"]
        self._note_signs()

    def add(self, schema: str, definition: Any) -> LinkifyIt:
        """Also find URLs that start with `schema`. Return the finder itself, as linkify-it does."""
        self._triggers.append(schema)
        self._note_signs()
        return super().add(schema, definition)

    def set(self, options: dict[str, bool]) -> LinkifyIt:
        """Change options, as a plugin may do. Return the finder itself."""
        super().set(options)
        self._note_signs()
        return self

    def match(self, text: str) -> list[Match] | None:
        """Return the matches in `text`; None if there are none. A URL ends before full-width punctuation, as
        in `https://a.b/p，其中`."""
        found: list[Match] | None = super().match(text)
        return [_end_before_full_width(one) for one in found] if found and not text.isascii() else found

    def match_at_start(self, text: str) -> Match | None:
        """Return the URL at the start of `text`, or None. Like `match`, end it before full-width
        punctuation."""
        found: Match | None = super().match_at_start(text)
        return _end_before_full_width(found) if found and not text.isascii() else found

    def _note_signs(self) -> None:
        # A domain without a scheme may be any word with a dot.
        signs = ["."] if self._opts["fuzzy_link"] else []
        self._lower_signs = [sign.lower() for sign in (*self._triggers, *signs)]
        self._sign = re.compile("|".join(map(re.escape, self._lower_signs)), re.IGNORECASE)

    def may_match(self, text: str) -> bool:
        """Return whether `text` may contain a URL: whether it has the characters that every URL has."""
        if not text.isascii():
            return self._sign.search(text) is not None
        text = text.lower()
        for sign in self._lower_signs:  # noqa: SIM110  # most texts are short
            if sign in text:
                return True
        return False


def _end_before_full_width(found: Match) -> Match:
    end = _FULL_WIDTH.search(found.raw)
    if end and end.start():
        rest = found.raw[end.start() :]
        found.raw = found.text = found.raw[: end.start()]
        found.url, found.last_index = found.url.removesuffix(rest), found.last_index - len(rest)
    return found


def linkify_rules(md: MarkdownIt) -> None:
    """Enable links for bare URLs."""
    # `name.tld` alone is not linked: in technical prose `model.py` and `README.md` are file names.
    finder = UrlFinder({"fuzzy_link": False, "fuzzy_email": True, "fuzzy_ip": False})
    finder.add("www.", {"validate": _WWW, "normalize": _with_scheme})
    md.linkify = finder
    md.options["linkify"] = True
    md.inline.ruler.at("linkify", linkify_rule)
    md.core.ruler.at("linkify", _linkify)
    md.enable(["linkify"])


def _with_scheme(linkify: LinkifyIt, match: Match) -> None:
    """Add `http://` to a URL without a scheme. A GFM extended autolink such as `www.example.org` uses
    http."""
    match.url = f"http://{match.url}"


def _linkify(state: StateCore) -> None:
    """Apply the stock core rule to text that may contain a URL."""
    tokens, finder = state.tokens, state.md.linkify
    if isinstance(finder, UrlFinder):
        state.tokens = [
            token for token in tokens if token.type == "inline" and _may_have_links(token, finder)
        ]
    try:
        link_addresses(state)
    finally:
        state.tokens = tokens


def _may_have_links(token: Token, finder: UrlFinder) -> bool:
    texts = [child.content for child in token.children or () if child.type == "text"]
    return finder.may_match("\n".join(texts))


# Double brackets: keys `[[Ctrl]]`, and Obsidian's links `[[page]]`, `[[page#heading|text]]`.
#
# Whether a name without `|` is a key or a link depends on the pages of the site, so it is decided when the
# page is rendered. Numbers in double brackets are a matrix and stay text.


# In a table cell, `|` is written `\|`.
_BRACKETS = lazy_pattern(r"\[\[([^\[\]\n|]+?)(?:\\?\|([^\[\]\n]*))?\]\](?!\()")
_NUMBERS = lazy_pattern(r"[\s,.+-]*\d[\d\s.+-]*,[\d\s,.+-]*")
_KEY_WORDS = (
    "ctrl control strg alt altgr option opt shift cmd command win windows meta super fn esc escape tab enter "
    "return space backspace del delete ins insert home end pgup pgdn pageup pagedown up down left right caps "
    "capslock numlock print printscreen scroll pause break menu"
)
_KEYS = frozenset(_KEY_WORDS.split())
_PARTS_OF_KEYS = _KEYS | name_set(
    "arrow bar brightness button click key lock media mouse num numpad page power touch volume wheel"
)
"""Words in names of keys."""
_FUNCTION_KEY = lazy_pattern(r"f\d{1,2}")
_LONG_WORD = lazy_pattern(r"[^\W\d_]{5,}")
_LIKE_A_PAGE = lazy_pattern(r".*(?:/|#|\.md\Z|[a-z]-[a-z]|\S\s+\S+\s+\S)|[^\W\d_]{5,}\Z")


def wiki_link(state: StateInline, silent: bool) -> bool:
    """Parse double brackets (inline rule)."""
    found = _BRACKETS.match(state.src, state.pos, state.posMax)
    if not found or _NUMBERS.fullmatch(found[1]):
        return False
    if not silent:
        token = state.push("kbd", "kbd", 0)
        target, text = found[1].strip(), (found[2] or "").strip()
        token.content = text or target
        attach_record(token, WikiLink(target, text, found[0], inline_place(state, state.pos, found.end())))
    state.pos = found.end()
    return True


def is_key(name: str) -> bool:
    """Return whether a name is that of a key on a keyboard."""
    short = "".join(name.casefold().split()).replace("-", "")
    return len(name) == 1 or short in _KEYS or _FUNCTION_KEY.fullmatch(short) is not None


def is_likely_page(name: str) -> bool:
    """Return whether a name in double brackets is probably a page: a path, a phrase, or a long word that is
    not a known key."""
    words = name.casefold().split()
    is_phrase = len(words) > 1 and any(
        _LONG_WORD.fullmatch(word) and word not in _PARTS_OF_KEYS for word in words
    )
    return (is_phrase or _LIKE_A_PAGE.match(name) is not None) and not is_key(name)


def wiki_rules(md: MarkdownIt) -> None:
    """Register the rule before links, which also start with a bracket."""
    md.inline.ruler.before("link", "kbd", wiki_link)
