"""HTML elements that contain Markdown: `<details markdown="1">` as in kramdown, also `block` and `span`.

The attribute is removed, and the content is parsed, with or without blank lines. An element for text rather
than blocks (`<p>`, `<summary>`, `<figcaption>`) is parsed as one paragraph without paragraph tags. Inside
other HTML, such as the `<td>` of a table, the element is cut out, and the rest stays HTML.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from msgspec.structs import replace

from ..base.diagnostics.model import TextMap, list_choices
from ..base.html_tags import Attribute, StartTag, parse_start_tag
from ..base.patterns import lazy_pattern
from ..model.names import name_set
from .attributes import ALLOWED, ALLOWED_NAMES
from .blocks import INTERRUPTED_BLOCKS
from .extents import BlockExtent, find_extent, parse_inside, report_unclosed
from .records import attach_record
from .state import block_place, get_page, line_start

_ENABLING_VALUES = frozenset(("1", "block", "span", ""))
"""Values of `markdown` that enable parsing. Like Python-Markdown, we allow the attribute without a value."""
_BLOCKS = name_set(
    "address article aside blockquote center dd details dialog div fieldset figure footer form header hgroup "
    "li main nav section td th"
)
_TEXTS = name_set("caption dt figcaption h1 h2 h3 h4 h5 h6 legend p summary")
_WITH_BLOCKS = frozenset(("figcaption",))
"""Text elements that may contain paragraphs."""
_SHORT = frozenset(("dd", "li", "td", "th"))
"""Block elements whose content is parsed as text if they are on one line."""
_OTHERS = name_set(
    "colgroup dl iframe math ol optgroup pre script select style svg table tbody textarea tfoot thead title "
    "tr ul"
)
"""Elements that contain neither blocks nor text."""
_PLACE = lazy_pattern(
    r"<!--.*?(?:-->|\Z)|<(script|style|textarea|title|pre|code)(?=[\s>]).*?(?:</\1(?=[\s>])|\Z)|<(?=[A-Za-z])",
    re.IGNORECASE | re.DOTALL,
)
"""Start of a tag, or a comment or element whose content is skipped."""


def allows_markdown(tag: StartTag) -> bool:
    """Return whether Markdown is allowed directly in the element: yes in a list item, no in a list."""
    return tag.name not in _OTHERS


def requests_markdown(tag: StartTag) -> bool:
    """Return whether the element requests Markdown."""
    return any(item.name == "markdown" and _value(item) in _ENABLING_VALUES for item in tag.attributes)


def _value(item: Attribute) -> str:
    return item.value.strip().lower()


def markdown_element(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse an element that requests Markdown (block rule)."""
    pos = line_start(state, start)
    if state.is_code_block(start) or state.src[pos : pos + 1] != "<":
        return False
    tag = parse_start_tag(state.src, pos)
    if tag is None or not _is_parsed(state, tag):
        return False
    extent = find_extent(state, start, end, tag)
    if extent is None:
        if not silent:
            report_unclosed(state, start, tag, f'element "{tag.name}"')
        return False
    if state.src[extent.end : state.eMarks[extent.last]].strip():
        return False
    if silent:
        return True
    push_element(state, extent)
    state.line = extent.last + 1
    return True


def push_element(
    state: StateBlock, extent: BlockExtent, *, is_within: bool = False, behind: str = "\n"
) -> None:
    """Add the tokens of an element that requests Markdown. is_within: whether the element is inside other
    HTML, where indentation has no meaning. `behind`: text after the element."""
    if _is_text(state, extent):
        _push_text(state, extent)
    else:
        indent = state.blkIndent
        state.blkIndent = max(indent, _indent(state, extent, is_within=is_within))
        _push_blocks(state, extent)
        state.blkIndent = indent
    state.tokens[-1].markup = behind


def next_element(state: StateBlock, start: int, pos: int, last: int, end: int) -> BlockExtent | None:
    """Return the first element that requests Markdown, from index `pos` of line `start` to line `last`, or
    None.

    It is used inside HTML, where the element may be anywhere. If an element that requests Markdown has no end
    tag, return None: the rest is then HTML, so nothing is searched twice. end: line after the container.
    """
    line = start
    while found := _PLACE.search(state.src, pos, state.eMarks[last]):
        pos = found.end()
        if found[0].endswith("<"):
            tag = parse_start_tag(state.src, found.start())
            while state.eMarks[line] < found.start():
                line += 1
            if tag and tag.name not in _OTHERS and requests_markdown(tag):
                return find_extent(state, line, end, tag)
    return None


def _is_parsed(state: StateBlock, tag: StartTag) -> bool:
    page = get_page(state.env)
    if page.options.untrusted:
        # In untrusted markup, other HTML is shown as text.
        return tag.name == "div" and tag.get("markdown").strip() in ("1", "block")
    return tag.name in _BLOCKS | _TEXTS and requests_markdown(tag)


