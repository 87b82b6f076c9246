r"""Paragraphs and setext headings, aware of displays and callout markers.

There are only two differences from CommonMark. Lines inside an open formula (`$…$`, `\(…\)`, `$$ … $$`,
`\[ … \]` or a display environment) do not end a paragraph: a `- b` there is a minus sign. A paragraph that
starts with `[!KIND]` is never a setext heading.
"""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from msgspec import Struct

from .dispatch import BlockDispatch, LineTable
from .math.delimiters import find_closing
from .math.formulas import open_delimiter
from .state import line_start


class ParagraphExtent(Struct, frozen=True):
    """The extent of a paragraph."""

    end: int
    """Line after the last line of text."""
    marker: str = ""
    """`=` or `-` if the next line underlines the paragraph, otherwise empty."""


def paragraph(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a paragraph (block rule for all text that no other rule matches)."""
    end = state.lineMax
    extent = _known_extent(state, start, end) or _extent(state, start, end, underline=False)
    _push(state, start, extent.end, extent.end, "paragraph", "p", "")
    return True


def setext_heading(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse text underlined with `===` or `---` (block rule)."""
    if state.is_code_block(start) or state.src.startswith("[!", line_start(state, start)):
        return False
    extent = _extent(state, start, end, underline=True)
    if not extent.marker:
        if isinstance(state, LineTable):
            state.scanned_paragraph = (_position(state, start, end), extent.end)
        return False
    tag = "h1" if extent.marker == "=" else "h2"
    _push(state, start, extent.end, extent.end + 1, "heading", tag, extent.marker)
    return True


def _known_extent(state: StateBlock, start: int, end: int) -> ParagraphExtent | None:
    """Return the extent that `setext_heading` has just found for the same lines and container. None if there
    is none."""
    if not isinstance(state, LineTable) or state.scanned_paragraph is None:
        return None
    position, last = state.scanned_paragraph
    state.scanned_paragraph = None
    return ParagraphExtent(last) if position == _position(state, start, end) else None


def _position(state: StateBlock, start: int, end: int) -> tuple[int, ...]:
    return (start, end, line_start(state, start), state.sCount[start], state.blkIndent, state.level)


def _extent(state: StateBlock, start: int, end: int, *, underline: bool) -> ParagraphExtent:
    parent, state.parentType = state.parentType, "paragraph"
    closing = open_delimiter(state, start, end)
    line = start + 1
    marker = ""
    while line < end and not state.isEmpty(line):
        if closing:
            found = find_closing(state.src, line_start(state, line), state.eMarks[line], closing)
            if found >= 0:
                closing = open_delimiter(state, line, end, found + len(closing))
        # CommonMark 4.8: an indented line cannot interrupt a paragraph.
        elif state.sCount[line] - state.blkIndent <= 3:
            marker = _underline(state, line) if underline else ""
            # The rule for quotes has already decided which lines continue the quote without a `>`.
            if marker or (state.sCount[line] >= 0 and _is_interrupted(state, line, end)):
                break
            closing = open_delimiter(state, line, end)
        line += 1
    state.parentType = parent
    return ParagraphExtent(line, marker)


def _is_interrupted(state: StateBlock, line: int, end: int) -> bool:
    block = state.md.block
    if isinstance(block, BlockDispatch):
        rules = block.rules_at(state, line, "paragraph")
    else:
        rules = block.ruler.getRules("paragraph")
    for rule in rules:  # noqa: SIM110  # a generator takes as long as the rules
        if rule(state, line, end, True):
            return True
    return False


def _underline(state: StateBlock, line: int) -> str:
    if state.sCount[line] < state.blkIndent:
        return ""
    text = state.src[line_start(state, line) : state.eMarks[line]].rstrip()
    return text[0] if text and text[0] in "-=" and not text.strip(text[0]) else ""


def _push(state: StateBlock, start: int, text_end: int, end: int, kind: str, tag: str, markup: str) -> None:
    content = state.getLines(start, text_end, state.blkIndent, False).strip(" \t\n\r\f\v")
    state.line = end
    token = state.push(f"{kind}_open", tag, 1)
    token.markup = markup
    token.map = [start, end]
    token = state.push("inline", "", 0)
    token.content = content
    token.map = [start, text_end]
    token.children = []
    token = state.push(f"{kind}_close", tag, -1)
    token.markup = markup


def paragraph_rules(md: MarkdownIt) -> None:
    """Replace the stock rules of the same names."""
    md.block.ruler.at("lheading", setext_heading)
    md.block.ruler.at("paragraph", paragraph)
