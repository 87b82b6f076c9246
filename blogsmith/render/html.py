"""Tokens → HTML: one function a token type, found in the tables of the files beside this one.

`render_body` is the whole stage: Parsed → Body. Token types without a rule here (paragraphs, lists,
emphasis) are printed by markdown-it's own renderer, which CommonMark's tests hold to the letter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import unescape
from itertools import pairwise
from types import MappingProxyType

from markdown_it.token import Token

from ..errors import Reporter
from ..model import Body, TocEntry, Weight
from ..syntax.headings import plain_text
from ..syntax.parser import Parsed
from ..syntax.records import Heading, XRef, get
from . import blocks, fences, figures, formulas, notes, prose, shortcodes
from .context import Rendering, Rule, Tools
from .ids import report_repeated_ids

RULES: Mapping[str, Rule] = MappingProxyType(
    {
        **prose.RULES,
        **formulas.RULES,
        **blocks.RULES,
        **figures.RULES,
        **fences.RULES,
        **notes.RULES,
        **shortcodes.RULES,
    }
)

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_TAG = re.compile(r"<[^<>]*>")
_REFERENCE = re.compile(r"<a [^<>]*\bhref=[^<>]*>(.*?)</a>", re.DOTALL)
_FORMULA_ID = re.compile(r'(<m[a-z]+[^<>]*?) id="[^"]*"')


def render_tokens(rendering: Rendering, tokens: Sequence[Token]) -> str:
    """HTML of a token stream, inline tokens included."""
    stock = rendering.stock
    out: list[str] = []
    starts: list[int] = []
    for index, token in enumerate(tokens):
        rule = RULES.get(token.type)
        if token.type == "footnote_open":
            starts.append(len(out))
        if rule is not None and not token.hidden:
            out.append(rule(rendering, tokens, index))
        elif token.type == "inline":
            out.append(_inline(rendering, tokens, index))
        else:
            out.append(stock.renderToken(tokens, index, rendering.tools.md.options, {}))
        if token.type == "paragraph_close" and out[-3:-1] == ["<p>", ""]:
            # a formula that only defines macros was all of it
            del out[-3:]
        if token.type == "footnote_close":
            start = starts.pop()
            out[start:] = [notes.with_back_links("".join(out[start:]), token)]
    return "".join(out)


def _inline(rendering: Rendering, tokens: Sequence[Token], index: int) -> str:
    children = tokens[index].children or []
    html = render_tokens(rendering, children)
    before = tokens[index - 1] if index else None
    if before is not None and before.type == "table_open":
        return blocks.caption(before, html)
    if before is not None and before.type == "th_open":
        return blocks.header_cell(rendering, children, html)
    return html


def render_body(parsed: Parsed, tools: Tools) -> Body:
    """The page's content, table of contents, plain text, and what is wrong with it."""
    source = parsed.document.source
    reporter = Reporter(str(source.path), source.text.split("\n"))
    front = parsed.document.front
    rendering = Rendering(
        parsed, tools, reporter, {**tools.config.math.macros, **front.math_macros}, render_tokens
    )
    # the title comes first in the page, so macros it defines count from there on
    title = _unlinked(render_tokens(rendering, parsed.title)) or prose.escaped(parsed.title_text)
    description = _unlinked(render_tokens(rendering, parsed.description))
    html = render_tokens(rendering, parsed.tokens)
    report_repeated_ids(html, reporter)
    text = body_text(parsed)
    return Body(
        html=html,
        title_html=title,
        title_text=parsed.title_text,
        description_html=description,
        description_text=plain_text(parsed.description, parsed.page),
        toc=table_of_contents(rendering),
        text=text,
        summary=_summary(rendering),
        weight=Weight(
            len(_WORD.findall(text)),
            rendering.formulas,
            rendering.code_lines,
            rendering.code_blocks,
            rendering.images,
        ),
        links=frozenset(rendering.links),
        widgets=frozenset(rendering.widgets),
        diagnostics=tuple(reporter.diagnostics),
    )


def body_text(parsed: Parsed) -> str:
    """The prose of the page as one line of plain text, formulas in linear form, without code."""
    pieces = [
        plain_text(token.children or (), parsed.page) for token in parsed.tokens if token.type == "inline"
    ]
    return " ".join(" ".join(pieces).split())


def _summary(rendering: Rendering) -> str:
    """The first paragraph that says something, as plain text; references as they are printed."""
    quiet = rendering.copy_without_report()
    tokens = rendering.parsed.tokens
    for before, inline in pairwise(tokens):
        if before.type == "paragraph_open" and inline.type == "inline":
            children = [_reference_as_text(quiet, token) for token in inline.children or ()]
            text = " ".join(plain_text(children, rendering.parsed.page).split())
            if text:
                return text
    return ""


def _reference_as_text(rendering: Rendering, token: Token) -> Token:
    if token.type != "xref":
        return token
    html = notes.reference(rendering, get(token, XRef))
    return Token("text", "", 0, content=unescape(_TAG.sub("", html)))


def table_of_contents(rendering: Rendering) -> tuple[TocEntry, ...]:
    """The headings as a tree; formulas typeset once more, ids only in the text itself."""
    flat: list[TocEntry] = []
    tokens = rendering.parsed.tokens
    quiet = rendering.copy_without_report()
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            heading = get(token, Heading)
            children = [_without_links(t) for t in tokens[index + 1].children or ()]
            html = _unlinked(render_tokens(quiet, [t for t in children if t is not None]))
            number = f'<span class="heading-number">{heading.number}</span> ' if heading.number else ""
            flat.append(TocEntry(heading.level, heading.id, number + html, heading.text))
    return _tree(flat)


def _unlinked(html: str) -> str:
    """`html` without links and ids of formulas: titles and entries stand in links, and on other pages."""
    return _FORMULA_ID.sub(r"\1", _REFERENCE.sub(r"\1", html))


def _without_links(token: Token) -> Token | None:
    """An entry is a link itself: links, notes and anchors inside it are left out."""
    dropped = ("link_open", "link_close", "footnote_ref", "citation", "html_inline", "image")
    if token.type in dropped:
        return None
    return (
        token.copy(attrs={k: v for k, v in token.attrs.items() if k != "id"})
        if "id" in token.attrs
        else token
    )


def _tree(flat: Sequence[TocEntry]) -> tuple[TocEntry, ...]:
    """Entries under the nearest entry above of a smaller level."""
    roots: list[TocEntry] = []
    index = 0
    while index < len(flat):
        end = index + 1
        while end < len(flat) and flat[end].level > flat[index].level:
            end += 1
        entry = flat[index]
        roots.append(TocEntry(entry.level, entry.id, entry.html, entry.text, _tree(flat[index + 1 : end])))
        index = end
    return tuple(roots)
