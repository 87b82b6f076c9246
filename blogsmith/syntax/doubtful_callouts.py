"""Blocks that were probably meant as callouts: near misses of `> [!NOTE]`, and callouts without text.

Runs after the inline rules, so that `[NOTE]` with a link definition is a link and no near miss.
"""

from __future__ import annotations

import re

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from ..base.diagnostics.fixes import Fix, make_replacement
from ..base.diagnostics.model import Place, TextMap
from ..base.patterns import lazy_pattern
from .records import Callout, Math, get_record
from .state import PageState, get_page

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
    hint = "start its lines with `>`"
    page.reporter.warn(_CODE, f'missing text in callout "{callout.kind}"', place, hint)
