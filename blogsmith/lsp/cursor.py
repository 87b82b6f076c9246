"""Finds the element at the cursor, or guesses the construct that the author is typing there.

Unfinished text has no tokens yet, so this module inspects the line and, for formulas, the paragraph. The
guess is used for completion only; the parser decides the meaning of a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from lsprotocol.types import Position
from markdown_it.token import Token
from msgspec import Struct

from ..api.editing import (
    IN_NAMES,
    Cell,
    Citation,
    CitationItem,
    Heading,
    LinkTargetPlace,
    Math,
    Parsed,
    Place,
    Shortcode,
    TextMap,
    Value,
    WikiLink,
    XRef,
    lazy_pattern,
)
from .text_buffer import TextBuffer

Element = Math | XRef | CitationItem | LinkTargetPlace | WikiLink | Shortcode | Cell | Value
_NOTE = lazy_pattern(r"\[\^([^\]\s]+)\]")
_DELIMITERS = 2
"""Number of delimiter characters on each side that count as part of a formula."""


class LocatedElement(Struct, frozen=True):
    """A construct and its location."""

    record: Element
    place: Place
    """Location of the construct, or of its first line."""


def all_tokens(parsed: Parsed) -> Iterator[Token]:
    """Yield every token of a page, starting with those of its title and description."""
    yield from _walk([*parsed.title, *parsed.description, *parsed.tokens])


def _walk(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _walk(token.children or ())


def all_elements(parsed: Parsed) -> Iterator[LocatedElement]:
    """Yield every construct of a page that has a record of the parser."""
    for token in all_tokens(parsed):
        for record in token.meta.values():
            if isinstance(record, Citation):
                yield from (LocatedElement(one, one.place) for one in record.items if one.place)
            elif isinstance(record, Math | Value):
                yield LocatedElement(record, record.origin.place(0, len(record.origin.text)))
            elif isinstance(record, XRef | LinkTargetPlace | WikiLink | Shortcode | Cell):
                yield LocatedElement(record, record.place)


def find_element(parsed: Parsed, buffer: TextBuffer, offset: int) -> LocatedElement | None:
    """Return the construct that contains the character at `offset`. If there are several, return the one that
    begins last; if there is none, None."""
    position = buffer.position(offset)
    line = position.line + 1
    start = buffer.offset(buffer.line_range(position.line, position.line).start)
    column = offset - start + 1
    found = [one for one in all_elements(parsed) if _contains(one, line, column, buffer)]
    return max(found, key=lambda one: (one.place.line, one.place.column), default=None)


def _contains(found: LocatedElement, line: int, column: int, buffer: TextBuffer) -> bool:
    record, place = found.record, found.place
    if isinstance(record, Math):
        return _is_in_text(record.origin, line, column)
    if isinstance(record, Cell):
        last = record.first_line + record.code.count("\n")
        return place.line <= line <= last and not record.file
    length = place.length
    if isinstance(record, Shortcode):
        length = max(length, len(record.source))
    elif isinstance(record, LinkTargetPlace):
        # the place is that of the text or start of a link; the URL follows it
        rest = buffer.line(place.line - 1)[place.column - 1 :]
        at = rest.find(record.target)
        length = at + len(record.target) + 1 if at >= 0 else length
    return place.line == line and place.column <= column <= place.column + length


def _is_in_text(origin: TextMap, line: int, column: int) -> bool:
    pieces = origin.text.split("\n")
    for number, (at, start) in enumerate(origin.starts[: len(pieces)]):
        if at == line:
            more = _DELIMITERS if number in (0, len(pieces) - 1) else 0
            return start - more <= column <= start + len(pieces[number]) + more
    return False


def offset_in_formula(math: Math, buffer: TextBuffer, offset: int) -> int:
    """Return an offset in a formula's TeX for an offset in the file; -1 if it is outside the formula."""
    position = buffer.position(offset)
    column = offset - buffer.offset(Position(position.line, 0)) + 1
    at = 0
    for number, piece in enumerate(math.origin.text.split("\n")):
        line, first = math.origin.starts[min(number, len(math.origin.starts) - 1)]
        if line == position.line + 1:
            return at + column - first
        at += len(piece) + 1
    return -1


