r"""Raw HTML blocks as in CommonMark, except that display math in them may contain blank lines.

`<div style="display:none">$$ \newcommand… $$</div>` is one block, as in a browser, although CommonMark ends
it at the first blank line.

Jekyll authors write `{% raw %}` and `{% endraw %}` around code with braces. Jekyll does not print these tags,
and blogsmith does not need them. A pair is removed if both tags are in the same code span or fence. Nested
pairs stay, so code about these tags can be shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block import html_block as stock_html_block
from markdown_it.rules_core import StateCore

from ..base.patterns import lazy_pattern
from .html_nodes import contains_tag, html_place, text_nodes
from .lookahead import matches_after
from .markdown_elements import next_element, push_element
from .math.delimiters import find_closing, left_open
from .records import attach_record
from .state import block_end, get_page, line_start, text_between

_TAG = lazy_pattern(r"\{%-?[ \t]*(end)?raw[ \t]*-?%\}")
_MARKDOWN = lazy_pattern(
    r"\*\*[^\s*$][^*\n$]{0,200}\*\*|(?<![\w*\\])\*[^\s*$][^*\n$]{0,200}(?<!\s)\*(?![\w*])"
    r"|(?<!`)`[^`\n$]{1,200}`(?!`)|!?\[[^\[\]\n$]{1,200}\]\([^\s()]{1,500}\)"
)
"""Bold and slanted text, code and links. Pairs of underscores are more often names of Python."""
_OPENING = "raw"
_CODE = frozenset({"fence", "code_block"})


def raw_tags_of_blocks(state: StateCore) -> None:
    """Remove the pairs from fences (core rule, before the inline rules)."""
    for token in state.tokens:
        if token.type in _CODE and _OPENING in token.content:
            token.content = without_raw_tags(token.content)


def raw_tags_of_spans(state: StateCore) -> None:
    """Remove the pairs from code spans (core rule, after the inline rules)."""
    for token in state.tokens:
        if token.type == "inline" and _OPENING in token.content:
            for child in token.children or ():
                if child.type == "code_inline":
                    child.content = without_raw_tags(child.content)


def without_raw_tags(code: str) -> str:
    """Return the code without its outermost pairs of `{% raw %}` and `{% endraw %}`. A tag alone on a line is
    removed with its line."""
    kept, at = [], 0
    for start, end in _outermost_tags(code):
        line_start = code.rfind("\n", 0, start) + 1
        line_end = code.find("\n", end)
        line_end = len(code) if line_end < 0 else line_end + 1
        if at <= line_start and not (code[line_start:start] + code[end:line_end]).strip():
            start, end = line_start, line_end
        kept.append(code[at:start])
        at = end
    return "".join((*kept, code[at:])) if kept else code


def _outermost_tags(code: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the outermost `{% raw %}` and `{% endraw %}` tags, in order. Unmatched tags are
    omitted."""
    depth, opening = 0, (0, 0)
    for found in _TAG.finditer(code):
        if not found[1]:
            opening = opening if depth else found.span()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield opening
                yield found.span()


_DISPLAY = lazy_pattern(r"\$\$[ \t]*(?:\n|\\)|\\\[|\\begin\{")
"""Start of display math that may continue after the line. Two dollars followed by a word may be a price."""
_VERBATIM = lazy_pattern(r"\s*<(?:[!?]|(?:script|pre|style|textarea)(?=[\s>]))", re.IGNORECASE)
"""Start of HTML blocks without Markdown, which do not end at an empty line."""
_ENDING = lazy_pattern(r"<(?:(!--|\?|!\[CDATA\[|!)|(?:script|pre|style|textarea)(?=[\s>]|\Z))", re.IGNORECASE)
_ENDS: Mapping[str | None, re.Pattern[str]] = MappingProxyType(
    {
        "!--": lazy_pattern("-->"),
        "?": lazy_pattern(r"\?>"),
        "![CDATA[": lazy_pattern(r"\]\]>"),
        "!": lazy_pattern(">"),
        None: lazy_pattern(r"</(?:script|pre|style|textarea)>", re.IGNORECASE),
    }
)
"""Start of a block that does not end at an empty line → its end (CommonMark 4.6, kinds 1 to 5)."""
_MAX_DISPLAYS = 20
"""Maximum number of displays with blank lines in a block. For each of them, the block is searched again."""


