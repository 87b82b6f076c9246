"""Questions with answers, for structured data: folded callouts of kind FAQ with a title.

Answers are HTML with the few tags that search engines read there. Formulas are in linear form, because
neither TeX nor MathML is read. Source: developers.google.com, "FAQ (FAQPage) structured data".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from markdown_it.token import Token

from ..base.html_tags import read_text, remove_tags
from ..model.documents import FaqEntry
from ..syntax.headings import plain_text
from ..syntax.records import Callout, Math, XRef, get_record
from .citations.rules import RULES as CITATION_RULES
from .context import PageRendering
from .notes import reference

KIND = "faq"
_TAGS = frozenset(("p", "ul", "ol", "li"))


def page_faq(rendering: PageRendering, spoken: Mapping[int, str]) -> tuple[FaqEntry, ...]:
    """Return the questions of the page in order. A question inside the answer to another question is part of
    that answer. spoken: number of a value `{= … =}` → its plain text."""
    tokens = rendering.parsed.tokens
    quiet = rendering.copy_without_report()
    entries = []
    index = 0
    while index < len(tokens):
        if tokens[index].type == "callout_open" and _is_question(get_record(tokens[index], Callout)):
            end = _closing_index(tokens, index)
            # the title is one inline token between an opening and a closing token
            question = inline_text(quiet, tokens[index + 2].children or (), spoken)
            answer = _answer(quiet, tokens[index + 4 : end], spoken)
            if question and answer:
                entries.append(FaqEntry(question, answer))
            index = end
        index += 1
    return tuple(entries)


def inline_text(rendering: PageRendering, children: Sequence[Token], spoken: Mapping[int, str]) -> str:
    """Return inline tokens as one line of plain text, with references as the page prints them. rendering: a
    copy that reports nothing, because the page itself reports the errors. spoken: as in `page_faq`."""
    tokens = [link_as_text(rendering, token) if token.type == "xref" else token for token in children]
    return " ".join(plain_text(tokens, rendering.parsed.page, spoken).split())


def link_as_text(rendering: PageRendering, token: Token) -> Token:
    """Return a token of plain text to replace the token of a reference or citation."""
    if token.type == "xref":
        html = reference(rendering, get_record(token, XRef))
    else:
        html = CITATION_RULES[token.type](rendering, [token], 0)
    return Token("text", "", 0, content=read_text(html))


def _is_question(callout: Callout) -> bool:
    return callout.kind == KIND and callout.has_title and bool(callout.fold)


def _closing_index(tokens: Sequence[Token], start: int) -> int:
    depth = 0
    for index in range(start, len(tokens)):
        depth += {"callout_open": 1, "callout_close": -1}.get(tokens[index].type, 0)
        if not depth:
            return index
    raise AssertionError("each callout is closed")


def _answer(rendering: PageRendering, tokens: Sequence[Token], spoken: Mapping[int, str]) -> str:
    linear = rendering.parsed.page.options.linear_math
    html = []
    for token in tokens:
        if token.type == "inline":
            html.append(escape(inline_text(rendering, token.children or (), spoken), quote=False))
        elif token.type == "math_display":
            html.append(f"<p>{escape(linear(get_record(token, Math).tex), quote=False)}</p>")
        elif token.type in ("fence", "code_block"):
            html.append(f"<p>{escape(token.content.strip(), quote=False)}</p>")
        elif token.tag in _TAGS and token.nesting:
            if not token.hidden:
                html.append(f"<{token.tag}>" if token.nesting > 0 else f"</{token.tag}>")
        elif token.nesting < 0:
            # keeps the text of tables and other blocks apart
            html.append(" ")
    text = " ".join("".join(html).split()).replace("<p></p>", "")
    return text if remove_tags(text).strip() else ""
