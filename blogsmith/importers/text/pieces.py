"""Placeholders that protect fragments of a text from rewrites. Also escapes for characters that must stay
literal, and headings."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ...api.importing import lazy_pattern, slugify

_TITLE = lazy_pattern(
    r"\s*#[ \t]+(?P<text>[^\n]+?)[ \t]*#*[ \t]*(?:\n|\Z)|\s*(?P<under>[^\n#>`|-][^\n]*)\n=+[ \t]*(?:\n|\Z)"
)


def split_title(text: str) -> tuple[str, str]:
    """Return the level-1 heading at the start of the text, and the text after it.

    Return an empty heading and the whole text if the text starts with anything else.
    """
    found = _TITLE.match(text)
    return ((found["text"] or found["under"]).strip(), text[found.end() :]) if found else ("", text)


_ATX = lazy_pattern(r"^([ ]{0,3})(#{1,6})(?=[ \t]|$)([^\n]*)$", re.MULTILINE)
_SETEXT = lazy_pattern(
    r"(?m)"
    r"^(?P<text>(?![ \t]*(?:[-*+>|#]|\d+[.)])[ \t])[ ]{0,3}[^\s|][^\n]*)\n[ ]{0,3}(?P<line>=+|-{2,})[ \t]*$"
)
_ID = lazy_pattern(r"\{[^{}]*#([^\s{}]+)[^{}]*\}[ \t#]*$")
_CLOSING = lazy_pattern(r"[ \t]+#+[ \t]*$")
_MARKUP = lazy_pattern(r"!?\[([^\]]*)\]\([^)]*\)|<[^>]+>|[*`~]|(?<![^\W_])_|_(?![^\W_])")


def demote_headings(masked: str) -> str:
    """Move all headings down one level if one of them has level 1, which is reserved for the title.

    masked: text with code and formulas hidden.
    """
    text = _SETEXT.sub(_atx, masked) if re.search(r"^=+[ \t]*$", masked, re.MULTILINE) else masked
    if not any(len(found[2]) == 1 for found in _ATX.finditer(text)):
        return masked
    return _ATX.sub(lambda found: f"{found[1]}{'#' * min(6, len(found[2]) + 1)}{found[3]}", text)


def repeated_title(masked: str, title: str) -> str:
    """Return the source of the heading at the start of the text if it has level 1 and repeats the page's
    title. Otherwise, return an empty string."""
    found = _ATX.search(masked)
    if not found or masked[: found.start()].strip() or len(found[2]) > 1:
        return ""
    return found[0] if slugify(heading_text(found[3])) == slugify(title) else ""


def _atx(found: re.Match[str]) -> str:
    """Convert a match of an underlined heading to a heading with `#` characters."""
    return f"{'#' if found['line'][0] == '=' else '##'} {found['text'].strip()}"


def heading_text(written: str) -> str:
    """Return the text of a heading without markup and attributes."""
    text = _CLOSING.sub("", _ID.sub("", written.strip()))
    return _MARKUP.sub(lambda found: found[1] or "", text).strip()


_MAX_CHARACTERS = 20_000_000
"""Maximum number of characters of a restored text; no real page is larger."""
_MAX_DEPTH = 50
OPEN, CLOSE = "\ue010", "\ue011"
"""Delimiters of a placeholder's number: private-use characters, which authors do not use."""
MASKED = lazy_pattern("\ue000(\\d+)\ue001")
"""Placeholder that `segments.mask` inserts; the number is an index of `MaskedText.hidden`."""


class HiddenFragments:
    """Fragments that placeholders replace in one text while it is translated."""

    def __init__(self, marks: str = OPEN + CLOSE) -> None:
        """Create the object without fragments.

        marks: two private-use characters that delimit placeholders. A text inside a hidden fragment needs
        other characters than the default.
        """
        self._open, self._close = marks[0], marks[1]
        self._mark = re.compile(f"{self._open}(\\d+){self._close}")
        self._texts: list[str] = []

    def mask(self, text: str) -> str:
        """Store `text` as a fragment, and return its placeholder."""
        self._texts.append(text)
        return f"{self._open}{len(self._texts) - 1}{self._close}"

    def hide(self, pattern: re.Pattern[str], text: str) -> str:
        """Replace all matches in `text` with placeholders."""
        return pattern.sub(lambda found: self.mask(found[0]), text)

    def restore(self, text: str) -> str:
        """Replace every placeholder in `text` with its fragment. Fragments may contain placeholders too."""
        return restore_marks(text, self._mark, self._texts)