def _is_text(state: StateBlock, extent: BlockExtent) -> bool:
    name, asked = extent.tag.name, extent.tag.get("markdown").strip().lower()
    if asked in ("block", "span"):
        return asked == "span"
    if name in _SHORT:
        return extent.first == extent.last
    has_blank = any(state.isEmpty(line) for line in range(extent.open_line, extent.last))
    return name not in _BLOCKS and not (has_blank and name in _WITH_BLOCKS)


def _push_blocks(state: StateBlock, extent: BlockExtent) -> None:
    opening = state.push("markdown_open", extent.tag.name, 1)
    opening.map, opening.block = [extent.first, extent.last + 1], True
    _copy_attributes(state, extent.tag, opening.attrs)
    summary = _summary(state, extent) if extent.tag.name == "details" else None
    if summary:
        _push_text(state, summary)
        extent = replace(extent, open_line=summary.last, inner=summary.end)
    parse_inside(state, extent)
    state.push("markdown_close", extent.tag.name, -1).block = True


def _indent(state: StateBlock, extent: BlockExtent, *, is_within: bool) -> int:
    """Return the number of spaces to remove from the lines between the tags, so that they are not code.
    Outside other HTML, it is at most the indentation of the start tag."""
    lines = [line for line in range(extent.open_line + 1, extent.last) if not state.isEmpty(line)]
    most = min((state.sCount[line] for line in lines), default=0)
    return most if is_within else min(most, state.sCount[extent.first])


def _summary(state: StateBlock, extent: BlockExtent) -> BlockExtent | None:
    """Return the `<summary>` at the start of a `<details>`, or None. Its line may contain text after it."""
    for line in range(extent.open_line, extent.last + 1):
        begin = state.skipSpaces(extent.inner) if line == extent.open_line else line_start(state, line)
        if begin < min(state.eMarks[line], extent.inner_end):
            tag = parse_start_tag(state.src, begin) if state.src[begin] == "<" else None
            return find_extent(state, line, extent.last + 1, tag) if tag and tag.name == "summary" else None
    return None


def _push_text(state: StateBlock, extent: BlockExtent) -> None:
    opening = state.push("markdown_open", extent.tag.name, 1)
    opening.map, opening.block = [extent.first, extent.last + 1], False
    _copy_attributes(state, extent.tag, opening.attrs)
    origin = _text_inside(state, extent)
    inline = state.push("inline", "", 0)
    inline.content, inline.children, inline.map = origin.text, [], [extent.open_line, extent.last + 1]
    attach_record(inline, origin)
    state.push("markdown_close", extent.tag.name, -1).block = False


def _text_inside(state: StateBlock, extent: BlockExtent) -> TextMap:
    """Return the text between the tags with the indentation of each line removed, as in a paragraph."""
    pieces: list[str] = []
    starts: list[tuple[int, int]] = []
    for line in range(extent.open_line, extent.last + 1):
        begin = extent.inner if line == extent.open_line else line_start(state, line)
        end = extent.inner_end if line == extent.last else state.eMarks[line]
        piece = state.src[begin:end]
        shown = piece.strip() if line == extent.last else piece.lstrip()
        if shown or pieces:
            place = block_place(state, begin + len(piece) - len(piece.lstrip()))
            pieces.append(shown)
            starts.append((place.line, place.column))
    while pieces and not pieces[-1].strip():
        pieces.pop()
    text = "\n".join(pieces)
    place = block_place(state, extent.inner)
    return TextMap(text.rstrip(), tuple(starts[: len(pieces)]) or ((place.line, place.column),))


def _copy_attributes(state: StateBlock, tag: StartTag, attrs: dict[str, str | int | float]) -> None:
    """Copy the attributes except `markdown`. In untrusted markup, report those that are not allowed."""
    page = get_page(state.env)
    for item in tag.attributes:
        is_harmless = item.name in ALLOWED or item.name.startswith(("data-", "aria-")) or item.name == "role"
        if item.name == "markdown":
            continue
        if is_harmless or not page.options.untrusted:
            attrs.setdefault(item.name, "" if item.start == item.name_start else item.value)
        else:
            place = block_place(state, item.name_start, len(item.name))
            hint = f"remove it, or {list_choices(ALLOWED_NAMES)}"
            page.reporter.error("attribute", f'attribute "{item.name}" is not allowed here', place, hint)


def markdown_element_rules(md: MarkdownIt) -> None:
    """Register the rule before the rule for raw HTML."""
    md.block.ruler.before("html_block", "markdown_element", markdown_element, {"alt": INTERRUPTED_BLOCKS})
