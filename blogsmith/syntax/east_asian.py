"""Chinese, Japanese and Korean text, which has no spaces where Markdown expects them.

In CommonMark, a `*` after punctuation closes emphasis only before whitespace or more punctuation, so the
`**` in `**注意：**この` would stay text. Next to characters of these languages we drop this condition, as
specified in github.com/tats-u/markdown-cjk-friendly. All other text is parsed as in CommonMark. In addition,
a line break between two such characters is shown without a space (CSS Text 3, 4.1.3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from unicodedata import category, east_asian_width

from markdown_it import rules_inline
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

_WIDE = frozenset(("W", "F", "H"))
_HANGUL = (("\u1100", "\u11ff"), ("\u3130", "\u318f"), ("\ua960", "\ua97f"), ("\uac00", "\ud7ff"))
"""First and last characters of the ranges of Hangul. Korean has spaces between words, so its lines are not
joined."""


@lru_cache(4096)
def is_east_asian(sign: str) -> bool:
    """Return whether a character belongs to Chinese, Japanese or Korean. Emoji have the same width, but
    do not belong to these languages."""
    return east_asian_width(sign) in _WIDE and category(sign) != "So"


def flanking_direction(before: str, after: str) -> tuple[bool, bool]:
    """Return whether a delimiter run between two characters can open, and whether it can close."""
    is_punctuation = [category(sign)[0] in "PS" and not is_east_asian(sign) for sign in (before, after)]
    ends_word, starts_word = (
        sign.isspace() or is_mark or is_east_asian(sign)
        for sign, is_mark in zip((before, after), is_punctuation, strict=True)
    )
    begins = not after.isspace() and (not is_punctuation[1] or ends_word)
    ends = not before.isspace() and (not is_punctuation[0] or starts_word)
    return begins, ends


def _with_east_asian_flanking(
    rule: Callable[[StateInline, bool], bool],
) -> Callable[[StateInline, bool], bool]:
    """Return a rule for delimiter runs that also applies the conditions for Chinese, Japanese and Korean."""

    def mark(state: StateInline, silent: bool) -> bool:
        start, known = state.pos, len(state.delimiters)
        if not rule(state, silent):
            return False
        added = state.delimiters[known:]
        if added and not state.src.isascii():
            before = state.src[start - 1] if start else " "
            after = state.src[state.pos] if state.pos < state.posMax else " "
            # Underscores inside words are ordinary characters.
            if state.src[start] != "_" and (is_east_asian(before) or is_east_asian(after)):
                for delimiter in added:
                    delimiter.open, delimiter.close = flanking_direction(before, after)
        return True

    return mark


emphasis = _with_east_asian_flanking(rules_inline.emphasis.tokenize)
strikethrough = _with_east_asian_flanking(rules_inline.strikethrough.tokenize)


def joins_lines(tokens: Sequence[Token], index: int) -> bool:
    """Return whether the two lines around the line break `tokens[index]` are joined without a space."""
    before = _adjacent_character(tokens, range(index - 1, -1, -1), -1)
    return _is_unspaced(before) and _is_unspaced(
        _adjacent_character(tokens, range(index + 1, len(tokens)), 0)
    )


def _adjacent_character(tokens: Sequence[Token], places: range, end: int) -> str:
    """Return the first text character at the indices `places`, or an empty string if other content is first.
    end: index in the text, 0 for its first character or -1 for its last."""
    for place in places:
        token = tokens[place]
        if token.type == "text" and token.content:
            return token.content[end]
        if token.type != "text" and not token.nesting:
            return ""
    return ""


def _is_unspaced(sign: str) -> bool:
    is_hangul = any(first <= sign <= last for first, last in _HANGUL)
    return bool(sign) and is_east_asian(sign) and not is_hangul
