"""Double brackets: keys `[[Ctrl]]`, and links of Obsidian `[[page]]`, `[[page#heading|text]]`.

Which of the two a name without a bar is depends on the pages of the site, so it is settled when the page is
rendered. Numbers in double brackets are a matrix, and text.
"""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

from ..base.patterns import lazy_pattern
from .records import WikiLink, attach_record
from .state import inline_place

# in a table cell the bar is written `\|`
_BRACKETS = lazy_pattern(r"\[\[([^\[\]\n|]+?)(?:\\?\|([^\[\]\n]*))?\]\](?!\()")
_NUMBERS = lazy_pattern(r"[\s,.+-]*\d[\d\s.+-]*,[\d\s,.+-]*")
_KEY_WORDS = (
    "ctrl control strg alt altgr option opt shift cmd command win windows meta super fn esc escape tab enter "
    "return space backspace del delete ins insert home end pgup pgdn pageup pagedown up down left right caps "
    "capslock numlock print printscreen scroll pause break menu"
)
_KEYS = frozenset(_KEY_WORDS.split())
_FUNCTION_KEY = lazy_pattern(r"f\d{1,2}")
_LIKE_A_PAGE = lazy_pattern(r".*(?:/|#|\.md\Z|[a-z]-[a-z]|\S\s+\S+\s+\S)|[^\W\d_]{5,}\Z")


def wiki_link(state: StateInline, silent: bool) -> bool:
    """Inline rule: what stands in double brackets."""
    found = _BRACKETS.match(state.src, state.pos, state.posMax)
    if not found or _NUMBERS.fullmatch(found[1]):
        return False
    if not silent:
        token = state.push("kbd", "kbd", 0)
        target, text = found[1].strip(), (found[2] or "").strip()
        token.content = text or target
        # a link inside the text of a link would end it
        if not state.linkLevel:
            attach_record(
                token, WikiLink(target, text, found[0], inline_place(state, state.pos, found.end()))
            )
    state.pos = found.end()
    return True


def is_key(name: str) -> bool:
    """Whether a name is that of a key on keyboards."""
    short = "".join(name.casefold().split()).replace("-", "")
    return len(name) == 1 or short in _KEYS or _FUNCTION_KEY.fullmatch(short) is not None


def is_like_a_page(name: str) -> bool:
    """Whether nobody would print such a name on a key, or it is a longer word and no key we know."""
    return _LIKE_A_PAGE.match(name) is not None and not is_key(name)


def wiki_rules(md: MarkdownIt) -> None:
    """Register the rule before links, which begin with a bracket too."""
    md.inline.ruler.before("link", "kbd", wiki_link)
