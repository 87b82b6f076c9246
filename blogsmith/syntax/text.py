"""Small text rules: `==marked==` text, abbreviations, task lists, typography, invisible characters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType, SimpleNamespace
from typing import cast

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_core.smartquotes import smartquotes
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from ..base.diagnostics.characters import escape_character, find_hidden, format_code_point
from ..base.diagnostics.model import Place, Reporter, TextMap
from ..base.patterns import lazy_pattern
from . import east_asian
from .lookahead import code_span_end, matches_after, run_length
from .records import Math, Shortcode, get_record
from .state import PageState, get_page

# In a table cell, the pipe is written `\|`.
_ABBR = lazy_pattern(r"::(?=\S)([^:|\n]+?)\\?\|([^\n]+?)(?<=\S)::")
_MARK_CLOSING = lazy_pattern(r"(?<=[^\s<])==(?!=)")
_TASK = lazy_pattern(r"\[([ xX])\][ \t]+(?=\S)")


def mark(state: StateInline, silent: bool) -> bool:
    """Parse `==text==`, without spaces directly inside the delimiters (inline rule)."""
    start = state.pos + 2
    if not state.src.startswith("==", state.pos) or state.src.startswith("===", state.pos):
        return False
    # `==>` is an arrow, not a delimiter.
    if start >= state.posMax or state.src[start].isspace() or state.src[start] == ">":
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
            is_end = not text[pos - 1].isspace() and text[pos - 1] != "<" and not text.startswith("===", pos)
            if pos > begin and is_end:
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
    """Parse `::short|long::` (inline rule)."""
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
    """Add a checkbox to items such as `- [x] done` (core rule). Readers cannot change it."""
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


# Replacements of `markup.smart_quotes`: quotation marks, `--`, `---` and exactly three dots.
#
# The dash rule replaces that of markdown-it, which also turns `(c)` into © and `+-` into ±, and shortens
# `????`. markdown-it supports the quotation marks of only one language; here they depend on the page's
# language.


_TYPOGRAPHIC = lazy_pattern(r"--|\.\.\.")
_DOTS = lazy_pattern(r"(?<!\.)\.\.\.(?!\.)")
_EM_DASH = lazy_pattern(r"(?<!-)---(?!-)")
_EN_DASH = lazy_pattern(r"(?<![-\s])--(?![-\s])|(?:(?<=\s)|(?<![\s\S]))--(?:(?=\s)|(?![\s\S]))")
"""`--` that becomes a dash: every `--` outside a longer run of hyphens, unless it has whitespace on one side
and another character on the other side.

Examples: `a--b`, `a -- b`, `a--`, `(--option)`, and `--option` at the start of a text token. In
`command --option`, it is unchanged.
"""


def set_quotation_marks(state: StateCore) -> None:
    """Set the quotation marks of the page's language (core rule, replaces `smartquotes`)."""
    _set_marks(state.tokens, get_page(state.env))


def _set_marks(tokens: list[Token], page: PageState) -> None:
    options = SimpleNamespace(typographer=True, quotes=page.quotation_marks)
    smartquotes(cast(StateCore, SimpleNamespace(tokens=tokens, md=SimpleNamespace(options=options))))


def set_quotes(children: list[Token], text: str, page: PageState) -> None:
    """Set quotation marks, dashes and dots in inline tokens that the core rules do not process, such as those
    of a caption or a label."""
    for token in _prose(children):
        token.content = set_dashes_and_dots(token.content)
    _set_marks([Token("inline", "", 0, content=text, children=children)], page)


def typography(state: StateCore) -> None:
    """Set dashes and dots (core rule, after the inline rules)."""
    for token in state.tokens:
        if token.type == "inline" and _TYPOGRAPHIC.search(token.content):
            for text in _prose(token.children or ()):
                text.content = set_dashes_and_dots(text.content)


def harden_breaks(state: StateCore) -> None:
    """Turn soft line breaks into hard ones (core rule, after all others)."""
    for token in state.tokens:
        for child in token.children or ():
            if child.type == "softbreak":
                child.type, child.tag = "hardbreak", "br"


def set_dashes_and_dots(text: str) -> str:
    """Return the text with typographic dashes and dots."""
    return _EN_DASH.sub("–", _EM_DASH.sub("—", _DOTS.sub("…", text)))


