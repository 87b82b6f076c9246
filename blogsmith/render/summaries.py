"""The beginning of a page, which lists and cards show if the author wrote no description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markdown_it.token import Token

from ..model.texts import DESCRIPTION_LENGTH
from .context import PageRendering
from .faq import inline_text, link_as_text
from .numbers import html_within_links

_KEPT = frozenset(("text", "math_inline", "code_inline", "softbreak", "hardbreak"))
"""Inline tokens that a summary in HTML keeps, besides pairs such as `strong_open` and `strong_close`."""
_FORMULA_LENGTH = 0.5
"""Approximate width of a typeset formula, in characters of text per character of its TeX."""


def page_summary(rendering: PageRendering, spoken: Mapping[int, str]) -> tuple[str, str]:
    """Return the first paragraph with text, as plain text with references as the page prints them, and its
    first words as HTML. The HTML is empty if these words contain no formula, because it would equal the text.
    Footnote marks are omitted. If the paragraph's sentence continues after it, as in a display formula, it
    ends in "…"."""
    quiet = rendering.copy_without_report()
    tokens = rendering.parsed.tokens
    for number, inline in enumerate(tokens):
        is_paragraph = inline.type == "inline" and tokens[number - 1].type == "paragraph_open"
        if not is_paragraph:
            continue
        children = _without_marks(quiet, inline.children or ())
        if text := inline_text(quiet, children, spoken):
            following = tokens[number + 2].type if number + 2 < len(tokens) else ""
            children, text = _finished(children, text, continues=following == "math_display")
            first = _first_words(children, DESCRIPTION_LENGTH)
            has_formula = any(child.type == "math_inline" for child in first)
            return text, html_within_links(quiet, first) if has_formula else ""
    return "", ""


def _without_marks(rendering: PageRendering, children: Sequence[Token]) -> list[Token]:
    """Return the inline tokens without footnote marks. References and citations become plain text."""
    kept: list[Token] = []
    for child in children:
        if child.type == "footnote_ref":
            if kept and kept[-1].type == "text":
                kept[-1] = Token("text", "", 0, content=kept[-1].content.rstrip())
        else:
            kept.append(link_as_text(rendering, child) if child.type in ("xref", "citation") else child)
    return kept


def _finished(children: list[Token], text: str, *, continues: bool) -> tuple[list[Token], str]:
    """Return the tokens and the text, with "…" at the end if the sentence continues after the paragraph.
    continues: whether a display formula follows."""
    if not text.endswith((":", ",")) and not (continues and text[-1].isalnum()):
        return children, text
    last = children[-1]
    if last.type == "text":
        children = [*children[:-1], Token("text", "", 0, content=last.content.rstrip(" ,:"))]
    return [*children, Token("text", "", 0, content=" …")], text.rstrip(" ,:") + " …"


def _first_words(children: Sequence[Token], length: int) -> list[Token]:
    """Return the tokens of the first words, at most `length` characters. Empty if a token of them is of a
    type that summaries do not keep, such as an image."""
    kept: list[Token] = []
    closings: list[Token] = []
    left = float(length)
    for child in children:
        if child.nesting == 1:
            closings.append(Token(child.type.replace("_open", "_close"), child.tag, -1, markup=child.markup))
        elif child.nesting == -1:
            closings.pop()
        elif child.type not in _KEPT:
            return []
        size = len(child.content) * (_FORMULA_LENGTH if child.type == "math_inline" else 1)
        if size > left:
            if child.type == "text":
                words = child.content[: int(left)].rpartition(" ")[0]
                kept.append(Token("text", "", 0, content=words.rstrip(" ,;:")))
            return [*kept, Token("text", "", 0, content=" …"), *reversed(closings)]
        left -= size
        kept.append(child)
    return kept
