"""Callouts: a blockquote or paragraph that starts with `[!KIND]`.

Text on the marker line is the title if more text follows, otherwise the body. `-` or `+` after the marker
makes the callout foldable. `{#thm-x}` at the end of the marker line sets its id, and numbers it if the kind
is theorem-like.

Runs on block tokens, before the inline rules: the title becomes an inline token of its own. `prefixes.py`
finds callouts without a marker. Failed attempts at a callout are reported after the inline rules, so that
`[NOTE]` with a link definition is a link.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from msgspec import Struct
from msgspec.structs import replace

from ..base.diagnostics.fixes import Fix, make_replacement
from ..base.diagnostics.model import Place, TextMap, format_suggestion
from ..base.patterns import lazy_pattern
from .kinds import MARGIN, SOLUTIONS
from .records import Callout, Math, attach_record, get_record
from .references.labels import normal_id
from .state import KindRow, PageState, get_page

_CODE = "callout-doubtful"
_BRACKETS = lazy_pattern(
    r"(?P<emphasis>[*_]{0,3})(?P<escape>\\?)\[[ \t]{0,3}(?P<bang>!*)[ \t]{0,3}(?P<kind>[A-Za-z][\w-]*)"
    r"[ \t]{0,3}[!:]?[ \t]{0,3}\\?\](?P=emphasis)(?P<fold>[-+]?)(?![(\[]):?"
)
_EMPHASIS = lazy_pattern(
    r"(?P<emphasis>\*{1,3}|_{1,3})(?P<kind>[A-Za-z][\w-]*)[ \t]*(?P<inside>[:.!—–]?)(?P=emphasis)"
    r"[ \t]*(?P<outside>[:—–]?)"
)
_CONTAINER_MARKS = lazy_pattern(r"(?:[ >\t]|[-+*]|\d{1,9}[.)])*")
_GITHUB = frozenset(("note", "tip", "important", "warning", "caution"))
"""GitHub's kinds. One of these words alone in bold or brackets is hardly ever part of a quotation."""


def doubtful_callouts(state: StateCore) -> None:
    """Warn about quotes that look like callouts, and about callouts without text (core rule)."""
    page = get_page(state.env)
    tokens = state.tokens
    opening = None
    for index, token in enumerate(tokens):
        if token.type == "callout_open":
            opening = token
        elif token.type == "callout_body_open" and tokens[index + 1].type == "callout_body_close" and opening:
            _warn_of_empty(opening, page)
        elif token.type == "math_display" and index and tokens[index - 1].type == "blockquote_open":
            _check_formula(token, page)
        # Most paragraphs start with a letter.
        elif token.content[:1] in ("[", "\\", "*", "_") and tokens[index - 1].type == "paragraph_open":
            is_quote = index > 1 and tokens[index - 2].type == "blockquote_open"
            _check_paragraph(token, page, is_quote=is_quote)


def _check_formula(token: Token, page: PageState) -> None:
    r"""Warn about `\[!NOTE\]` on a line of its own, which is parsed as a formula."""
    formula = get_record(token, Math)
    place = formula.origin.place(0)
    start = place.column - len(r"\[") - 1
    found = _BRACKETS.match(_line(page, place.line), start) if start >= 0 else None
    if found and found["bang"] and found["escape"] and found["kind"].casefold() in page.options.kinds:
        place = Place(place.line, start + 1, len(found[0]))
        marker = f"[!{found['kind'].upper()}]"
        fix = make_replacement(place.line, place.column, found[0], marker, is_safe=True)
        _warn(page, place, found[0], marker, fix)


def _check_paragraph(inline: Token, page: PageState, *, is_quote: bool) -> None:
    found = _BRACKETS.match(inline.content)
    if found is not None and _is_meant_marker(found, inline, page, is_quote=is_quote):
        is_certain = bool(found["bang"]) or found["kind"].isupper() or found["kind"].casefold() in _GITHUB
        _report(found, inline, page, is_safe=is_certain)
        return
    found = _EMPHASIS.match(inline.content) if is_quote else None
    if found is None or found["kind"].casefold() not in page.options.kinds:
        return
    if found["inside"] or found["outside"] or not _following_text(found):
        _report(found, inline, page, is_safe=found["kind"].casefold() in _GITHUB)


def _is_meant_marker(found: re.Match[str], inline: Token, page: PageState, *, is_quote: bool) -> bool:
    kind = found["kind"]
    is_known = kind.casefold() in page.options.kinds
    if inline.children and inline.children[0].type == "link_open":
        return False
    if found["bang"]:
        # Outside a quote, the backslash shows that the author wants literal text.
        is_escaped = bool(found["escape"]) and not found[0].rstrip("-+:").endswith("\\]")
        return (is_known or kind.isupper()) and (is_quote or not is_escaped)
    # `> [Note] that` may be an insertion by the editor of a quotation.
    return is_quote and is_known and (kind.isupper() or found[0].endswith(":") or not _following_text(found))


def _following_text(found: re.Match[str]) -> str:
    """Return the text from the end of a match to the end of its line."""
    return found.string[found.end() :].split("\n", 1)[0].strip()


