"""Blocks in the middle of a paragraph: the paragraph is split around them.

`text $$x$$ text` becomes paragraph, display, paragraph, so that no `<div>` is inside a `<p>`. Inline elements
open at that point (emphasis, a link) are closed before the block and opened again after it. In an element of
raw HTML, a display is not moved. Where only phrasing content is allowed (headings, titles), a display becomes
inline.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from msgspec import structs

from ...base.diagnostics.model import Reporter
from ...model.names import name_set
from ..html_nodes import is_line, is_phrasing, raw_tag
from ..records import Math, attach_record, get_record
from ..state import get_page

BLOCKS = frozenset({"math_display", "shortcode"})
"""Inline tokens that become blocks of the page."""

PHRASING = name_set("heading_open callout_title_open collapsible_label_open tab_open table_open")
"""Tokens whose text must not contain blocks."""


def split_paragraphs(state: StateCore) -> None:
    """Core rule, after the inline rules: end a paragraph before each display formula or block shortcode in
    it, and start a new one after it. In headings and other places where no block is allowed, make the block
    inline instead."""
    result: list[Token] = []
    tokens = state.tokens
    for index, token in enumerate(tokens):
        children = token.children or []
        if token.type == "inline" and token.content.endswith("\\"):
            _drop_break(token, tokens[index + 2] if index + 2 < len(tokens) else None)
        if token.type == "inline" and not BLOCKS.isdisjoint([child.type for child in children]):
            opening = tokens[index - 1] if index else token
            before = opening.type
            is_element = before == "markdown_open"
            _keep_in_elements(children, [opening.tag] if is_element and is_phrasing(opening.tag) else [])
            if before in PHRASING or (is_element and is_line(opening.tag)):
                _keep_inline(children, get_page(state.env).reporter)
            elif before == "paragraph_open":
                opening = result.pop()
                result.extend(_split(opening, token, tokens[index + 1]))
                continue
        result.append(token)
    state.tokens = [t for t in result if t.type != "_dropped"]


def _drop_break(inline: Token, following: Token | None) -> None:
    """Remove a backslash at the end of the line before a display, because the display starts on a new line
    anyway."""
    is_break = (len(inline.content) - len(inline.content.rstrip("\\"))) % 2 == 1
    last = inline.children[-1] if inline.children else None
    if not is_break or last is None or last.type != "text" or following is None:
        return
    if (
        following.type == "math_display"
        and inline.map
        and following.map
        and inline.map[1] == following.map[0]
    ):
        last.content = last.content.removesuffix("\\").rstrip()


def _keep_inline(children: list[Token], reporter: Reporter) -> None:
    for child in children:
        if child.type == "math_display":
            child.type = "math_inline"
            attach_record(child, structs.replace(get_record(child, Math), display=False))
        elif child.type == "shortcode":
            place = child.meta["shortcode"].place
            message = (
                f'shortcode "{child.meta["shortcode"].name}" is not allowed in a heading, title or caption'
            )
            reporter.error("shortcode-place", message, place, "put it in a paragraph of its own")


def _keep_in_elements(children: list[Token], elements: list[str]) -> None:
    """Mark displays inside elements of raw HTML, because these elements cannot be split. elements: Names of
    the open elements; this function adds and removes names."""
    for child in children:
        if child.type == "math_display" and elements:
            attach_record(child, structs.replace(get_record(child, Math), is_phrasing=True))
        elif child.type == "html_inline":
            name, is_end = raw_tag(child.content)
            if is_end and name in elements:
                elements.remove(name)
            elif not is_end and is_phrasing(name):
                elements.append(name)


def _is_phrasing(token: Token) -> bool:
    return token.type == "math_display" and get_record(token, Math).is_phrasing


def _split(opening: Token, inline: Token, closing: Token) -> Iterator[Token]:
    """Yield the parts of a paragraph. Its closing token is marked for removal."""
    for part in _parts(inline.children or []):
        if len(part) == 1 and part[0].type in BLOCKS:
            block = part[0]
            block.block, block.map, block.level = True, inline.map, opening.level
            if "class" in opening.attrs:
                block.attrSet("class", opening.attrs["class"])
            yield block
        elif any(t.content.strip() or t.type not in ("text", "softbreak", "hardbreak") for t in part):
            yield from _paragraph(opening, inline, closing, part)
    closing.type = "_dropped"


def _parts(children: list[Token]) -> Iterator[list[Token]]:
    """Yield each block by itself, and the inline tokens between blocks with all their elements closed."""
    part: list[Token] = []
    open_tokens: list[Token] = []
    for token in children:
        if token.type in BLOCKS and not _is_phrasing(token):
            yield _trim([*part, *(_closing(t) for t in reversed(open_tokens))])
            yield [token]
            part = [_copy_opening(t) for t in open_tokens]
            continue
        part.append(token)
        if token.nesting == 1:
            open_tokens.append(token)
        elif token.nesting == -1:
            open_tokens.pop()
    yield _trim(part)


def _closing(opening: Token) -> Token:
    return Token(opening.type.replace("_open", "_close"), opening.tag, -1, markup=opening.markup)


def _copy_opening(opening: Token) -> Token:
    # An id must be unique in a page, so only the first part keeps it.
    attrs = {key: value for key, value in opening.attrs.items() if key != "id"}
    return replace(opening, attrs=attrs)


def _trim(part: list[Token]) -> list[Token]:
    """Return the part without line breaks and spaces at both ends, and without empty elements."""
    part = _without_empty(part)
    while part and part[0].type in ("softbreak", "hardbreak"):
        part = part[1:]
    while part and part[-1].type in ("softbreak", "hardbreak"):
        part = part[:-1]
    if part and part[0].type == "text":
        part[0] = replace(part[0], content=part[0].content.lstrip())
    if part and part[-1].type == "text":
        part[-1] = replace(part[-1], content=part[-1].content.rstrip())
    return part


def _without_empty(part: list[Token]) -> list[Token]:
    result: list[Token] = []
    for token in part:
        if token.nesting == -1 and result and result[-1].nesting == 1:
            result.pop()
        else:
            result.append(token)
    return result


def _paragraph(opening: Token, inline: Token, closing: Token, part: list[Token]) -> Iterator[Token]:
    yield replace(opening)
    yield replace(inline, children=part, content=inline.content)
    yield Token("paragraph_close", "p", -1, block=True, hidden=opening.hidden, level=closing.level)