def find_footnote(buffer: TextBuffer, offset: int) -> str:
    """Return the name of the footnote reference at a character; empty if there is no reference."""
    position = buffer.position(offset)
    column = offset - buffer.offset(Position(position.line, 0))
    found = (one for one in _NOTE.finditer(buffer.line(position.line)) if one.start() <= column <= one.end())
    return next((one[1] for one in found), "")


def all_headings(parsed: Parsed) -> Iterator[tuple[Heading, Token]]:
    """Yield the headings of a page with their tokens."""
    for token in parsed.tokens:
        record = token.meta.get("heading")
        if isinstance(record, Heading):
            yield record, token


Kind = Literal[
    "label",
    "bare-label",
    "citation",
    "command",
    "environment",
    "callout",
    "shortcode",
    "argument",
    "cell-option",
    "cell-value",
    "link",
    "image",
    "file",
    "wiki-link",
    "footnote",
    "key",
    "value",
    "fence",
]
MAX_LINE_LENGTH = 5_000
"""Maximum number of characters before the cursor that are inspected."""
MAX_LINES = 400
"""Maximum number of lines above the cursor that are searched for the start of a formula or fence."""


class Cursor(Struct, frozen=True):
    """A word at the cursor that can be completed, and its context."""

    kind: Kind
    start: int
    """Offset of the typed word in the text."""
    word: str
    """Part of the word that is typed so far."""
    name: str = ""
    """Name of the shortcode or key that contains the word; empty if there is none."""
    path: tuple[str, ...] = ()
    """YAML keys that contain the word, from the outermost inwards. If the word is a value, its own key is the
    last."""
    is_item: bool = False
    """Whether the value is an item of a list."""


_LABEL = lazy_pattern(r"\\(?:eq)?ref\s*\{\s*([^{}\s]*)$")
_BRACED = lazy_pattern(r"\{@([^{}\s]*)$")
_CITE = lazy_pattern(r"\\(?:cite[a-z]*|nocite)\*?(?:\[[^\]]*\])*\{(?:[^{}]*,)?\s*([^{},\s]*)$")
_BRACKETS = lazy_pattern(r"\[(?:[^\[\]]*[;\s])?-?@([^\s\[\];,]*)$")
_UNBRACED = lazy_pattern(rf"(?:^|[\s(*_,;])-?@([{IN_NAMES}:.-]*)$")
_CALLOUT = lazy_pattern(r"^[\s>]*>\s*\[!([\w-]*)$")
_SHORTCODE = lazy_pattern(r"\{%-?\s*(?:include\s+)?([\w.-]*)$")
_ARGUMENT = lazy_pattern(r"\{%-?\s*(?:include\s+)?([\w.-]+)\s(?:[^%\"']|\"[^\"]*\"|'[^']*')*?([\w-]*)$")
_ARGUMENT_FILE = lazy_pattern(r"\{%[^%]*\b(src|before|after|poster|captions)=[\"']([^\"']*)$")
_IMAGE = lazy_pattern(r"!\[[^\[\]]*\]\(<?([^()\s<>]*)$")
_LINK = lazy_pattern(r"\]\(<?([^()\s<>]*)$")
_WIKI = lazy_pattern(r"\[\[([^\[\]|]*)$")
_FOOTNOTE = lazy_pattern(r"\[\^([^\[\]\s]*)$")
_COMMAND = lazy_pattern(r"\\([A-Za-z]*)$")
_ENVIRONMENT = lazy_pattern(r"\\(?:begin|end)\{([A-Za-z]*\*?)$")
_HTML_FILE = lazy_pattern(r"<(?:img|video|source|a)\b[^<>]*\b(src|href)=[\"']([^\"']*)$")
_FENCE = lazy_pattern(r"^ {0,3}(?:> ?)*[ ]{0,12}(`{3,}|~{3,})(.*)$")
_FENCE_FILE = lazy_pattern(r"\bfile=[\"']?([^\s\"'}]*)$")
_OPTION = lazy_pattern(r"^\s*(?:#|//|%)\|\s*([\w-]*)$")
_OPTION_VALUE = lazy_pattern(r"^\s*(?:#|//|%)\|\s*([\w-]+)\s*:\s*(.*)$")
_EMPTY_LINE = lazy_pattern(r"^[\s>]*$")
_MATH = re.compile(r"\\begin\{[A-Za-z]+\*?\}|\\end\{[A-Za-z]+\*?\}|\\[()\[\]]|\\.|\$\$|\$|`+")
_SPAN = lazy_pattern(r"(`+)(?!`).*?(?<!`)\1(?!`)")