def _report(found: re.Match[str], inline: Token, page: PageState, *, is_safe: bool) -> None:
    origin = get_record(inline, TextMap)
    written = found[0].rstrip()
    place = origin.place(0, len(written))
    marker = f"[!{found['kind'].upper()}]{found.groupdict().get('fold') or ''}"
    _warn(page, place, written, marker, _fix(found, marker, place, page, is_safe=is_safe))


def _warn(page: PageState, place: Place, written: str, marker: str, fix: Fix | None) -> None:
    page.reporter.warn(_CODE, f'"{written}" does not open a callout', place, f"write `> {marker}`", fix)


def _fix(found: re.Match[str], marker: str, place: Place, page: PageState, *, is_safe: bool) -> Fix | None:
    """Return a fix that writes the marker, or None if it is unclear how a new line must begin. The text after
    the marker goes to the next line, where it is always the body."""
    text = _following_text(found)
    has_own_syntax = "escape" in found.groupdict() and found["bang"] and not found["escape"]
    if not text or has_own_syntax:
        blank = " " if text else ""
        old = found[0] + (" " if found.string[found.end() : found.end() + 1] == " " else "")
        return make_replacement(
            place.line, place.column, old, f"{marker}{blank}", title=f"write {marker}", is_safe=is_safe
        )
    line = _line(page, place.line)
    marks = line[: place.column - 1]
    if not _CONTAINER_MARKS.fullmatch(marks):
        return None
    old = line[place.column - 1 :]
    # The next line of a list item is indented.
    indent = re.sub(r"[^ >\t]", " ", marks)
    new = f"{marker}\n{indent}{text}"
    return make_replacement(place.line, place.column, old, new, title=f"write {marker}", is_safe=is_safe)


def _line(page: PageState, number: int) -> str:
    """Return a line of the file by its 1-based number, or an empty string after the last line."""
    lines = page.reporter.lines
    return lines[number - 1] if number <= len(lines) else ""


def _warn_of_empty(token: Token, page: PageState) -> None:
    callout = get_record(token, Callout)
    line = page.first_line + (token.map or [0])[0]
    source = _line(page, line)
    start = len(source) - len(source.lstrip(" >\t"))
    place = Place(line, start + 1, max(1, len(source.rstrip()) - start))
    hint = "start each line of its text with `>`"
    page.reporter.warn(_CODE, f'missing text in callout "{callout.kind}"', place, hint)


# The optional colon is for authors who are used to link definitions.
_MARKER = lazy_pattern(r"\[!([A-Za-z][\w-]*)(\|[^\[\]\n]{0,80})?\]([-+]?)(?![(\[]):?[ \t]*")
_HEADING = lazy_pattern(r"(#{1,6}[ \t]+)(\S)")
_FOR = r"for=\"?(?P<{}>[\w:.-]+)\"?"
_ID = lazy_pattern(
    rf"[ \t]*\{{(?:#(?P<id>[\w:.-]+)(?:[ \t]+{_FOR.format('second')})?|{_FOR.format('first')})\}}[ \t]*$"
)

_BRACES = lazy_pattern(r"(?<!\S)\{(?=[#.\w])[^{}\n]{0,80}\}[ \t]*$")
"""Matches an attribute list at the end of a marker line that `_ID` does not accept."""
_LABEL = lazy_pattern(r"(?:(?<=\{)|(?<=\s))#([\w:.-]+)")

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
    braces = None if named else _BRACES.search(text.text, found.end(), line_end)
    label = _report_braces(text, braces, kind, page) if braces else named and named["id"]
    ends = named or (braces if label else None)
    stop = ends.start() if ends else line_end
    head = text.cut(found.end(), stop) if text.text[found.end() : stop].strip() else None
    _warn_of_heading(text, found.end(), page)
    rest = text.cut(line_end + 1, len(text.text)) if line_end < len(text.text) else None
    titled = head is not None and (rest is not None or more)
    fold = "" if kind is MARGIN else found[3]
    callout = make_callout(kind, fold=fold, id=normal_id(label or ""), titled=titled)
    if named and (owner := named["first"] or named["second"]):
        place = text.place(named.start("first" if named["first"] else "second"), len(owner))
        if kind.name in SOLUTIONS:
            callout = replace(callout, exercise=normal_id(owner), exercise_place=place)
        elif kind is MARGIN or kind.name in page.options.kinds:
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


def _report_braces(text: TextMap, found: re.Match[str], kind: KindRow, page: PageState) -> str:
    """Warn about attributes after a callout marker that are not allowed there. Return the label among them,
    which the callout gets, or an empty string: then the attributes are text."""
    written = found[0].rstrip()
    label = _LABEL.search(written)
    if not label and ("=" not in written or "$" in text.text[: found.start()]):
        return ""
    hint = "remove it; a label is written as `{#name}`"
    if label:
        hint = f"write only `{{#{label[1]}}}` here, and a class such as `{{.wide}}` on the line before"
    elif kind.name == "proof":
        hint = "name the statement in the title: `> [!PROOF] Proof of {@thm-x}`"
    message = f'"{written}" is not allowed after a callout marker'
    page.reporter.warn("foreign-syntax", message, text.place(found.start(), len(written)), hint)
    return label[1] if label else ""


def _warn_of_heading(text: TextMap, start: int, page: PageState) -> None:
    """Warn about `[!note] ## Title`, which shows the `##`, because the title is not a heading."""
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
