"""Attribute lists: `{#id .class key=value}`.

A list follows an image, link, inline code or `[span]`, ends a heading, or is on a line of its own before a
block. Only harmless attributes are accepted (`ALLOWED`, `data-…`, `aria-…`). Any other attribute is an error
and is never dropped silently.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from msgspec import Struct, field

from ..base.diagnostics.model import Place, format_suggestion, list_choices
from ..base.patterns import lazy_pattern
from ..model.letters import IN_NAMES
from .references.labels import normal_id
from .state import PageState, block_place, get_page, inline_place, line_text

ALLOWED = frozenset({"id", "class", "width", "height", "title", "lang", "dir", "loading", "rel", "download"})
ALLOWED_NAMES = (*sorted(ALLOWED), "data-*", "aria-*")
"""Names for hints; `*` is any text."""

_ITEM = lazy_pattern(
    rf"[ \t\n]*(?:#(?P<id>[{IN_NAMES}:.-]+)|\.(?P<class>[\w-]+)"
    r"|(?P<key>[A-Za-z][\w:-]*)=(?:\"(?P<quoted>[^\"]*)\"|'(?P<single>[^']*)'|(?P<bare>[^\s\"'}<>]+)))"
)
_HOSTS = ("image", "code_inline", "link_close", "span_close")


class Attributes(Struct, frozen=True):
    """A parsed attribute list."""

    end: int
    """Index after the closing brace."""
    id: str = ""
    classes: tuple[str, ...] = ()
    pairs: dict[str, str] = field(default_factory=dict)
    offsets: dict[str, int] = field(default_factory=dict)
    """Key of a pair → its distance from the opening brace, in characters."""


def parse_attributes(text: str, pos: int = 0, opening: int = 1) -> Attributes | None:
    """Return the attribute list whose `{` is at `pos`, or None if there is none. opening: number of
    characters before the first entry; 2 for kramdown's `{:`."""
    if not text.startswith("{", pos):
        return None
    at, name, classes, pairs, offsets = pos + opening, "", [], {}, {}
    while found := _ITEM.match(text, at):
        at = found.end()
        if found["id"]:
            name = normal_id(found["id"])
        elif found["class"]:
            classes.append(found["class"])
        else:
            values = (found["quoted"], found["single"], found["bare"])
            pairs[found["key"]] = next((v for v in values if v is not None), "")
            offsets[found["key"]] = found.start("key") - pos
    closing = re.compile(r"[ \t\n]*\}").match(text, at)
    if not closing or at == pos + opening:
        return None
    return Attributes(closing.end(), name, tuple(classes), pairs, offsets)


def apply_attributes(token: Token, attributes: Attributes, page: PageState, place: Place) -> None:
    """Set the attributes of the list on `token`. Report attributes that are not allowed."""
    if attributes.id:
        token.attrSet("id", attributes.id)
    for name in attributes.classes:
        token.attrJoin("class", name)
    for key, value in attributes.pairs.items():
        if key in ALLOWED or key.startswith(("data-", "aria-")):
            token.attrSet(key, value)
        else:
            near, at = page.reporter.nearest(key, ALLOWED), _key_place(key, attributes, place)
            hint = format_suggestion(near) or f"remove it, or {list_choices(ALLOWED_NAMES)}"
            fix = page.reporter.correct(at, key, near)
            page.reporter.error("attribute", f'attribute "{key}" is not allowed here', at, hint, fix)


def _key_place(key: str, attributes: Attributes, place: Place) -> Place:
    """Return the position of `key`, or of the whole list if the key is on a later line."""
    offset = attributes.offsets[key]
    return Place(place.line, place.column + offset, len(key)) if offset < place.length else place


def attributes_inline(state: StateInline, silent: bool) -> bool:
    """Parse an attribute list directly after an element that accepts one (inline rule)."""
    if state.src[state.pos] != "{" or state.pending or not state.tokens:
        return False
    if state.tokens[-1].type not in _HOSTS:
        return False
    text = state.src[: state.posMax]
    found = parse_attributes(text, state.pos)
    if found is None and state.tokens[-1].type == "image":
        found = _kramdown_list(text, state.pos)
    if found is None:
        return False
    if not silent:
        token = _opening(state.tokens)
        apply_attributes(token, found, get_page(state.env), inline_place(state, state.pos, found.end))
    state.pos = found.end
    return True


def _kramdown_list(text: str, pos: int) -> Attributes | None:
    """Parse `{: .dark }`, kramdown's list for an image. Return None if it has unsupported attributes."""
    if not text.startswith("{:", pos):
        return None
    found = parse_attributes(text, pos, 2)
    is_known = found and all(key in ALLOWED or key.startswith("data-") for key in found.pairs)
    return found if is_known else None


def _opening(tokens: list[Token]) -> Token:
    """Return the opening token of the element that the last token closes."""
    depth = 0
    for token in reversed(tokens):
        depth += token.nesting
        if depth == 0:
            return token
    return tokens[-1]


def parse_span(state: StateInline, silent: bool) -> bool:
    """Parse `[text]{.class}` (inline rule)."""
    if state.src[state.pos] != "[" or not get_page(state.env).allows_links:
        return False
    label_end = state.md.helpers.parseLinkLabel(state, state.pos, False)
    if label_end < 0 or label_end + 1 >= state.posMax:
        return False
    if parse_attributes(state.src[: state.posMax], label_end + 1) is None:
        return False
    if not silent:
        start, maximum = state.pos, state.posMax
        state.pos, state.posMax = start + 1, label_end
        state.push("span_open", "span", 1)
        state.md.inline.tokenize(state)
        state.push("span_close", "span", -1)
        state.posMax = maximum
    state.pos = label_end + 1
    return True


def attributes_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse an attribute list alone on a line, which applies to the block after the list (block rule)."""
    if state.is_code_block(start):
        return False
    text = line_text(state, start).rstrip()
    found = parse_attributes(text)
    if found is None or found.end != len(text) or start + 1 >= end or state.isEmpty(start + 1):
        return False
    if silent:
        return True
    token = state.push("attributes", "", 0)
    token.map = [start, start + 1]
    token.meta["attributes"] = found
    token.meta["place"] = block_place(state, state.bMarks[start] + state.tShift[start], len(text))
    state.line = start + 1
    return True


def resolve_blocks(state: StateCore) -> None:
    """Apply each attribute list that is alone on its line to the token after the list (core rule)."""
    page = get_page(state.env)
    state.tokens = list(_resolve(state.tokens, page))


def _resolve(tokens: list[Token], page: PageState) -> Iterator[Token]:
    waiting: list[Token] = []
    for token in tokens:
        if token.type == "attributes":
            waiting.append(token)
            continue
        if waiting and token.nesting >= 0:
            for source in waiting:
                apply_attributes(token, source.meta["attributes"], page, source.meta["place"])
            waiting = []
        yield token


def attribute_rules(md: MarkdownIt) -> None:
    """Register the rules for attribute lists."""
    md.inline.ruler.after("link", "span", parse_span)
    md.inline.ruler.push("attributes", attributes_inline)
    md.block.ruler.before(
        "fence", "attributes", attributes_block, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