def find_cursor(buffer: TextBuffer, offset: int) -> Cursor | None:
    """Return the word that is being typed in a post, with its context; None if it cannot be completed."""
    number = buffer.position(offset).line
    before = _line_before(buffer, offset)
    head = front_matter_end(buffer)
    if number < head:
        return find_yaml_cursor(buffer, offset, first=1) if number else None
    fence = find_open_fence(buffer, number, head)
    if fence is not None:
        return _find_fence_cursor(buffer, fence, number, before, offset)
    if found := _FENCE.match(before):
        named = _FENCE_FILE.search(found[2])
        return _cursor("file", named, offset, buffer) if named else None
    return _find_prose_cursor(buffer, before, offset, number, head)


def _line_before(buffer: TextBuffer, offset: int) -> str:
    start = buffer.text.rfind("\n", 0, offset) + 1
    return buffer.text[max(start, offset - MAX_LINE_LENGTH) : offset]


def _cursor(
    kind: Kind, found: re.Match[str], offset: int, buffer: TextBuffer, group: int = 1, name: str = ""
) -> Cursor:
    return Cursor(kind, offset - len(found[group]), found[group], name)


def front_matter_end(buffer: TextBuffer) -> int:
    """Return the 0-based number of the line after the front matter; 0 if there is no front matter. If the
    front matter is not closed, return the number of lines."""
    if buffer.line(0).rstrip() != "---":
        return 0
    for number in range(1, buffer.line_count):
        if buffer.line(number).rstrip() in ("---", "..."):
            return number + 1
    return buffer.line_count


def find_open_fence(buffer: TextBuffer, number: int, first: int) -> int | None:
    """Return the number of the first line of the fence that contains the line `number`; None if the line is
    not in a fence. first: first line of the body. Lines are counted from 0."""
    opened: tuple[int, str] | None = None
    for at in range(first, number):
        line = buffer.line(at)
        if "```" not in line and "~~~" not in line:
            continue
        found = _FENCE.match(line)
        if not found:
            continue
        mark, rest = found[1], found[2]
        if opened is None:
            if mark[0] == "~" or "`" not in rest:
                opened = (at, mark)
        elif mark[0] == opened[1][0] and len(mark) >= len(opened[1]) and not rest.strip():
            opened = None
    return opened[0] if opened else None


def _find_fence_cursor(
    buffer: TextBuffer, fence: int, number: int, before: str, offset: int
) -> Cursor | None:
    above = (buffer.line(at).lstrip() for at in range(fence + 1, number))
    if not all(line.startswith(("#|", "//|", "%|")) for line in above):
        return None
    if found := _OPTION.match(before):
        return _cursor("cell-option", found, offset, buffer)
    if found := _OPTION_VALUE.match(before):
        return _cursor("cell-value", found, offset, buffer, 2, found[1])
    return None


_PROSE: Sequence[tuple[Kind, re.Pattern[str], int, int]] = (
    ("label", _LABEL, 1, 0),
    ("label", _BRACED, 1, 0),
    ("citation", _CITE, 1, 0),
    ("environment", _ENVIRONMENT, 1, 0),
    ("footnote", _FOOTNOTE, 1, 0),
    ("wiki-link", _WIKI, 1, 0),
    ("citation", _BRACKETS, 1, 0),
    ("callout", _CALLOUT, 1, 0),
    ("file", _ARGUMENT_FILE, 2, 1),
    ("file", _HTML_FILE, 2, 1),
    ("shortcode", _SHORTCODE, 1, 0),
    ("argument", _ARGUMENT, 2, 1),
    ("image", _IMAGE, 1, 0),
    ("link", _LINK, 1, 0),
)
"""(Kind, pattern, group of the word, group of the name). The first row whose pattern matches is used."""


def _find_prose_cursor(buffer: TextBuffer, before: str, offset: int, number: int, head: int) -> Cursor | None:
    without = _SPAN.sub(lambda span: " " * len(span[0]), before)
    if "`" in without:
        # it is most likely the beginning of inline code
        return None
    for kind, pattern, word, name in _PROSE:
        found = pattern.search(without)
        if found:
            return _cursor(kind, found, offset, buffer, word, found[name] if name else "")
    if (found := _COMMAND.search(before)) and ends_in_formula(paragraph_before(buffer, offset, number, head)):
        return _cursor("command", found, offset, buffer)
    if found := _UNBRACED.search(without):
        return _cursor("bare-label", found, offset, buffer)
    return None


