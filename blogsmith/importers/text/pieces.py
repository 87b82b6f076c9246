"""Text that other rewrites or blogsmith must not see: fragments behind marks, characters as literals."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ...api.importing import lazy_pattern

_LARGEST = 20_000_000
"""Characters of a page; no source is larger."""
_DEEPEST = 50
OPEN, CLOSE = "\ue010", "\ue011"
"""Around the number of a piece: private characters that no author writes."""
MASKED = lazy_pattern("\ue000(\\d+)\ue001")
"""The mark that `segments.mask` leaves; the number is an index of `MaskedText.hidden`."""


class Pieces:
    """The pieces of one text. Lives as long as its translation."""

    def __init__(self, marks: str = OPEN + CLOSE) -> None:
        """marks: two private characters, others than these for pieces that lie in pieces."""
        self._open, self._close = marks[0], marks[1]
        self._mark = re.compile(f"{self._open}(\\d+){self._close}")
        self._texts: list[str] = []

    def mask(self, text: str) -> str:
        """A mark that stands for `text`."""
        self._texts.append(text)
        return f"{self._open}{len(self._texts) - 1}{self._close}"

    def hide(self, pattern: re.Pattern[str], text: str) -> str:
        """`text` with all matches replaced by marks."""
        return pattern.sub(lambda found: self.mask(found[0]), text)

    def restore(self, text: str) -> str:
        """`text` with every mark replaced by what it stands for, marks in that too."""
        return restore_marks(text, self._mark, self._texts)


def restore_marks(text: str, mark: re.Pattern[str], pieces: Sequence[str]) -> str:
    """`text` with every mark replaced by the piece of its number, marks in that too.

    Ends also where a text was made to hold marks: one of a piece in itself, of no piece, or some that double.
    """

    def piece(found: re.Match[str]) -> str:
        number = int(found[1][:9])
        return pieces[number] if number < len(pieces) else "\ufffd"

    for _ in range(len(pieces)):
        before, text = text, mark.sub(piece, text)
        if text == before or len(text) > _LARGEST:
            break
    return mark.sub("\ufffd", text)


def closing_bracket(text: str, start: int, pair: str = "[]") -> int:
    """Where the bracket that opens at `start` closes; -1 if it does not, or not in its paragraph, or if more
    are nested in it than anybody writes."""
    depth, position = 0, start
    while position < len(text):
        char = text[position]
        if char == "\\":
            position += 2
            continue
        if char == "\n" and text[position + 1 : position + 2] == "\n":
            return -1
        depth += {pair[0]: 1, pair[1]: -1}.get(char, 0)
        if depth == 0:
            return position
        if depth > _DEEPEST:
            # else each of a thousand openings would look at all the others
            return -1
        position += 1
    return -1


def replace_bracketed(text: str, opener: str, replace: Callable[[str, str], tuple[str, int] | None]) -> str:
    """Every text in brackets behind `opener`, which ends with one, replaced; innermost ones first.

    replace: takes what is in the brackets and all that follows; gives what stands there instead and how many
    characters of what follows belong to it, or None to leave it.
    """
    position = text.rfind(opener)
    while position >= 0:
        escaped = position > 0 and text[position - 1] == "\\"
        end = -1 if escaped else closing_bracket(text, position + len(opener) - 1)
        found = None if end < 0 else replace(text[position + len(opener) : end], text[end + 1 :])
        if found is not None:
            text = text[:position] + found[0] + text[end + 1 + found[1] :]
        position = text.rfind(opener, 0, position)
    return text


_BRACKET = lazy_pattern(r"(?<!\\)\\([(\[)])")


_WIKI = lazy_pattern(r"(?<![\\!\[\"'=])\[\[(?=[^\[\]\n]+\]\](?![(\[:]))")


def literal_wikilinks(prose: str) -> str:
    """`[[word]]` as text, which would be a key or a link to a page here."""
    return _WIKI.sub("&#91;[", prose)


_MARK = lazy_pattern(r"(?<![=\\])==(?=[^\s=])(?=[^\n=]*[^\s=]==(?!=))")


def literal_highlights(prose: str) -> str:
    """`==text==` as text, which would be marked here."""
    return _MARK.sub(r"\\==", prose)


def literal_shortcodes(masked: str) -> str:
    """`{%` as text. masked: text in which code and formulas are hidden."""
    return masked.replace("{%", "&#123;%")


def literal_brackets(prose: str) -> str:
    r"""`\(` and `\[` as the brackets that Markdown makes of them, where these open no formula."""
    return _BRACKET.sub(r"\1", prose)
