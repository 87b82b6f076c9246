"""Text with markup as one string: tags are single signs of Unicode's private area, no text to any rule.

So every rule about punctuation and case works on a string, and nothing that a style or an entry holds can be
markup where the string becomes HTML.
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
"""Signs from here on stand for formulas; they are letters to every rule."""
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
"""Two signs that come together → what is printed, as citeproc-js has it."""
_QUOTES = "”’»"


def tag_sign(tag: str) -> str:
    """The sign that stands for a tag."""
    return chr(_FIRST_TAG + TAGS.index(tag))


def tag_of(sign: str) -> str:
    """The tag that a sign stands for; empty if it is none."""
    number = ord(sign) - _FIRST_TAG
    return TAGS[number] if 0 <= number < len(TAGS) else ""


def item_signs(index: int) -> tuple[str, str]:
    """The signs around the n-th item of a citation."""
    start = _FIRST_ITEM + 2 * (index % MOST_ITEMS)
    return chr(start), chr(start + 1)


def is_mark(sign: str) -> bool:
    """Whether a sign is markup and nothing to be seen."""
    return "\ue000" <= sign <= "\ue0ff"


def wrap(text: str, tag: str) -> str:
    """The text in a tag: `wrap("x", "i")`."""
    return f"{tag_sign(f'<{tag}>')}{text}{tag_sign(f'</{tag}>')}" if text else ""


def plain(text: str) -> str:
    """The text without markup."""
    return _MARKS.sub("", text)


def concat(first: str, second: str, *, into_quotes: bool = False) -> str:
    """One text behind the other, punctuation and blanks that come together made one.

    into_quotes: a full stop or comma goes inside of the quotes in front of it.
    """
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
    """A sign put in front of the closing quotes that end a text."""
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
