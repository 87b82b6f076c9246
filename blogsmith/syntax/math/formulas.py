r"""Formulas: `$…$`, `\(…\)`, `$$…$$`, `\[…\]` and display environments.

Formulas are recognised after code, and before tables, emphasis and escapes. A display on lines of its own is
a block token `math_display`. One inside a paragraph is an inline token of the same type, and `displays.py`
splits the paragraph around it. Formulas are not converted here.
"""

from __future__ import annotations

import re
from functools import partial

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from msgspec.structs import replace

from ...base.diagnostics.model import Place, TextMap
from ...base.patterns import lazy_pattern
from ..lookahead import occurs_after
from ..records import Math, attach_record
from ..references.labels import normal_id
from ..state import (
    PageState,
    block_place,
    get_page,
    inline_map,
    inline_place,
    line_start,
    text_between,
)
from .delimiters import (
    RejectedFormula,
    closing_delimiter,
    contains_environment,
    find_closing,
    find_formula,
    is_price,
    left_open,
)
from .display_tails import DisplayTail, add_tail, match_braces, read_display_tail
from .doubts import report_between_words, report_label, report_prose, report_rejected, report_unparsed

PUNCTUATION = lazy_pattern(r"[,.;:!?)\]’”…‑-]+")
"""Punctuation that must stay on the line of the inline formula that precedes it."""


def math_inline(state: StateInline, silent: bool) -> bool:
    r"""Parse a formula with any delimiter (inline rule). It runs before `escape`, which would remove the
    backslash of `\(`."""
    if state.src[state.pos] not in "$\\":
        return False
    page = get_page(state.env)
    if page.verbatim:
        return False
    if state.pos in page.literal_dollars.get(state.src, ()):
        return _as_text(state, state.pos + 1, silent)
    found = find_formula(state.src, state.pos, state.posMax)
    if isinstance(found, RejectedFormula):
        return _reject(state, found, silent)
    if found is None:
        if not silent:
            report_unparsed(state.src, state.pos, state.posMax, page.reporter, partial(inline_place, state))
        return False
    if is_price(state.src, found) and state.src in page.literal_dollars:
        return _as_text(state, state.pos + 1, silent)
    is_display = found.display and not _is_kramdown(state.src, found.start, page)
    after = read_display_tail(state.src, found.end, state.posMax) if is_display else DisplayTail(found.end)
    if not silent:
        token = state.push("math_display" if is_display else "math_inline", "math", 0)
        origin = inline_map(state, found.inner, found.inner_end)
        token.content, token.markup = origin.text, state.src[found.start : found.inner]
        math = Math(origin.text, is_display, origin)
        attach_record(token, add_tail(math, after, partial(_place, state), page.reporter))
        report_prose(state.src, found, page.reporter, partial(inline_place, state))
        if is_display and not after.id:
            report_label(state.src, after.pos, state.posMax, page.reporter, partial(inline_place, state))
        if is_display and page.takes_blocks:
            report_between_words(
                state.src,
                found,
                start=0,
                end=state.posMax,
                reporter=page.reporter,
                place=partial(inline_place, state),
            )
    state.pos = after.pos
    return True


def _place(state: StateInline, start: int, length: int) -> Place:
    return inline_place(state, start, start + length)


def _is_kramdown(text: str, pos: int, page: PageState) -> bool:
    """Return whether the `$$` at `pos` follows kramdown's rule: display math only if it is a paragraph of its
    own."""
    is_kramdown = page.options.double_dollar == "kramdown" and text.startswith("$$", pos)
    return is_kramdown and not contains_environment(text, pos)


def text_with_formulas(text: TextMap) -> list[Token]:
    """Return the inline tokens of a title or description, where only formulas have a meaning."""
    tokens: list[Token] = []
    start, pos, literal = 0, 0, -1
    while pos < len(text.text):
        may_open = text.text[pos] in "$\\" and pos != literal
        found = find_formula(text.text, pos, len(text.text)) if may_open else None
        if isinstance(found, RejectedFormula):
            literal, found = found.end - 1, None
        if found:
            tokens.append(Token("text", "", 0, content=_unescape(text.text[start:pos])))
            origin = text.cut(found.inner, found.inner_end)
            tokens.append(Token("math_inline", "math", 0, content=origin.text))
            attach_record(tokens[-1], Math(origin.text, False, origin))
            start = found.end
        pos = found.end if found else pos + (2 if text.text[pos] == "\\" else 1)
    tokens.append(Token("text", "", 0, content=_unescape(text.text[start:])))
    return [token for token in tokens if token.content]


def _unescape(text: str) -> str:
    return text.replace("\\$", "$")


def _reject(state: StateInline, pair: RejectedFormula, silent: bool) -> bool:
    """Add the first dollar of `$5 and US$6` as text, store that the second one is text too, and continue to
    parse between them."""
    page = get_page(state.env)
    page.literal_dollars.setdefault(state.src, set()).add(pair.end - 1)
    if not silent:
        report_rejected(state.src, pair, page.reporter, partial(inline_place, state))
    return _as_text(state, state.pos + 1, silent)


def _as_text(state: StateInline, end: int, silent: bool) -> bool:
    if not silent:
        state.append_pending(state.src[state.pos : end])
    state.pos = end
    return True


