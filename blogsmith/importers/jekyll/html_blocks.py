"""Where HTML ends: kramdown and CommonMark do not agree, so blocks are brought into a form that both read
alike.

kramdown leaves block elements alone up to their end, blank lines and indentation included. CommonMark ends
them at a blank line, and what is indented behind that is code. Elements of a line, such as `<br>`, begin a
block of HTML in CommonMark where they are all that stands in the first line of a paragraph.
"""

from __future__ import annotations

import re

from ...base.patterns import lazy_pattern
from ..text.elements import BLOCKS, ElementEnds
from ..text.pieces import Pieces

_FENCE = lazy_pattern(
    r"^(?P<indent>[ \t>]*)(?P<mark>`{3,}|~{3,})[^\n]*\n(?:(?!(?P=indent)[ \t]{0,3}(?P=mark))[^\n]*\n)*"
    r"(?P=indent)[ \t]{0,3}(?P=mark)[`~]*[ \t]*$",
    re.MULTILINE,
)
_VERBATIM = lazy_pattern(r"<(pre|script|style|textarea)\b[\s\S]*?</\1\s*>|<!--[\s\S]*?-->", re.IGNORECASE)
_PARSES = lazy_pattern(r"\{::options[^{}]*\bparse_block_html=[\"']true[\"'][^{}]*/\}")
_HOLDER = lazy_pattern(
    r"^([ \t]*<(?:article|aside|blockquote|center|details|div|footer|header|main|section)\b)"
    r"(?![^<>]*\smarkdown\s*=)(?=[^<>]*>)",
    re.MULTILINE | re.IGNORECASE,
)
"""The start of an element in which there are blocks."""
_START = lazy_pattern(rf"^[ ]{{0,3}}(?=<(?:{'|'.join(sorted(BLOCKS))})\b)", re.MULTILINE | re.IGNORECASE)
_INDENTED_TAG = lazy_pattern(r"^[ \t]+(?=</?[A-Za-z])", re.MULTILINE)
_INDENTED = lazy_pattern(r"^[ \t]+", re.MULTILINE)
_BLANK = lazy_pattern(r"\n[ \t]*(?=\n)")
_HTML_LINE = lazy_pattern(
    rf"^[ \t>]{{0,8}}</?(?:{'|'.join(sorted(BLOCKS))}|tr|td|th|tbody|summary|figcaption)\b",
    re.MULTILINE | re.IGNORECASE,
)
_MARKDOWN = lazy_pattern(r"\n[ \t]*\n(?:#{1,6} |[-*+] \S|\d+\. |[\ue000\ue010\ue014]|>|[^\n<]*(?:\]\(|\*\*))")
"""A block of Markdown at the margin, behind a blank line: fences among them are marks."""
_FOLLOWED = lazy_pattern(r"[ \t]*\n(?=[ \t]*[^\s<])")
_LONE_TAG = lazy_pattern(
    r"(?:(?<=\n\n)|\A)([ ]{0,3}</?(?:br|span|a|b|i|em|strong|small|font|sup|sub|u|img|big|mark|kbd|d-[a-z]+)"
    r"\b[^<>\n]*>)"
    r"[ \t]*\n(?=[ \t]*\S)",
    re.IGNORECASE,
)


def ask_for_markdown(text: str, *, is_default: bool) -> str:
    """The text in which HTML asks for Markdown by itself where an option does so for all that follows.

    is_default: whether the site's settings do. Source: kramdown, option `parse_block_html`.
    """
    start = 0 if is_default else -1
    if start < 0 and (option := _PARSES.search(text)):
        start = option.end()
    if start < 0:
        return text
    hidden = Pieces("\ue014\ue015")
    text = text[:start] + hidden.hide(_VERBATIM, hidden.hide(_FENCE, text[start:]))
    return hidden.restore(text[:start] + _HOLDER.sub(r'\1 markdown="1"', text[start:]))


def settle_blocks(text: str) -> str:
    """The text with its HTML so that CommonMark ends it where kramdown does."""
    hidden = Pieces("\ue014\ue015")
    text = _FENCE.sub(lambda found: hidden.mask(found[0]), text)
    text = _VERBATIM.sub(lambda found: hidden.mask(found[0]), text)
    text = _LONE_TAG.sub(r"\1 ", text)
    parts: list[str] = []
    position = 0
    ends = ElementEnds(text)
    while found := _START.search(text, position):
        end = ends.of(found.end())
        if end is None:
            # it is never closed: as far as its first blank line
            blank = re.compile(r"\n[ \t]*\n").search(text, found.end())
            end = blank.start() if blank else len(text)
        parts += [text[position : found.start()], _settled(text[found.end() : end])]
        position = end
        if _FOLLOWED.match(text, end):
            # the next line is a paragraph to kramdown
            parts.append("\n")
    parts.append(text[position:])
    return hidden.restore("".join(parts))


def has_markdown(html: str) -> bool:
    """Whether an element holds blocks that its author meant as Markdown, though it does not say so."""
    return _MARKDOWN.search(html) is not None


def stands_in_html(before: str) -> bool:
    """Whether what follows a text stands in a block of HTML, where Markdown is not read."""
    start = max(before.rfind("\n\n"), 0)
    return _HTML_LINE.search(before, start) is not None


def _settled(html: str) -> str:
    if re.search(r"\bmarkdown\s*=", html) or has_markdown(html):
        return _INDENTED_TAG.sub("", html)
    return _BLANK.sub("", _INDENTED.sub("", html))