def restore_marks(text: str, mark: re.Pattern[str], pieces: Sequence[str]) -> str:
    """Replace every placeholder in `text` with its fragment. Fragments may contain placeholders too.

    mark: matches a placeholder; its group is the index in `pieces`. The function also ends for a forged
    placeholder, whose fragment is missing, contains the placeholder itself, or doubles the text.
    """

    def piece(found: re.Match[str]) -> str:
        number = int(found[1][:9])
        return pieces[number] if number < len(pieces) else "\ufffd"

    for _ in range(len(pieces)):
        before, text = text, mark.sub(piece, text)
        if text == before or len(text) > _MAX_CHARACTERS:
            break
    return mark.sub("\ufffd", text)


def closing_bracket(text: str, start: int) -> int:
    """Return the index of the `]` that closes the `[` at `start`. Return -1 if there is none in the
    paragraph, or if brackets are nested in more than `_MAX_DEPTH` levels."""
    depth, position = 0, start
    while position < len(text):
        char = text[position]
        if char == "\\":
            position += 2
            continue
        if char == "\n" and text[position + 1 : position + 2] == "\n":
            return -1
        depth += {"[": 1, "]": -1}.get(char, 0)
        if depth == 0:
            return position
        if depth > _MAX_DEPTH:
            # without this limit, each of a thousand opening brackets would scan all the others
            return -1
        position += 1
    return -1


def replace_bracketed(text: str, opener: str, replace: Callable[[str, str], tuple[str, int] | None]) -> str:
    """Replace every bracketed text after `opener`, from the last to the first. The innermost ones therefore
    come first. `opener` ends with `[`.

    replace: function that gets the text in the brackets, and all text after the closing bracket. It returns
    the replacement and the number of characters after the bracket that are replaced, too. It returns None to
    keep the text.
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
    """Escape `[[word]]`, which blogsmith would read as a keyboard key or a link to a page."""
    return _WIKI.sub("&#91;[", prose)


_MARK = lazy_pattern(r"(?<![=\\])==(?=[^\s=])(?=[^\n=]*[^\s=]==(?!=))")


def literal_highlights(prose: str) -> str:
    """Escape `==text==`, which blogsmith would highlight."""
    return _MARK.sub(r"\\==", prose)


def literal_shortcodes(masked: str) -> str:
    """Escape `{%`. masked: text with code and formulas hidden."""
    return masked.replace("{%", "&#123;%")


def literal_brackets(prose: str) -> str:
    r"""Remove the backslash of `\(` and `\[` where they do not open a formula, as Markdown does."""
    return _BRACKET.sub(r"\1", prose)


_MENTION_TARGET = lazy_pattern(r"^[ ]{0,3}\[@([^\]\n]+)\]:[ \t]*<?(\S+?)>?[ \t]*$\n?", re.MULTILINE)
MENTION = lazy_pattern(r"(?<![\\\]!])\[@([^\]\n]+)\](?:\[\])?(?![(\[:])")
"""Matches a reference link such as `[@name]`, which blogsmith would read as a citation."""


def link_mentions(text: str) -> str:
    """Convert a reference link such as `[@name]` to a link with the URL of its definition `[@name]: URL`.
    Remove these definitions."""
    targets = {found[1].casefold(): found[2] for found in _MENTION_TARGET.finditer(text)}

    def substitute(found: re.Match[str]) -> str:
        target = targets.get(found[1].casefold())
        return rf"[\@{found[1]}](<{target}>)" if target else found[0]

    return MENTION.sub(substitute, _MENTION_TARGET.sub("", text)) if targets else text