def math_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a display at the start of a line, which may contain blank lines (block rule)."""
    pos = line_start(state, start)
    if state.is_code_block(start) or pos >= state.eMarks[start] or state.src[pos] not in "$\\":
        return False
    closing = closing_delimiter(state.src, pos, state.eMarks[start])
    is_kramdown = _is_kramdown(state.src, pos, get_page(state.env))
    # In kramdown's syntax, display math does not interrupt a paragraph.
    if not closing or (is_kramdown and silent):
        return False
    last, inner_end = _find_end(state, start, end, pos, closing)
    if last < 0:
        return _report_unclosed(state, start, pos, closing, silent)
    inside = closing.startswith("\\end")
    inner = pos if inside else pos + 2
    origin = text_between(state, start, last, inner, inner_end + (len(closing) if inside else 0))
    if not origin.text.strip():
        return False
    after = read_display_tail(state.src, inner_end + len(closing), state.eMarks[last])
    # If text follows on the same line, this is a paragraph, which `displays.py` splits.
    goes_on = state.src[after.pos : state.eMarks[last]].strip()
    if goes_on and (last == start or is_kramdown):
        return False
    if is_kramdown and (after.tail or _paragraph_continues(state, last + 1, end)):
        return False
    if not silent:
        if goes_on and not after.id:
            reporter = get_page(state.env).reporter
            report_label(state.src, after.pos, state.eMarks[last], reporter, partial(_block_range, state))
        _push_block(state, start, last, after, origin)
    return True


def _block_range(state: StateBlock, start: int, end: int) -> Place:
    return block_place(state, start, end - start)


def _find_end(state: StateBlock, start: int, end: int, pos: int, closing: str) -> tuple[int, int]:
    """Return (line, index) of the closing delimiter inside the container, or (-1, -1)."""
    at = pos + (2 if not closing.startswith("\\end") else len(closing))
    if not occurs_after(state.src, closing, at):
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
    if open_delimiter(state, start, state.lineMax):
        # Less indented lines continue the paragraph, and the formula ends there.
        return False
    # `\[text]` is also an escape in CommonMark, so an unclosed `\[` counts as math only at the end of a line.
    escape = closing == "\\]" and state.src[pos + 2 : state.eMarks[start]].strip()
    if not silent and not escape:
        opening = {"$$": "$$", "\\]": "\\["}.get(closing, closing.replace("end", "begin"))
        get_page(state.env).reporter.error(
            "math-unclosed",
            f'missing closing "{closing}" of this formula',
            block_place(state, pos, len(opening)),
            f"end the formula with `{closing}` in the same block",
        )
    return False


def open_delimiter(state: StateBlock, line: int, end: int, pos: int = -1) -> str:
    """Return the closing delimiter of the formula that is still open at the end of `line`.

    Return an empty string if no formula is open there, or if it does not end on a later line of its
    paragraph.

    end: line where the search for the delimiter stops. pos: index where the formula is searched for; by
    default the start of the line.
    """
    closing = left_open(state.src, line_start(state, line) if pos < 0 else pos, state.eMarks[line])
    if not closing or not occurs_after(state.src, closing, state.eMarks[line]):
        return ""
    is_inline = closing in ("$", "\\)")
    later = line + 1
    while later < end and not state.isEmpty(later):
        first, last = line_start(state, later), state.eMarks[later]
        # A line outside the list item may be the next item, so only displays continue there.
        if is_inline and state.sCount[later] < state.blkIndent:
            return ""
        found = find_closing(state.src, first, last, closing)
        if found >= 0:
            return closing if closing != "$" or _can_close(state.src, first, found) else ""
        if is_inline and state.src.find("`", first, last) >= 0:
            return ""
        later += 1
    return ""


def _can_close(text: str, line: int, pos: int) -> bool:
    """Return whether the `$` at `pos` can end a formula: not if a space precedes it or a digit follows it."""
    after = text[pos + 1 : pos + 2]
    return pos > line and not text[pos - 1].isspace() and not (after.isascii() and after.isdigit())


def _push_block(state: StateBlock, start: int, last: int, after: DisplayTail, origin: TextMap) -> None:
    token = state.push("math_display", "math", 0)
    token.block = True
    token.content = origin.text
    token.map = [start, last + 1]
    state.line = last + 1
    if state.src[after.pos : state.eMarks[last]].strip():
        # The text after the formula becomes a separate block, which starts in the middle of the line.
        state.bMarks[last] = after.pos
        state.tShift[last] = state.skipSpaces(after.pos) - after.pos
        state.sCount[last] = state.blkIndent
        state.line = last
    elif not after.id and last + 1 < state.lineMax and (named := _label_line(state, last + 1)):
        after = replace(after, id=normal_id(named[1]), label=named.start(1))
        state.line += 1
    math = Math(origin.text, True, origin)
    reporter = get_page(state.env).reporter
    attach_record(token, add_tail(math, after, partial(block_place, state), reporter))


def _paragraph_continues(state: StateBlock, line: int, end: int) -> bool:
    """Return whether `line` belongs to the paragraph of the display before the line."""
    if line >= end or state.isEmpty(line) or state.sCount[line] < state.blkIndent:
        return False
    return _label_line(state, line) is None


def _label_line(state: StateBlock, line: int) -> re.Match[str] | None:
    """Return the match of `{#eq:x}` alone on the line after the formula, or None."""
    if state.sCount[line] < state.blkIndent:
        return None
    found = match_braces(state.src, line_start(state, line), state.eMarks[line])
    return (
        found
        if found and found[1] and found[2] is None and not state.src[found.end() : state.eMarks[line]].strip()
        else None
    )


def math_rules(md: MarkdownIt) -> None:
    """Register the inline and the block rule for formulas."""
    md.inline.ruler.before("escape", "math", math_inline)
    md.block.ruler.before(
        "table", "math", math_block, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
