"""Formulas: `$…$`, `\\(…\\)`, `$$…$$`, `\\[…\\]` and display environments.

Math is recognised before tables, emphasis and escapes, after code. A display on lines of its own
is a block token `math_display`; one inside a paragraph is an inline token of the same type, and
`displays.py` takes the paragraph apart around it. Conversion is not done here.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from msgspec import Struct
from msgspec.structs import replace

from ...diagnostics.model import TextMap
from ...patterns import lazy_pattern
from ..lookahead import comes_after
from ..records import Math, put
from ..references.labels import normal_id
from ..state import (
    block_place,
    inline_map,
    inline_place,
    line_start,
    page_of,
)
from .delimiters import FoundFormula, RefusedFormula, closing_of, find_closing, find_formula

_LABEL = lazy_pattern(r"[ \t]*\{#([\w:.-]+)\}")
_MYST_LABEL = lazy_pattern(r"[ \t]*\((eq:[\w:.-]+)\)(?=[ \t]*(?:\n|$))")
_LOOKS_LIKE_TEX = lazy_pattern(r"[\\^_]|^[A-Za-z]$")
_TEX_FOLLOWS = lazy_pattern(r"[^)\n]*(?:\\[A-Za-z]|\w[_^])")
TAIL = lazy_pattern(r"[.,;:](?=\s|$)")
"""Punctuation that belongs to the line of the display before it."""


def math_inline(state: StateInline, silent: bool) -> bool:
    """Inline rule for every delimiter; runs before `escape`, so `\\(` is still whole."""
    if state.src[state.pos] not in "$\\":
        return False
    found = find_formula(state.src, state.pos, state.posMax)
    if isinstance(found, RefusedFormula):
        return _add_refused(state, found, silent)
    if found is None:
        _report_open(state, silent)
        return False
    if _is_glued_to_refused(state, found):
        return _as_text(state, found.end, silent)
    end = _text_after_display(state.src, found.end, state.posMax) if found.display else _After(found.end)
    if not silent:
        token = state.push("math_display" if found.display else "math_inline", "math", 0)
        origin = inline_map(state, found.inner, found.inner_end)
        token.content = origin.text
        label_place = inline_place(state, end.label, end.label + len(end.id)) if end.id else None
        put(token, Math(origin.text, found.display, origin, end.id, end.tail, label_place=label_place))
    state.pos = end.pos
    return True


def _report_open(state: StateInline, silent: bool) -> None:
    """Warn of a lone `$$` with something behind it; one at the start of a block was reported as an error.

    A lone `\\(` is CommonMark's escape; it is doubtful only if TeX follows.
    """
    opening = state.src[state.pos : state.pos + 2]
    after = state.src[state.pos + 2 : state.pos + 40]
    doubtful = {"$$": after[:1].strip("$ \t\n"), "\\(": _TEX_FOLLOWS.match(after)}
    if silent or not doubtful.get(opening):
        return
    page, place = page_of(state.env), inline_place(state, state.pos, state.pos + 2)
    if all(found.place != place for found in page.reporter.diagnostics):
        closing, hint = ("$$", "write \\$\\$ for the signs") if opening == "$$" else ("\\)", "")
        page.reporter.warn("math-unclosed", f"{opening} has no closing {closing} and is text", place, hint)


class _After(Struct, frozen=True):
    """What follows a formula directly and belongs to it."""

    pos: int
    """Index after all of it."""
    id: str = ""
    """Of the label `{#eq:x}`, or MyST's `(eq:x)` at the end of the line."""
    label: int = 0
    """Index of the label's text."""
    tail: str = ""
    """Punctuation."""


def text_with_formulas(text: TextMap) -> list[Token]:
    """Inline tokens of a text in which nothing but formulas has a meaning: a title, a description."""
    tokens: list[Token] = []
    start = pos = 0
    while pos < len(text.text):
        found = find_formula(text.text, pos, len(text.text)) if text.text[pos] in "$\\" else None
        if isinstance(found, FoundFormula):
            tokens.append(Token("text", "", 0, content=_unescape(text.text[start:pos])))
            origin = text.cut(found.inner, found.inner_end)
            tokens.append(Token("math_inline", "math", 0, content=origin.text))
            put(tokens[-1], Math(origin.text, False, origin))
            start = found.end
        pos = found.end if found else pos + (2 if text.text[pos] == "\\" else 1)
    tokens.append(Token("text", "", 0, content=_unescape(text.text[start:])))
    return [token for token in tokens if token.content]


def _unescape(text: str) -> str:
    return text.replace("\\$", "$")


def _text_after_display(text: str, pos: int, end: int) -> _After:
    found = _LABEL.match(text, pos, end) or _MYST_LABEL.match(text, pos, end)
    pos = found.end() if found else pos
    punctuation = TAIL.match(text, pos, end)
    tail = punctuation[0] if punctuation else ""
    pos += len(tail)
    return _After(pos, normal_id(found[1]), found.start(1), tail) if found else _After(pos, tail=tail)