def html_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Apply the stock rule, with two differences. A comment or similar markup that never ends is not a block.
    If display math is open at the end of the block, the block is extended."""
    opening = _ENDING.match(state.src, line_start(state, start), state.eMarks[start])
    ending = _ENDS[opening[1] and opening[1].upper()] if opening else None
    # Without an end it is text; otherwise it would hide the rest of the page.
    if opening and ending and not matches_after(state.src, ending, opening.end()):
        return False
    if not stock_html_block(state, start, end, silent):
        return False
    if not silent:
        token = state.tokens[-1]
        if ending and not ending.search(token.content, len("<!")):
            state.tokens.pop()
            state.line = start
            return False
        for _ in range(_MAX_DISPLAYS):
            last = _display_end(state, token.content, end) if _DISPLAY.search(token.content) else 0
            if not last:
                break
            state.line = block_end(state, last + 1, end)
            token.map = [start, state.line]
            token.content = state.getLines(start, state.line, state.blkIndent, True)
        if "markdown" in token.content.lower() and not _VERBATIM.match(token.content):
            _split_elements(state, start, end)
    return True


def _split_elements(state: StateBlock, start: int, end: int) -> None:
    """In the block added last, replace elements that contain Markdown by the tokens of their content."""
    line, pos, whole = start, line_start(state, start), state.tokens.pop()
    while extent := next_element(state, line, pos, state.line - 1, end):
        _push_html(state, line, pos, extent.first, extent.tag.start)
        line, pos = extent.last, extent.end
        # The element may contain blank lines and reach beyond the HTML block.
        reach = max(state.line, block_end(state, extent.last + 1, end))
        is_last = not state.src[pos : state.eMarks[reach - 1]].strip()
        push_element(state, extent, is_within=True, behind="\n" if is_last else "")
        state.line = reach
        if is_last:
            return
    if line == start and pos == line_start(state, start):
        state.tokens.append(whole)
    else:
        _push_html(state, line, pos, state.line - 1, state.eMarks[state.line - 1])
        state.tokens[-1].content += "\n"


def _push_html(state: StateBlock, line: int, pos: int, last: int, end: int) -> None:
    """Add a block of HTML from index `pos` on line `line` to index `end` on line `last`."""
    origin = text_between(state, line, last, pos, end, keeps_indent=True)
    if origin.text:
        token = state.push("html_block", "", 0)
        token.map, token.content = [line, last + 1], origin.text
        attach_record(token, origin)


def report_markdown(state: StateCore) -> None:
    """Warn about the first Markdown in the text of each HTML block, because it is shown as written (core
    rule)."""
    page = get_page(state.env)
    for token in state.tokens:
        # An element with the attribute `markdown` has a warning of its own.
        if token.type != "html_block" or not _MARKDOWN.search(token.content) or "markdown" in token.content:
            continue
        line = html_place(token, page.first_line, 0, 1).line
        if any(one.place and one.place.line == line for one in page.reporter.diagnostics):
            # Such as a gallery without an end tag: Markdown is read after the author has added it.
            continue
        for piece in token.children or (token,):
            nodes = text_nodes(piece.content) if piece.type.startswith("html") else ()
            hits = (_MARKDOWN.search(piece.content, node.start, node.end) for node in nodes)
            if hit := next(filter(None, hits), None):
                place = html_place(piece, page.first_line, hit.start(), len(hit[0]))
                hint = 'add `markdown="1"` to the element around it, or write HTML'
                message = f'unsupported syntax: "{hit[0]}" in raw HTML'
                page.reporter.warn("html-markdown", message, place, hint)
                break


def _display_end(state: StateBlock, html: str, end: int) -> int:
    """Return the line that closes display math still open at the end of `html`, or 0 if there is none."""
    *_, node = text_nodes(html)
    # An opening `$$` is at the end of its line or before a command.
    opening = _DISPLAY.search(html, node.start, node.end)
    closing = left_open(html, opening.start(), node.end) if opening else ""
    for line in range(state.line, end) if closing else ():
        if not state.isEmpty(line) and state.sCount[line] < state.blkIndent:
            return 0
        at = find_closing(state.src, line_start(state, line), state.eMarks[line], closing)
        if contains_tag(state.src, line_start(state, line), at if at >= 0 else state.eMarks[line]):
            return 0
        if at >= 0:
            return line
    return 0


def html_block_rules(md: MarkdownIt) -> None:
    """Replace the stock rule of the same name."""
    md.block.ruler.at("html_block", html_block, {"alt": ["paragraph", "reference", "blockquote"]})