def paragraph_before(buffer: TextBuffer, offset: int, number: int, head: int) -> str:
    """Return the text between the last empty line and the character at `offset`. Display math contains no
    empty lines. number: line of the character. head: line after the front matter."""
    first = number
    while first > max(head, number - MAX_LINES) and not _EMPTY_LINE.match(buffer.line(first - 1)):
        first -= 1
    start = buffer.offset(buffer.line_range(first, first).start)
    return buffer.text[start:offset]


def ends_in_formula(text: str) -> bool:
    """Return whether a formula is open at the end of `text`, which begins at the start of a paragraph."""
    closing = ""
    position = 0
    while found := _MATH.search(text, position):
        sign, position = found[0], found.end()
        if closing:
            if sign == closing:
                closing = ""
        elif sign.startswith("`"):
            end = text.find(sign, position)
            # An unmatched run of backticks is plain text.
            position = end + len(sign) if end >= 0 else position
        elif sign in ("$", "$$"):
            closing = sign
        elif sign in ("\\(", "\\["):
            closing = {"\\(": "\\)", "\\[": "\\]"}[sign]
        elif sign.startswith("\\begin"):
            closing = sign.replace("\\begin", "\\end")
    return bool(closing)


_KEY = lazy_pattern(r"^(\s*(?:- +)*)([\w.-]*)$")
_VALUE = lazy_pattern(r"^(\s*(?:- +)*)([\w.\\-]+|\"[^\"]*\"):\s+(.*)$")
_ITEM = lazy_pattern(r"^(\s*(?:- +)*- +)(.*)$")
_ENTRY = lazy_pattern(r"^(\s*(?:- +)*)([\w.\\-]+|\"[^\"]*\"):(?:\s|$)")


def find_yaml_cursor(buffer: TextBuffer, offset: int, first: int = 0) -> Cursor | None:
    """Return the key or value that is being typed in YAML, which begins on line `first`; None if there is
    none."""
    number = buffer.position(offset).line
    before = _line_before(buffer, offset)
    if found := _VALUE.match(before):
        above = (*_keys_above(buffer, number, len(found[1]), first), found[2].strip('"'))
        start, word = _last_item(found[3])
        return Cursor("value", offset - len(word), word, above[-1], above, is_item=start)
    if found := _KEY.match(before):
        above = _keys_above(buffer, number, len(found[1]), first)
        item = "-" in found[1]
        name = above[-1] if above else ""
        return Cursor("key", offset - len(found[2]), found[2], name, above, is_item=item)
    if found := _ITEM.match(before):
        above = _keys_above(buffer, number, len(found[1]), first)
        return Cursor("value", offset - len(found[2]), found[2], above[-1] if above else "", above, True)
    return None


def _last_item(written: str) -> tuple[bool, str]:
    """Return whether a value starts with the bracket of a list. Also return the word at the end of the
    value."""
    if written.startswith("["):
        return True, re.split(r"[\[,]\s*", written)[-1].lstrip("\"'")
    return False, written.lstrip("\"'")


def _keys_above(buffer: TextBuffer, number: int, indent: int, first: int) -> tuple[str, ...]:
    """Return the parent keys of a line, read from the lines above it."""
    keys: list[str] = []
    for at in range(number - 1, first - 1, -1):
        line = buffer.line(at)
        if not indent or not line.strip() or line.lstrip().startswith("#"):
            continue
        found = _ENTRY.match(line)
        depth = len(line) - len(line.lstrip(" "))
        if found and depth < indent and len(found[1]) < indent:
            keys.append(found[2].strip('"'))
            indent = depth
    return tuple(reversed(keys))


def find_yaml_key(buffer: TextBuffer, offset: int, first: int = 0) -> tuple[tuple[str, ...], int, int] | None:
    """Return the path of the key whose name contains the character at `offset`, and the start and end of the
    name. None if there is no key."""
    number = buffer.position(offset).line
    line = buffer.line(number)
    found = _ENTRY.match(line)
    start = buffer.offset(buffer.line_range(number, number).start)
    if not found or not found.start(2) <= offset - start <= found.end(2):
        return None
    path = (*_keys_above(buffer, number, len(found[1]), first), found[2].strip('"'))
    return path, start + found.start(2), start + found.end(2)
