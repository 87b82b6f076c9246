"""Small inline marks: `==mark==`, `::GPU|Graphics Processing Unit::`, task lists."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from ..base.patterns import lazy_pattern
from . import east_asian
from .codespans import code_span_end, run_length
from .lookahead import matches_after

# in a table cell the pipe is written `\|`
_ABBR = lazy_pattern(r"::(?=\S)([^:|\n]+?)\\?\|([^\n]+?)(?<=\S)::")
_MARK_CLOSING = lazy_pattern(r"(?<=\S)==(?!=)")
_TASK = lazy_pattern(r"\[([ xX])\][ \t]+(?=\S)")


def mark(state: StateInline, silent: bool) -> bool:
    """Inline rule: `==text==`, no blank inside the marks."""
    start = state.pos + 2
    if not state.src.startswith("==", state.pos) or state.src.startswith("===", state.pos):
        return False
    if start >= state.posMax or state.src[start].isspace():
        return False
    end = _mark_end(state.src, start, state.posMax)
    if end < 0:
        return False
    if not silent:
        maximum = state.posMax
        state.pos, state.posMax = start, end
        state.push("mark_open", "mark", 1).markup = "=="
        state.md.inline.tokenize(state)
        state.push("mark_close", "mark", -1).markup = "=="
        state.posMax = maximum
    state.pos = end + 2
    return True


def _mark_end(text: str, pos: int, end: int) -> int:
    if not matches_after(text, _MARK_CLOSING, pos):
        return -1
    begin = pos
    while pos < end:
        if text.startswith("==", pos) and pos + 2 <= end:
            if pos > begin and not text[pos - 1].isspace() and not text.startswith("===", pos):
                return pos
            pos += 2
        elif text[pos] == "\\":
            pos += 2
        elif text[pos] == "`":
            pos = max(code_span_end(text, pos, end), pos + run_length(text, pos, end))
        else:
            pos += 1
    return -1


def abbreviation(state: StateInline, silent: bool) -> bool:
    """Inline rule: `::short|long::`."""
    found = _ABBR.match(state.src, state.pos, state.posMax)
    if not found:
        return False
    if not silent:
        token = state.push("abbr", "abbr", 0)
        token.content = found[1].strip()
        token.attrSet("title", found[2].strip())
    state.pos = found.end()
    return True


def task_lists(state: StateCore) -> None:
    """Core rule: `- [x] done`; the box is shown, not clicked."""
    for index, token in enumerate(state.tokens[:-2]):
        inline = state.tokens[index + 2]
        if token.type != "list_item_open" or inline.type != "inline" or not inline.children:
            continue
        found = _TASK.match(inline.content)
        first = inline.children[0]
        if not found or first.type != "text" or not first.content.startswith(found[0][:3]):
            continue
        first.content = first.content[len(found[0]) :]
        box = Token("task_box", "input", 0)
        box.attrs = {"type": "checkbox", "class": "task-box", "disabled": ""}
        if found[1] != " ":
            box.attrSet("checked", "")
        inline.children.insert(0, box)
        token.attrJoin("class", "task")


def text_rules(md: MarkdownIt) -> None:
    """Register the inline rules."""
    md.inline.ruler.before("emphasis", "mark", mark)
    md.inline.ruler.before("emphasis", "abbr", abbreviation)
    md.inline.ruler.at("emphasis", east_asian.emphasis)
    md.inline.ruler.at("strikethrough", east_asian.strikethrough)
