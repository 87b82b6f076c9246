"""Invisible characters: those that no page may contain, and those that mislead in code.

Some scripts and emoji are written with invisible characters, so running text may contain them. In code they
make the code that runs differ from the code that a reader sees (CVE-2021-42574, "Trojan Source").
"""

from __future__ import annotations

import re

from ..patterns import lazy_pattern

# HTML 13.2.3.5 forbids controls other than white space, surrogates and noncharacters. Those beyond U+FFFF
# have a separate pattern: in one class with the others, each character would be compared with all of them.
_FORBIDDEN = lazy_pattern("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_PLANES = range(0x10000, 0x110000, 0x10000)
_NO_CHARACTERS = "".join(f"{chr(first + 0xFFFE)}{chr(first + 0xFFFF)}" for first in _PLANES)
_SUPPLEMENTARY_NONCHARACTERS = lazy_pattern(f"[\U0001fffe-\U0010ffff](?<=[{_NO_CHARACTERS}])")

# always hidden: soft hyphen, combining grapheme joiner, direction marks, Hangul and Khmer fillers, Mongolian
# separator, zero-width space, embeddings and overrides, word joiner, invisible operators, isolates, byte
# order mark, annotations
_ALWAYS = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    "\u3164\ufeff\uffa0\ufff9-\ufffb"
)
_JOINERS = "\u200c\u200d"
_TAGS = "\U000e0000-\U000e007f"
_CANDIDATE = lazy_pattern(f"[{_ALWAYS}{_JOINERS}]")
_TAG = lazy_pattern(f"[{_TAGS}]")
# hidden only where no emoji or word needs them: a joiner next to an ASCII letter or alone at the start of a
# line; a tag that is not part of a flag
_HIDDEN = lazy_pattern(
    f"[{_ALWAYS}]"
    f"|(?:(?<=[\x00-\x7f])|^)[{_JOINERS}]|[{_JOINERS}](?=[0-9A-Za-z_])"
    f"|(?<![\U0001f3f4\U000e0020-\U000e007e])[{_TAGS}]",
    re.MULTILINE,
)


# The forbidden characters as UTF-8 bytes; bytes can be searched in a fifth of the time. First the ASCII
# controls, then pairs of a rare byte and the sequences that may contain it.
_CONTROLS = bytes((*range(0x09), 0x0B, *range(0x0E, 0x20), 0x7F))
_LOWER = bytes(range(256)).lower()
_WIDE_CONTROL = lazy_pattern(b"\xc2[\x80-\x9f]")
_SEQUENCES = (
    (b"\xed", (b"\xed",)),
    (b"\xef", (b"\xef\xb7", b"\xef\xbf")),
    (b"\xbf", (b"\xbf\xbe", b"\xbf\xbf")),
)


def _may_contain_forbidden(text: str) -> bool:
    """Return whether `text` may contain a forbidden character. This is fast, since most documents contain
    none."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data.translate(None, _CONTROLS)) < len(data):
        return True
    return len(data) > len(text) and _may_contain_multibyte(data)


def _may_contain_multibyte(data: bytes) -> bool:
    """Return whether `data` may contain a forbidden character that takes more than one byte in UTF-8."""
    if any(rare in data and any(one in data for one in sequences) for rare, sequences in _SEQUENCES):
        return True
    # in a two-byte character the second byte shows whether it is a control
    return b"\xc2" in data and _WIDE_CONTROL.search(data) is not None


def find_forbidden(text: str) -> re.Match[str] | None:
    """Return the first character that no HTML page may contain; None if there is none."""
    if not _may_contain_forbidden(text):
        return None
    found, beyond = _FORBIDDEN.search(text), _SUPPLEMENTARY_NONCHARACTERS.search(text)
    return min(filter(None, (found, beyond)), key=lambda one: one.start(), default=None)


def remove_forbidden(text: str) -> str:
    """Return `text` without the characters that no HTML page may contain."""
    return (
        _SUPPLEMENTARY_NONCHARACTERS.sub("", _FORBIDDEN.sub("", text))
        if _may_contain_forbidden(text)
        else text
    )


def lower_allowed(data: bytes) -> bytes | None:
    """Return UTF-8 data with its ASCII letters in lower case. Return None if the data may contain forbidden
    characters. One function does both, to save a pass over each page."""
    low = data.translate(_LOWER, _CONTROLS)
    return None if len(low) < len(data) or _may_contain_multibyte(data) else low


def find_hidden(text: str) -> re.Match[str] | None:
    """Return the first invisible character that is not part of a word or an emoji; None if there is none."""
    if text.isascii() or not (_CANDIDATE.search(text) or _TAG.search(text)):
        return None
    return _HIDDEN.search(text)


def format_code_point(char: str) -> str:
    """Return the name of a character, such as `U+202E`."""
    return f"U+{ord(char):04X}"


def escape_character(char: str) -> str:
    r"""Return the character as an escape sequence of programming languages, such as `\u202e`."""
    return f"\\u{ord(char):04x}" if ord(char) <= 0xFFFF else f"\\U{ord(char):08x}"


def is_visible(text: str, index: int) -> bool:
    """Return whether the character at `index` is neither forbidden nor hidden."""
    return not (
        _FORBIDDEN.match(text, index)
        or _SUPPLEMENTARY_NONCHARACTERS.match(text, index)
        or _HIDDEN.match(text, index)
    )
