"""Extent of an HTML element in Markdown, and parsing of the blocks between its tags."""

from __future__ import annotations

import re
from functools import lru_cache

from markdown_it.rules_block import StateBlock
from msgspec import Struct

from ..base.diagnostics.fixes import Fix, make_replacement
from ..base.html_tags import StartTag
from ..base.patterns import lazy_pattern
from .state import PageState, block_place, get_page, line_start

_MOST_OPEN = 100
_FENCE = lazy_pattern(r" {0,3}(`{3,}(?=[^`\n]*$)|~{3,})(?P<info>[ \t]*[^ \t\n])?", re.MULTILINE)
"""Fence delimiter. Backticks followed by more backticks on the line are inline code (CommonMark 0.31, 4.5).
"""


class BlockExtent(Struct, frozen=True):
    """Extent of an element: 0-based lines, and indices into the source."""

    tag: StartTag
    first: int
    """Line where the start tag begins."""
    open_line: int
    """Line where the start tag ends."""
    inner: int
    inner_end: int
    last: int
    """Line of the end tag."""
    end: int
    """Index after the end tag."""


@lru_cache(maxsize=64)
def _tag_pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"<(/?){re.escape(name)}(?=[\s>/])", re.IGNORECASE)


def find_extent(state: StateBlock, start: int, end: int, tag: StartTag) -> BlockExtent | None:
    """Return the extent up to the matching end tag in the same container, or None if there is no end tag.

    Tags in fences are ignored. After `_MOST_OPEN` elements of a page without an end tag, no more are
    searched.
    """
    page = get_page(state.env)
    if page.open_elements >= _MOST_OPEN:
        return None
    # This single scan avoids the far more expensive search line by line.
    is_closed = any(found[1] for found in _tag_pattern(tag.name).finditer(state.src, tag.end))
    extent = _find(state, start, end, tag) if is_closed else None
    page.open_elements += extent is None
    return extent


def _find(state: StateBlock, start: int, end: int, tag: StartTag) -> BlockExtent | None:
    open_line = start
    while open_line < end and state.eMarks[open_line] < tag.end:
        open_line += 1
    depth, fence = 1, ""
    pattern = _tag_pattern(tag.name)
    for line in range(open_line, end):
        if line > start and not state.isEmpty(line) and state.sCount[line] < state.blkIndent:
            return None
        begin = tag.end if line == open_line else state.bMarks[line]
        fence_mark = _FENCE.match(state.src, begin, state.eMarks[line])
        if fence:
            is_end = fence_mark and fence_mark[1].startswith(fence) and not fence_mark["info"]
            fence = "" if is_end else fence
            continue
        if fence_mark:
            fence = fence_mark[1]
            continue
        for found in pattern.finditer(state.src, begin, state.eMarks[line]):
            depth += -1 if found[1] else 1
            if depth == 0:
                close = state.src.find(">", found.end(), state.eMarks[line])
                after = close + 1 if close >= 0 else state.eMarks[line]
                return BlockExtent(tag, start, open_line, tag.end, found.start(), line, after)
    return None


def report_unclosed(state: StateBlock, start: int, tag: StartTag, written: str) -> None:
    """Report that the element on line `start` has no end tag. written: The element's start tag or name, as
    the message shows it."""
    pos = line_start(state, start)
    place = block_place(state, pos, min(tag.end, state.eMarks[start]) - pos)
    closing = f"</{tag.name}>"
    message = f'missing "{closing}" for {written}'
    page = get_page(state.env)
    fix = _closing_fix(state, start, closing, page)
    page.reporter.error("div-open", message, place, f"add a line `{closing}`", fix)


def _closing_fix(state: StateBlock, start: int, closing: str, page: PageState) -> Fix | None:
    """Return a fix that closes the element after its first block, or None if the element is nested."""
    if state.level or state.blkIndent:
        return None
    end = start
    while end + 1 < state.lineMax and state.src[state.bMarks[end + 1] : state.eMarks[end + 1]].strip():
        end += 1
    line = page.first_line + end
    return make_replacement(
        line, len(page.reporter.lines[line - 1]) + 1, "", f"\n{closing}", title=f"add {closing}"
    )


def parse_inside(state: StateBlock, extent: BlockExtent) -> None:
    """Parse the lines between the tags as blocks. The content may begin or end within a line, so the offsets
    of these lines are changed while they are parsed."""
    first = extent.open_line
    if not state.src[extent.inner : state.eMarks[first]].strip() and first < extent.last:
        first += 1
    last = extent.last
    saved = (state.bMarks[first], state.tShift[first], state.sCount[first], state.eMarks[last])
    if first == extent.open_line:
        _start_line_at(state, first, extent.inner)
    state.eMarks[last] = extent.inner_end
    ends = last + 1 if state.src[line_start(state, last) : extent.inner_end].strip() else last
    parent, limit = state.parentType, state.lineMax
    state.lineMax = ends
    if first < ends:
        state.md.block.tokenize(state, first, ends)
    state.parentType, state.lineMax = parent, limit
    state.bMarks[first], state.tShift[first], state.sCount[first], state.eMarks[last] = saved


def _start_line_at(state: StateBlock, line: int, pos: int) -> None:
    state.bMarks[line] = pos
    state.tShift[line] = min(state.skipSpaces(pos), state.eMarks[line]) - pos
    state.sCount[line] = state.blkIndent
