"""Callouts: a blockquote or paragraph that starts with `[!KIND]`.

Text on the marker line is the title if more text follows, otherwise the body. `-` or `+` after the marker
makes the callout foldable. `{#thm-x}` at the end of the marker line sets its id, and numbers it if the kind
is theorem-like.

Runs on block tokens, before the inline rules: the title becomes an inline token of its own. `prefixes.py`
finds callouts without a marker, `doubtful_callouts.py` finds failed attempts at a callout.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from msgspec import Struct
from msgspec.structs import replace

from ..base.diagnostics.model import TextMap, format_suggestion
from ..base.patterns import lazy_pattern
from .kinds import MARGIN, SOLUTIONS
from .records import Callout, attach_record, get_record
from .references.labels import normal_id
from .state import KindRow, PageState, get_page

# The optional colon is for authors who are used to link definitions.
_MARKER = lazy_pattern(r"\[!([A-Za-z][\w-]*)(\|[^\[\]\n]{0,80})?\]([-+]?)(?![(\[]):?[ \t]*")
_HEADING = lazy_pattern(r"(#{1,6}[ \t]+)(\S)")
_FOR = r"for=\"?(?P<{}>[\w:.-]+)\"?"
_ID = lazy_pattern(
    rf"[ \t]*\{{(?:#(?P<id>[\w:.-]+)(?:[ \t]+{_FOR.format('second')})?|{_FOR.format('first')})\}}[ \t]*$"
)

_OPENINGS = frozenset({"blockquote_open", "paragraph_open"})


class Marker(Struct, frozen=True):
    """The parsed opening of a callout."""

    callout: Callout
    title: Token | None = None
    """Inline token of the author's title; None if there is no title."""
    body: Token | None = None
    """Inline token of the rest of the paragraph; None if the paragraph has no more text."""


FindMarker = Callable[[Sequence[Token], int], Marker | None]
"""Function from (tokens, index of a `paragraph_open`) to the callout that starts in this paragraph, or None.
The paragraph is the first of a quote or is not in a quote."""


def callouts(state: StateCore) -> None:
    """Turn quotes and paragraphs with a marker into callout tokens (core rule)."""
    page = get_page(state.env)

    def find(tokens: Sequence[Token], first: int) -> Marker | None:
        return _find_marker(tokens, first, page)

    wrap_callouts(state, find)


def wrap_callouts(state: StateCore, find: FindMarker) -> None:
    """Turn each quote or paragraph for which `find` returns a marker into callout tokens."""
    tokens = state.tokens
    closing: dict[int, Callout] = {}
    result: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        quote = token.type == "blockquote_open"
        first = index + quote
        is_candidate = token.type in _OPENINGS and tokens[first].type == "paragraph_open"
        marker = find(tokens, first) if is_candidate else None
        if marker is None:
            if index in closing:
                result.extend(_close(closing[index], token))
            else:
                result.append(token)
            # The first paragraph of a quote was checked together with the quote.
            step = 1 + (quote and is_candidate)
            result.extend(tokens[index + 1 : index + step])
            index += step
            continue
        result.extend(_open(marker, token))
        if marker.body:
            result.extend(_paragraph(tokens[first : first + 3], marker.body))
        if quote:
            closing[_closing_index(tokens, index)] = marker.callout
            index += 4
        else:
            result.extend(_close(marker.callout, token))
            index += 3
    state.tokens = result


def _find_marker(tokens: Sequence[Token], first: int, page: PageState) -> Marker | None:
    """Return the marker if the paragraph at `tokens[first]` starts with `[!KIND]`, otherwise None."""
    inline = tokens[first + 1]
    found = _MARKER.match(inline.content)
    if not found:
        return None
    quote = first > 0 and tokens[first - 1].type == "blockquote_open"
    kind = page.options.kinds.get(found[1].casefold())
    # `[!x] text` in a paragraph is ordinary text unless it names a kind or is uppercase.
    if kind is None and not quote and not found[1].isupper():
        return None
    if found[2]:
        if kind is None:
            return None
        _warn_of_metadata(get_record(inline, TextMap), found, page)
    more = quote and tokens[first + 3].type != "blockquote_close"
    return _read(inline, found, kind, page, more)