def _add_refused(state: StateInline, pair: RefusedFormula, silent: bool) -> bool:
    """`$x$2`: both dollars are text, so that no later `$` pairs with the second one."""
    if not silent:
        page = page_of(state.env)
        page.ambiguous_dollar = True
        if _LOOKS_LIKE_TEX.search(state.src[pair.start + 1 : pair.end - 1]):
            page.reporter.warn(
                "math-dollar",
                f"{state.src[pair.start : pair.end]} is text, not math: a digit follows the closing $",
                inline_place(state, pair.start, pair.end),
                "write \\(…\\), or put the digit inside",
            )
    return _as_text(state, pair.end, silent)


def _is_glued_to_refused(state: StateInline, found: FoundFormula) -> bool:
    """After a refused pair, a `$` right behind a digit is doubtful too: neither is math."""
    before = state.src[found.start - 1 : found.start]
    glued = not found.display and before.isascii() and before.isdigit() and state.src[found.start] == "$"
    return glued and page_of(state.env).ambiguous_dollar


def _as_text(state: StateInline, end: int, silent: bool) -> bool:
    if not silent:
        state.append_pending(state.src[state.pos : end])
    state.pos = end
    return True


def math_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Block rule: a display that opens at the start of a line, blank lines inside allowed."""
    pos = line_start(state, start)
    if state.is_code_block(start) or pos >= state.eMarks[start] or state.src[pos] not in "$\\":
        return False
    closing = closing_of(state.src, pos, state.eMarks[start])
    if not closing:
        return False
    last, inner_end = _find_end(state, start, end, pos, closing)
    if last < 0:
        return _report_unclosed(state, start, pos, closing, silent)
    inside = closing.startswith("\\end")
    inner = pos if inside else pos + 2
    origin = _origin(state, start, last, inner, inner_end + (len(closing) if inside else 0))
    if not origin.text.strip():
        return False
    after = _text_after_display(state.src, inner_end + len(closing), state.eMarks[last])
    # one line that goes on in text is a paragraph; `displays.py` takes it apart
    if last == start and state.src[after.pos : state.eMarks[last]].strip():
        return False
    if not silent:
        _push_block(state, start, last, after, origin)
    return True


def _find_end(state: StateBlock, start: int, end: int, pos: int, closing: str) -> tuple[int, int]:
    """(line, index) of the closing delimiter inside the container, or (-1, -1)."""
    at = pos + (2 if not closing.startswith("\\end") else len(closing))
    if not comes_after(state.src, closing, at):
        return -1, -1
    for line in range(start, end):
        if line > start:
            if not state.isEmpty(line) and state.sCount[line] < state.blkIndent:
                break
            at = line_start(state, line)
        found = find_closing(state.src, at, state.eMarks[line], closing)
        if found >= 0:
            return line, found
    return -1, -1


def _report_unclosed(state: StateBlock, start: int, pos: int, closing: str, silent: bool) -> bool:
    # `\\[text]` is also CommonMark's escape, so a lone `\\[` must stand by itself to count as math
    escape = closing == "\\]" and state.src[pos + 2 : state.eMarks[start]].strip()
    if not silent and not escape:
        opening = {"$$": "$$", "\\]": "\\["}.get(closing, closing.replace("end", "begin"))
        page_of(state.env).reporter.error(
            "math-unclosed",
            f"{opening} has no closing {closing}",
            block_place(state, pos, len(opening)),
            f"end the formula with {closing} in the same block",
        )
    return False


def _origin(state: StateBlock, first: int, last: int, inner: int, inner_end: int) -> TextMap:
    """The TeX between two indices without the marks of its containers."""
    pieces, starts = [], []
    for line in range(first, last + 1):
        begin = inner if line == first else min(line_start(state, line), state.eMarks[line])
        stop = inner_end if line == last else state.eMarks[line]
        place = block_place(state, begin)
        pieces.append(state.src[begin:stop])
        starts.append((place.line, place.column))
    return TextMap("\n".join(pieces), tuple(starts))


def _push_block(state: StateBlock, start: int, last: int, after: _After, origin: TextMap) -> None:
    token = state.push("math_display", "math", 0)
    token.block = True
    token.content = origin.text
    token.map = [start, last + 1]
    state.line = last + 1
    if state.src[after.pos : state.eMarks[last]].strip():
        # text behind the formula is a block of its own: let the next rule start in mid-line
        state.bMarks[last] = after.pos
        state.tShift[last] = state.skipSpaces(after.pos) - after.pos
        state.sCount[last] = state.blkIndent
        state.line = last
    elif not after.id and last + 1 < state.lineMax and (named := _label_line(state, last + 1)):
        after = replace(after, id=normal_id(named[1]), label=named.start(1))
        state.line += 1
    place = block_place(state, after.label, len(after.id)) if after.id else None
    put(token, Math(origin.text, True, origin, after.id, after.tail, label_place=place))


def _label_line(state: StateBlock, line: int) -> re.Match[str] | None:
    """`{#eq:x}` alone on the line after the formula."""
    if state.sCount[line] < state.blkIndent:
        return None
    found = _LABEL.match(state.src, line_start(state, line), state.eMarks[line])
    return found if found and not state.src[found.end() : state.eMarks[line]].strip() else None


def math_rules(md: MarkdownIt) -> None:
    """Register both rules."""
    md.inline.ruler.before("escape", "math", math_inline)
    md.block.ruler.before(
        "table", "math", math_block, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
