"""Markdown as goldmark reads it → ours, but for formulas, links and shortcodes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ...base.patterns import lazy_pattern
from ...syntax.emoji import replace_emoji
from ..model import NoticeKind
from ..text.elements import Element, replace_blocks
from ..text.headings import demote_headings, repeated_title
from ..text.html_markdown import figure_of, video_of
from ..text.literals import literal_shortcodes
from ..text.segments import divide, rewrite, rewrite_segments
from .config import HugoConfig
from .fences import rewrite_fence
from .formulas import dialect_of

_MORE = lazy_pattern(r"<!--[ \t]*more[ \t]*-->", re.IGNORECASE)
_BLOCK_ATTRIBUTES = lazy_pattern(
    r"(?m)^(?P<line>[ \t>]*\S[^\n]*)\n[ \t>]*\{(?P<list>[.#]?[\w-][^{}\n]*)\}[ \t]*$"
)
_IMAGE = lazy_pattern(r"[ \t>]*(?:[-*+][ \t]+)?!\[[^\]]*\]\([^)]*\)[ \t]*")
_BLANK_LINES = lazy_pattern(r"\n(?:[ \t]*\n){2,}")
_KEPT = lazy_pattern(r"#[\w:-]+|(?:width|height)=\"?[\w.%]+\"?")
_WIKI = lazy_pattern(r"(?<!\\)(!?)\[\[([^\[\]\n]+)\]\](?!\()")
_STRUCK = lazy_pattern(r"(?<![~\\/])~(?![\s~])([^~\n]*[^~\s\\/])~(?!~)")
"""Not behind a slash: `https://host/~name/` is an address."""
_LOWERED = 4
"""Characters of what is lowered in a formula of chemistry."""
_MARK = lazy_pattern(r"(?<![=\\])==(?=\S)(?=[^\n=]+==)")
_FORMULA_FENCE = lazy_pattern(
    r"(?P<open>[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*)(?P<ticks>`{3,}|~{3,})[ \t]*(?:math|katex|mathjax)\b"
    r"[^\n`]*\n(?P<tex>[\s\S]*?)(?P<close>^[ \t>]*)(?P=ticks)(?P<end>[ \t]*\n?)",
    re.MULTILINE,
)
_DELIMITER = lazy_pattern(r"\$\$|\\\[|(?<!\\)\$")
_EXECUTED = lazy_pattern(
    r"(?m)\A([ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(?:`{3,}|~{3,}))[ \t]*\{\.?([\w+-]+)[^}\n]*\}[^\n]*$"
)


def rewrite_markdown(
    text: str,
    config: HugoConfig,
    *,
    title: str,
    notice: Callable[[NoticeKind, str, str, str], None],
) -> str:
    """A text in our Markdown.

    notice: takes kind, message, hint and what was removed.
    """
    dialect = dialect_of(config)
    if any(segment.kind == "comment" and _MORE.fullmatch(segment.text) for segment in divide(text, dialect)):
        notice("dropped", "<!--more--> has no meaning here: lists show the description", "", "")
        text = rewrite_segments(text, "comment", lambda comment: _MORE.sub("", comment), dialect)
    text = rewrite_segments(text, "block", _code_block, dialect)

    def prose(masked: str) -> str:
        if _setting(config, "parser", "attribute", "block") is True:
            masked = _BLOCK_ATTRIBUTES.sub(_attributes, masked)
        if repeated := repeated_title(masked, title):
            notice("dropped", "a heading that repeats the title", "", repeated)
            masked = masked.replace(repeated, "", 1)
        masked = demote_headings(masked)
        if config.value("enableemoji") is True:
            masked = replace_emoji(masked)
        masked = replace_blocks(masked, _html)
        return _BLANK_LINES.sub("\n\n", _literal(_extras(masked, config), config))

    return rewrite(text, prose, dialect)


def _code_block(block: str) -> str:
    """A block of code in our words; one in the language of formulas is a formula."""
    fence = _FORMULA_FENCE.fullmatch(block)
    if fence is None:
        return rewrite_fence(_shown_code(block))
    # delimiters of its own, as some themes want them inside
    mark = "" if _DELIMITER.search(fence["tex"]) else "$$"
    return f"{fence['open']}{mark}\n{fence['tex']}{fence['close']}{mark}{fence['end']}"


def _shown_code(block: str) -> str:
    """A block whose language stands in braces: shown there, and run here."""
    return _EXECUTED.sub(r"\1\2", block)


def _html(element: Element, indent: str) -> str:
    """A block of HTML in Markdown where it is a film or a picture."""
    if video := video_of(element):
        return f"\n\n{video}\n\n"
    found = figure_of(element)
    if found and not (found.link and found.caption):
        return f"\n\n{found.markdown()}\n\n"
    return element.source()


def _setting(config: HugoConfig, *names: str) -> Any:
    return config.value("markup", "goldmark", *names)


def _attributes(found: re.Match[str]) -> str:
    """Attributes below a block: those of a picture stand behind it, others only give it a look."""
    kept = _KEPT.findall(found["list"])
    is_image = _IMAGE.fullmatch(found["line"])
    return f"{found['line'].rstrip()}{{{' '.join(kept)}}}" if kept and is_image else found["line"]


def _extras(masked: str, config: HugoConfig) -> str:
    """Inserted, lowered and raised text, where the site has them."""
    for name, pattern, shown in (
        ("insert", r"(?<!\+)\+\+(?=\S)([^+\n]+)\+\+(?!\+)", r"<ins>\1</ins>"),
        ("subscript", r"(?<!~)~(?=\S)([^~\s]+)~(?!~)", r"<sub>\1</sub>"),
        ("superscript", r"(?<!\^|\[)\^(?=\S)([^^\s]+)\^(?!\^)", r"<sup>\1</sup>"),
    ):
        if _setting(config, "extensions", "extras", name, "enable") is True:
            masked = re.sub(pattern, shown, masked)
    return masked


def _struck(found: re.Match[str]) -> str:
    """What stands between single tildes: struck out in goldmark, and lowered as its author meant H~2~O."""
    before, text, after = found.string[: found.start()][-1:], found[1], found.string[found.end() :][:1]
    is_lowered = len(text) <= _LOWERED and (before.isalnum() or after.isalnum())
    return f"<sub>{text}</sub>" if is_lowered else f"~~{text}~~"


def _literal(masked: str, config: HugoConfig) -> str:
    """What is plain text to goldmark and something else here."""
    if _setting(config, "extensions", "strikethrough") is not False:
        masked = _STRUCK.sub(_struck, masked)
    masked = literal_shortcodes(masked)
    masked = _WIKI.sub(r"\1\\[[\2]]", masked)
    if _setting(config, "extensions", "extras", "mark", "enable") is not True:
        masked = _MARK.sub(r"\\==", masked)
    return masked
