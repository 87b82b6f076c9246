"""Tabs: alternatives, shown one at a time, such as a program in two languages.

`<div class="tabs">` contains a `<div data-label="Python">` for each tab. Material's `=== "Python"`, followed
by the indented content, is equivalent. Both contain Markdown.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from ..base.diagnostics.model import TextMap
from ..base.html_tags import StartTag, parse_start_tag
from ..base.patterns import lazy_pattern
from .blocks import INTERRUPTED_BLOCKS, attribute_map, copy_attributes
from .extents import BlockExtent, find_extent, parse_inside, report_unclosed
from .records import Tab, attach_record
from .state import PageState, block_place, get_page, line_start, line_text

_MATERIAL = lazy_pattern(r'===([!+]{0,2})[ \t]+(?:"((?:[^"\\]|\\.)+)"|\'((?:[^\'\\]|\\.)+)\')[ \t]*\Z')
_INDENT = 4
_HOLDS = 'write each tab as `<div data-label="…">` with its text'


def tabs_div(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse `<div class="tabs">` and the tabs in it (block rule)."""
    pos = line_start(state, start)
    if state.is_code_block(start) or state.src[pos : pos + 4].lower() != "<div":
        return False
    tag = parse_start_tag(state.src, pos)
    is_part = get_page(state.env).tabs_level == state.level
    if tag is None or not (is_part or "tabs" in tag.classes):
        return False
    extent = find_extent(state, start, end, tag)
    if extent is None:
        if not silent:
            report_unclosed(state, start, tag, "this tab" if is_part else 'block "tabs"')
        return False
    if state.src[extent.end : state.eMarks[extent.last]].strip():
        return False
    if silent:
        return True
    if is_part:
        _push_part(state, extent)
    else:
        _push_group(state, extent)
    state.line = extent.last + 1
    return True


def _push_group(state: StateBlock, extent: BlockExtent) -> None:
    page = get_page(state.env)
    group = _open_group(state, extent.first, extent.last + 1)
    copy_attributes(state, extent, group.attrs)
    first, outer, page.tabs_level = len(state.tokens), page.tabs_level, state.level
    parse_inside(state, extent)
    page.tabs_level = outer
    _close_group(state, group, first)


def _push_part(state: StateBlock, extent: BlockExtent) -> None:
    page, tag = get_page(state.env), extent.tag
    given = next((item for item in tag.attributes if item.name == "data-label" and item.value.strip()), None)
    if given is None:
        place = block_place(state, line_start(state, extent.first), len("<div"))
        page.reporter.error(
            "tabs", "missing label of this tab", place, 'write a label: `<div data-label="Python">`'
        )
        place_map = TextMap("?", ((place.line, place.column),))
    else:
        place_map = attribute_map(state, given)
    _open_part(state, place_map, extent.first, extent.last + 1, is_chosen=_is_chosen(tag))
    outer, page.tabs_level = page.tabs_level, -1
    parse_inside(state, extent)
    page.tabs_level = outer
    _close_part(state)


def _is_chosen(tag: StartTag) -> bool:
    return any(item.name in ("open", "data-open", "data-selected") for item in tag.attributes)


