"""Callouts: a quote or paragraph that opens with `[!KIND]`, or with a text the site declares.

Text on the marker line is the title if more follows, else the body. `-` and `+` behind the marker
fold it; `{#thm-x}` at the end of the marker line names (and for theorem-like kinds numbers) it.
Runs on block tokens, before the inline rules: the title becomes an inline token of its own.
"""

from __future__ import annotations

import re

from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from msgspec import Struct

from ..base.diagnostics.model import TextMap, question_of
from ..base.patterns import lazy_pattern
from .kinds import MARGIN
from .records import Callout, attach_record, record_of
from .references.labels import normal_id
from .state import KindRow, PageState, page_of

_MARKER = lazy_pattern(r"\[!([A-Za-z][\w-]*)\]([-+]?)(?![(\[])[ \t]*")
_ID = lazy_pattern(r"[ \t]*\{#([\w:.-]+)\}[ \t]*$")

_OPENINGS = frozenset({"blockquote_open", "paragraph_open"})


class Marker(Struct, frozen=True):
    """The marker line of a callout, taken apart."""

    callout: Callout
    title: TextMap | None
    """The author's title."""
    body: TextMap | None
    """What is left of the paragraph for the body."""


def callouts(state: StateCore) -> None:
    """Core rule: turn quotes and paragraphs with a marker into callout tokens."""
    page = page_of(state.env)
    tokens = state.tokens
    closing: dict[int, Callout] = {}
    result: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        marker = _marker_at(tokens, index, page) if token.type in _OPENINGS else None
        if marker is None:
            if index in closing:
                result.extend(_close(closing[index], token))
            else:
                result.append(token)
            index += 1
            continue
        quote = token.type == "blockquote_open"
        result.extend(_open(marker, token))
        if marker.body:
            result.extend(_paragraph(tokens[index + quote : index + quote + 3], marker.body))
        if quote:
            closing[_closing_index(tokens, index)] = marker.callout
            index += 4
        else:
            result.extend(_close(marker.callout, token))
            index += 3
    state.tokens = result


def _marker_at(tokens: list[Token], index: int, page: PageState) -> Marker | None:
    """The marker when a callout starts at `tokens[index]`."""
    quote = tokens[index].type == "blockquote_open"
    first = index + 1 if quote else index
    if first >= len(tokens) or tokens[first].type != "paragraph_open":
        return None
    inline = tokens[first + 1]
    found = _MARKER.match(inline.content)
    if not found:
        return _prefix_marker(record_of(inline, TextMap), page)
    kind = page.options.kinds.get(found[1].casefold())
    # `[!x] text` in ordinary prose is prose unless it names a kind or shouts like one
    if kind is None and not quote and not found[1].isupper():
        return None
    more = quote and tokens[first + 3].type != "blockquote_close"
    return _read(inline, found, kind, page, more)


def _prefix_marker(text: TextMap, page: PageState) -> Marker | None:
    """A paragraph that opens with a declared text such as `💡 Key insight:`, bold or not."""
    for prefix, name in page.options.prefixes:
        for opening in (prefix, f"**{prefix}**"):
            if text.text.startswith(opening):
                kind = page.options.kinds[name]
                start = len(text.text) - len(text.text[len(opening) :].lstrip())
                body = text.cut(start, len(text.text)) if start < len(text.text) else None
                return Marker(_callout(kind), None, body)
    return None


def _read(inline: Token, found: re.Match[str], kind: KindRow | None, page: PageState, more: bool) -> Marker:
    text = record_of(inline, TextMap)
    if kind is None and found[1].casefold() == MARGIN.name:
        # its place is all that a fold could hide
        return _read(inline, found, MARGIN, page, more)
    if kind is None:
        kind = KindRow(found[1].casefold(), found[1].capitalize())
        near, place = _nearest_kind(found[1], page), text.place(found.start(1), len(found[1]))
        hint = question_of(near) or "declare it under callouts: in blogsmith.yaml"
        fix = page.reporter.substitute(place, found[1], near)
        page.reporter.warn("callout-kind", f"unknown callout kind {found[1]}", place, hint, fix)
    line_end = text.text.find("\n")
    line_end = len(text.text) if line_end < 0 else line_end
    named = _ID.search(text.text, found.end(), line_end)
    stop = named.start() if named else line_end
    head = text.cut(found.end(), stop) if text.text[found.end() : stop].strip() else None
    rest = text.cut(line_end + 1, len(text.text)) if line_end < len(text.text) else None
    titled = head is not None and (rest is not None or more)
    fold = "" if kind is MARGIN else found[2]
    callout = _callout(kind, fold=fold, id=normal_id(named[1]) if named else "", titled=titled)
    return Marker(callout, head if titled else None, rest if titled or head is None else head)


def _nearest_kind(written: str, page: PageState) -> str | None:
    near = page.reporter.nearest(written, page.options.kinds)
    return near.upper() if near and written.isupper() else near


def _callout(kind: KindRow, *, fold: str = "", id: str = "", titled: bool = False) -> Callout:
    return Callout(kind.name, kind.title, fold, id, titled=titled, icon=kind.icon, color=kind.color)


def _open(marker: Marker, source: Token) -> list[Token]:
    callout = marker.callout
    opening = Token("callout_open", "details" if callout.fold else "aside", 1, block=True)
    opening.map, opening.level = source.map, source.level
    attach_record(opening, callout)
    result = [opening]
    if marker.title:
        title_open = Token("callout_title_open", "p", 1, block=True)
        attach_record(title_open, callout)
        title_close = Token("callout_title_close", "p", -1, block=True)
        attach_record(title_close, callout)
        result += [title_open, _inline(marker.title, source), title_close]
    body = Token("callout_body_open", "div", 1, block=True)
    attach_record(body, callout)
    return [*result, body]


def _close(callout: Callout, source: Token) -> list[Token]:
    body = Token("callout_body_close", "div", -1, block=True)
    closing = Token("callout_close", "details" if callout.fold else "aside", -1, block=True)
    closing.level = source.level
    for token in (body, closing):
        attach_record(token, callout)
    return [body, closing]


def _paragraph(tokens: list[Token], text: TextMap) -> list[Token]:
    opening, old, closing = tokens
    # a callout in a tight list still holds a paragraph of its own
    opening.hidden = closing.hidden = False
    return [opening, _inline(text, old), closing]


def _inline(text: TextMap, source: Token) -> Token:
    inline = Token("inline", "", 0, content=text.text, map=source.map, children=[], block=True)
    attach_record(inline, text)
    return inline


def _closing_index(tokens: list[Token], index: int) -> int:
    depth = 0
    for at in range(index, len(tokens)):
        if tokens[at].type == "blockquote_open":
            depth += 1
        elif tokens[at].type == "blockquote_close":
            depth -= 1
            if depth == 0:
                return at
    raise AssertionError("the parser closes every quote it opens")
