"""Strings that contain text and markup. Each tag is one character of Unicode's private use area.

Rules for punctuation and case thus work on plain strings. No content of a style or an entry can become markup
when the string is converted to HTML.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...base.patterns import lazy_pattern

TAGS = (
    *("<i>", "</i>", "<b>", "</b>", "<sup>", "</sup>", "<sub>", "</sub>", "<u>", "</u>", "<sc>", "</sc>"),
    *("<nocase>", "</nocase>"),
)
_FIRST_TAG = 0xE000
_FIRST_ITEM = 0xE010
MOST_ITEMS = 100
FIRST_FORMULA = 0xE100
"""Characters from here on represent formulas. All rules treat them as letters."""
MOST_FORMULAS = 0x1000
PRIVATE = lazy_pattern(r"[\ue000-\uf8ff]")
_MARKS = lazy_pattern(r"[\ue000-\ue0ff]+")
_PAIRS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "!": {".": "!", "?": "!?", ":": "!", ",": "!,", ";": "!;"},
        "?": {"!": "?!", ".": "?", ":": "?", ",": "?,", ";": "?;"},
        ".": {"!": ".!", "?": ".?", ":": ".:", ",": ".,", ";": ".;"},
        ":": {"!": "!", "?": "?", ".": ":", ",": ":,", ";": ":;"},
        ",": {"!": ",!", "?": ",?", ":": ",:", ".": ",.", ";": ",;"},
        ";": {"!": "!", "?": "?", ":": ";", ".": ";", ",": ";,"},
    }
)
"""Two punctuation characters that meet → characters to print instead of them, as in citeproc-js."""
_QUOTES = "”’»"


def tag_character(tag: str) -> str:
    """Return the character that represents a tag."""
    return chr(_FIRST_TAG + TAGS.index(tag))


def find_tag(sign: str) -> str:
    """Return the tag that a character represents; empty if there is none."""
    number = ord(sign) - _FIRST_TAG
    return TAGS[number] if 0 <= number < len(TAGS) else ""


def item_markers(index: int) -> tuple[str, str]:
    """Return the two characters that surround the item at `index` in a citation."""
    start = _FIRST_ITEM + 2 * (index % MOST_ITEMS)
    return chr(start), chr(start + 1)


def is_mark(sign: str) -> bool:
    """Return whether a character is invisible markup."""
    return "\ue000" <= sign <= "\ue0ff"


def wrap(text: str, tag: str) -> str:
    """Return the text with a tag around it, as in `wrap("x", "i")`."""
    return f"{tag_character(f'<{tag}>')}{text}{tag_character(f'</{tag}>')}" if text else ""


def plain(text: str) -> str:
    """Return the text without markup."""
    return _MARKS.sub("", text)


def concat(first: str, second: str, *, into_quotes: bool = False) -> str:
    """Join two strings. Merge duplicate punctuation and spaces where they meet. into_quotes: move a full stop
    or comma that follows closing quotes inside the quotes."""
    if not first or not second:
        return first or second
    end, start = _last_seen(first), _first_seen(second)
    if end < 0 or start < 0:
        return first + second
    left, right = first[end], second[start]
    if into_quotes and left in _QUOTES and right in ".,":
        return _put_inside(first, end, right) + second[:start] + second[start + 1 :]
    if left == right and (left in _PAIRS or left == " "):
        return first + second[:start] + second[start + 1 :]
    printed = _PAIRS.get(left, {}).get(right)
    if printed is None:
        return first + second
    if len(printed) == 2:
        return first + second
    if printed == left:
        return first + second[:start] + second[start + 1 :]
    return first[:end] + first[end + 1 :] + second


def _put_inside(text: str, end: int, sign: str) -> str:
    """Insert a punctuation character before the closing quotes at the end of the text."""
    before = end
    while before > 0 and (text[before - 1] in _QUOTES or is_mark(text[before - 1])):
        before -= 1
    return concat(text[:before], sign) + text[before:]


def _last_seen(text: str) -> int:
    index = len(text) - 1
    while index >= 0 and is_mark(text[index]):
        index -= 1
    return index


def _first_seen(text: str) -> int:
    index = 0
    while index < len(text) and is_mark(text[index]):
        index += 1
    return index if index < len(text) else -1