def tabs_material(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse `=== "Label"` and the content after it, indented by four spaces (block rule)."""
    if state.is_code_block(start) or not _material(state, start):
        return False
    if silent:
        return True
    page = get_page(state.env)
    outer, page.tabs_level = page.tabs_level, -1
    group = _open_group(state, start, start + 1)
    first, line = len(state.tokens), start
    while line < end and (found := _material(state, line)) and (line == start or "!" not in found[1]):
        last = _part_end(state, line + 1, end)
        _push_material(state, found, line, last)
        state.line = last
        line = state.skipEmptyLines(last)
        if line < end and state.sCount[line] < state.blkIndent:
            break
    group.map = [start, state.line]
    page.tabs_level = outer
    _close_group(state, group, first)
    return True


def _material(state: StateBlock, line: int) -> re.Match[str] | None:
    if not state.src.startswith("===", line_start(state, line)) or state.is_code_block(line):
        return None
    return _MATERIAL.match(line_text(state, line).rstrip())


def _part_end(state: StateBlock, line: int, end: int) -> int:
    """Return the line after the indented lines of a tab."""
    last = line
    while line < end and (state.isEmpty(line) or state.sCount[line] >= state.blkIndent + _INDENT):
        line += 1
        last = last if state.isEmpty(line - 1) else line
    return last


def _push_material(state: StateBlock, found: re.Match[str], line: int, last: int) -> None:
    group = 2 if found[2] is not None else 3
    place = block_place(state, line_start(state, line) + found.start(group))
    label = TextMap(re.sub(r"\\([\"'])", r"\1", found[group]), ((place.line, place.column),))
    _open_part(state, label, line, last, is_chosen="+" in found[1])
    parent, limit, indent = state.parentType, state.lineMax, state.blkIndent
    state.lineMax, state.blkIndent = last, indent + _INDENT
    state.md.block.tokenize(state, line + 1, last)
    state.parentType, state.lineMax, state.blkIndent = parent, limit, indent
    _close_part(state)


def _open_group(state: StateBlock, first: int, end: int) -> Token:
    page = get_page(state.env)
    page.tab_groups += 1
    opening = state.push("tabs_open", "div", 1)
    opening.map = [first, end]
    opening.meta["number"] = page.tab_groups
    return opening


def _open_part(state: StateBlock, label: TextMap, first: int, end: int, *, is_chosen: bool) -> None:
    opening = state.push("tab_open", "div", 1)
    opening.map = [first, end]
    opening.meta["is_chosen"] = is_chosen
    inline = state.push("inline", "", 0)
    inline.content, inline.children, inline.map = label.text, [], [first, first + 1]
    attach_record(inline, label)
    state.push("tab_body_open", "div", 1)


def _close_part(state: StateBlock) -> None:
    opening = state.tokens[-1]
    if opening.type == "tab_body_open":
        line = (state.tokens[-2].map or [0])[0]
        text = line_text(state, line).rstrip()
        place = block_place(state, line_start(state, line), max(1, len(text)))
        hint = "indent its text by four spaces" if text.startswith("===") else ""
        get_page(state.env).reporter.error("tabs", "this tab is empty", place, hint)
    state.push("tab_body_close", "div", -1)
    state.push("tab_close", "div", -1)


def _close_group(state: StateBlock, opening: Token, first: int) -> None:
    """Assign numbers to the tabs. Report any content between them and move it after the tabs. first: index of
    the first token in the group."""
    page, level = get_page(state.env), opening.level + 1
    parts: list[Token] = []
    stray: list[Token] = []
    inside = state.tokens[first:]
    is_part = False
    for token in inside:
        if token.level == level and token.type == "tab_open":
            parts.append(token)
            is_part = True
        if not is_part:
            stray.append(token)
        elif token.level == level and token.type == "tab_close":
            is_part = False
    _report_stray(stray, opening, parts, page)
    lost = set(map(id, stray))
    state.tokens[first:] = [token for token in inside if id(token) not in lost]
    chosen = next((number for number, part in enumerate(parts, 1) if part.meta["is_chosen"]), 1)
    group = opening.meta["number"]
    for number, part in enumerate(parts, 1):
        attach_record(part, Tab(group, number, number == chosen))
    state.push("tabs_close", "div", -1)
    # Stray content is shown after the tabs, so nothing is lost.
    state.tokens.extend(stray)


def _report_stray(stray: list[Token], opening: Token, parts: list[Token], page: PageState) -> None:
    first = next((token for token in stray if token.map), None)
    if first is not None or not parts:
        line = ((first.map if first else None) or opening.map or [0])[0]
        text = page.lines[line] if line < len(page.lines) else ""
        place = page.line_place(page.line_starts[line] + len(text) - len(text.lstrip()), len(text.strip()))
        message = "text is not allowed outside of a tab" if first else "missing tabs in this block"
        hint = "move it into a tab, or before the tabs" if first else _HOLDS
        page.reporter.error("tabs", message, place, hint)


def tab_rules(md: MarkdownIt) -> None:
    """Register the rules, before those for other `<div>`s."""
    md.block.ruler.before("div", "tabs_div", tabs_div, {"alt": INTERRUPTED_BLOCKS})
    md.block.ruler.before("hr", "tabs_material", tabs_material, {"alt": INTERRUPTED_BLOCKS})