def _prose(children: list[Token] | tuple[Token, ...]) -> Iterator[Token]:
    """Yield the text tokens, except those that show the URL of a link."""
    is_address = False
    for token in children:
        if token.type in ("link_open", "link_close") and token.info == "auto":
            is_address = token.type == "link_open"
        elif token.type == "text" and not is_address:
            yield token


# Invisible characters in code and formulas: the code run or copied would differ from the code shown.
#
# Prose is not checked, because some languages require these characters. In code they are an error or an
# attack (CVE-2021-42574, "Trojan Source").


_BY_LINES: Mapping[str, str] = MappingProxyType(
    {"fence": "code", "code_block": "code", "math_display": "formula", "shortcode": "shortcode"}
)
"""Type of a block token whose lines are checked → name of the element in messages."""


def hidden_characters(state: StateCore) -> None:
    """Warn about the first invisible character of each code line, formula and shortcode (core rule)."""
    page = get_page(state.env)
    for token in state.tokens:
        if token.type in _BY_LINES and token.map:
            _warn_in_lines(page, token, _BY_LINES[token.type])
        elif token.type == "inline" and find_hidden(token.content):
            _warn_in_text(page, get_record(token, TextMap), token.children or ())
        elif token.type == "html_block" and token.children:
            warn_of_hidden_math(token.children, page.reporter)


def warn_of_hidden_math(tokens: Iterable[Token], reporter: Reporter) -> None:
    """Warn about invisible characters in the formulas among inline tokens."""
    for token in tokens:
        if token.type in ("math_inline", "math_display"):
            _warn_in_map(get_record(token, Math).origin, "formula", reporter)


def _warn_in_lines(page: PageState, token: Token, what: str) -> None:
    first, end = token.map or (0, 0)
    for number in range(first, min(end, len(page.lines))):
        if found := find_hidden(page.lines[number]):
            _warn(page.reporter, what, found[0], Place(page.first_line + number, found.start() + 1))


def _warn_in_text(page: PageState, origin: TextMap, children: Sequence[Token]) -> None:
    warn_of_hidden_math(children, page.reporter)
    for child in children:
        if child.type in ("shortcode", "shortcode_inline"):
            for argument in get_record(child, Shortcode).arg_maps.values():
                _warn_in_map(argument, "shortcode", page.reporter)
        elif child.type in ("code_inline", "value") and (found := find_hidden(child.content)):
            at = max(0, origin.text.find(child.content))
            _warn(page.reporter, "code", found[0], origin.place(at + found.start()))


def _warn_in_map(origin: TextMap, what: str, reporter: Reporter) -> None:
    if found := find_hidden(origin.text):
        _warn(reporter, what, found[0], origin.place(found.start()))


def _warn(reporter: Reporter, what: str, character: str, place: Place) -> None:
    message = f"invisible character {format_code_point(character)} in this {what}"
    hint = f"remove it, or write it as `{escape_character(character)}`" if what == "code" else "remove it"
    fix = reporter.substitute(place, character, "", title="remove the character")
    reporter.warn("hidden-character", message, place, hint, fix)


# Positions of the lines of a front matter value, for messages about its formulas. YAML has already parsed the
# value, so its text is searched in the source, line by line. If a line is not found because of escapes, the
# rest of the value gets the position reached so far.


def locate_text(text: str, place: Place, lines: Sequence[str]) -> TextMap:
    """Return `text`, split at the author's line breaks, with the start of each line. place: Start of the
    value according to YAML. lines: Lines of the file."""
    number, column = _start(place, lines)
    pieces: list[str] = []
    starts: list[tuple[int, int]] = []
    rest = text
    while number < len(lines):
        piece = lines[number - 1][column - 1 :].rstrip()
        if piece and (len(piece) >= len(rest) or not rest.startswith(piece)):
            break
        if piece:
            pieces.append(piece)
            starts.append((number, column))
            rest = rest[len(piece) :].lstrip()
        number += 1
        column = _indent(lines[number - 1]) + 1
    starts += [(number, column)] * (rest.count("\n") + 1)
    return TextMap("\n".join([*pieces, rest]), tuple(starts))


def _start(place: Place, lines: Sequence[str]) -> tuple[int, int]:
    """Return the line and column of the value's first character, after a quotation mark or block indicator
    (`|`, `>`)."""
    line = lines[place.line - 1] if place.line <= len(lines) else ""
    opening = line[place.column - 1 : place.column]
    if opening and opening in "|>" and place.line < len(lines):
        return place.line + 1, _indent(lines[place.line]) + 1
    return place.line, place.column + (opening in ("'", '"'))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