def _read(inline: Token, found: re.Match[str], kind: KindRow | None, page: PageState, more: bool) -> Marker:
    text = get_record(inline, TextMap)
    if kind is None and found[1].casefold() == MARGIN.name:
        # Margin notes ignore the fold marker: folding one would only hide its position.
        return _read(inline, found, MARGIN, page, more)
    if kind is None:
        kind = KindRow(found[1].casefold(), found[1].capitalize())
        near, place = _nearest_kind(found[1], page), text.place(found.start(1), len(found[1]))
        hint = format_suggestion(near) or f"add `{kind.name}: {{}}` under `callouts:` in blogsmith.yaml"
        fix = page.reporter.correct(place, found[1], near)
        page.reporter.warn("callout-kind", f'unknown callout kind "{found[1]}"', place, hint, fix)
    line_end = text.text.find("\n")
    line_end = len(text.text) if line_end < 0 else line_end
    named = _ID.search(text.text, found.end(), line_end)
    stop = named.start() if named else line_end
    head = text.cut(found.end(), stop) if text.text[found.end() : stop].strip() else None
    _warn_of_heading(text, found.end(), page)
    rest = text.cut(line_end + 1, len(text.text)) if line_end < len(text.text) else None
    titled = head is not None and (rest is not None or more)
    fold = "" if kind is MARGIN else found[3]
    callout = make_callout(kind, fold=fold, id=normal_id((named and named["id"]) or ""), titled=titled)
    if named and (owner := named["first"] or named["second"]):
        place = text.place(named.start("first" if named["first"] else "second"), len(owner))
        if kind.name in SOLUTIONS:
            callout = replace(callout, exercise=normal_id(owner), exercise_place=place)
        else:
            message = f'"for" has no effect because "{kind.name}" is not a kind of solution'
            page.reporter.warn("solution-exercise", message, place, "remove it, or write `[!SOLUTION]`")
    title, body = head if titled else None, rest if titled or head is None else head
    return Marker(callout, _inline(title, inline) if title else None, _inline(body, inline) if body else None)


def _warn_of_metadata(text: TextMap, found: re.Match[str], page: PageState) -> None:
    """Warn about Obsidian's `[!note|right]`, whose metadata has no effect here."""
    place = text.place(found.start(2), len(found[2]))
    fix = page.reporter.substitute(place, found[2], "", title=f"write [!{found[1]}]", is_safe=True)
    message = f'unsupported syntax: "{found[2]}" in a callout marker'
    page.reporter.warn("foreign-syntax", message, place, f"write `[!{found[1]}]`", fix)


def _warn_of_heading(text: TextMap, start: int, page: PageState) -> None:
    """Warn about `[!note] ## Title`, which shows the `##`: the title is not a heading."""
    found = _HEADING.match(text.text, start)
    signs = found[1].rstrip() if found else ""
    # `# of heads` means "number of heads".
    if found and (len(signs) > 1 or (found[2].isalpha() and not found[2].islower())):
        place = text.place(start, len(signs))
        fix = page.reporter.substitute(place, found[1], "", title=f'remove "{signs}"', is_safe=True)
        message = f'unsupported syntax: "{signs}" after a callout marker is text'
        page.reporter.warn("foreign-syntax", message, place, f"remove the `{signs}`", fix)


def _nearest_kind(written: str, page: PageState) -> str | None:
    near = page.reporter.nearest(written, page.options.kinds)
    return near.upper() if near and written.isupper() else near


def make_callout(kind: KindRow, *, fold: str = "", id: str = "", titled: bool = False) -> Callout:
    return Callout(
        kind.name,
        kind.title,
        fold,
        id,
        has_title=titled,
        icon=kind.icon,
        color=kind.color,
        is_statement=kind.numbered,
        style=kind.style,
    )


def _open(marker: Marker, source: Token) -> list[Token]:
    callout = marker.callout
    opening = Token("callout_open", "details" if callout.fold else "aside", 1, block=True)
    opening.map, opening.level = source.map, source.level
    opening.attrs = dict(source.attrs)
    attach_record(opening, callout)
    result = [opening]
    if marker.title:
        title_open = Token("callout_title_open", "p", 1, block=True)
        attach_record(title_open, callout)
        title_close = Token("callout_title_close", "p", -1, block=True)
        attach_record(title_close, callout)
        result += [title_open, marker.title, title_close]
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


def _paragraph(tokens: Sequence[Token], inline: Token) -> list[Token]:
    opening, _, closing = tokens
    # The parser hides paragraphs of tight lists; that of a callout must be visible.
    opening.hidden = closing.hidden = False
    return [opening, inline, closing]


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
