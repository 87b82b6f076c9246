r"""Letters and words, defined once for ids, URLs, tags, search, reading time and social cards.

A word starts with a letter or digit. Combining marks, such as vowels of Hindi and points of Hebrew, belong to
the letter before them; Python's `\w` leaves them out. Enclosing marks, as in `1️⃣`, are symbols. The themes'
`search-words.js` contains the same rule for browsers.
"""

from __future__ import annotations

import unicodedata

from ..base.patterns import lazy_pattern

INVISIBLE = "\u00ad\u034f\u180b-\u180d\u180f\u200c\u200d\u2060\ufe00-\ufe0f\U000e0100-\U000e01ef"
"""Ranges of characters without a shape of their own: soft hyphens, joiners, variation selectors."""

IDEOGRAPHIC = "\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Ranges of Han and Kana: scripts without spaces between words, where a character is a syllable or a word."""
ALPHABETIC = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Ranges of Thai, Lao, Burmese and Khmer: scripts with an alphabet but without spaces between words."""
UNSPACED = IDEOGRAPHIC + ALPHABETIC

MARKS = (
    "\u0300-\u034e\u0350-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7"
    "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711-\u07f3\u07fd"
    "\u0816-\u082d\u0859-\u085b\u0898-\u08e1\u08e3-\u0963\u0981-\u09e3\u09fe-\u0a75\u0a81-\u0ae3"
    "\u0afa-\u0b63\u0b82-\u0bd7\u0c00-\u0c63\u0c81-\u0c83\u0cbc-\u0d4d\u0d57-\u0d63\u0d81-\u0df3"
    "\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ecd\u0f18-\u0f19\u0f35\u0f37\u0f39\u0f3e-\u0f84\u0f86-\u0fbc"
    "\u0fc6\u102b-\u103e\u1056-\u109d\u135d-\u135f\u1712-\u1734\u1752-\u17d3\u17dd\u1885-\u193b"
    "\u1a17-\u1a1b\u1a55-\u1a7f\u1ab0-\u1abd\u1abf-\u1b44\u1b6b-\u1b73\u1b80-\u1bf3\u1c24-\u1c37"
    "\u1cd0-\u1cd2\u1cd4-\u1dff\u20d0-\u20dc\u20e1\u20e5-\u20f0\u2cef-\u2cf1\u2d7f-\u2dff\u302a-\u302f"
    "\u3099-\u309a\ua66f\ua674-\ua67d\ua69e-\ua6f1\ua802-\ua827\ua82c\ua880-\ua8c5\ua8e0-\ua8f1"
    "\ua8ff-\ua92d\ua947-\ua953\ua980-\ua9c0\ua9e5-\uaa4d\uaa7b-\uaac1\uaaeb-\uaaef\uaaf5-\uaaf6"
    "\uabe3-\uabea\uabec-\uabed\ufb1e\ufe20-\ufe2f\U000101fd-\U0001037a\U00010a01-\U00010a3f"
    "\U00010ae5-\U00010ae6\U00010d24-\U00010eac\U00010f46-\U00010f50\U00010f82-\U00010f85"
    "\U00011000-\U00011046\U00011070-\U000110ba\U000110c2\U00011100-\U00011134\U00011145-\U00011173"
    "\U00011180-\U000111c0\U000111c9-\U000111cc\U000111ce-\U000111cf\U0001122c-\U00011237\U0001123e"
    "\U000112df-\U00011446\U0001145e-\U000114c3\U000115af-\U000115c0\U000115dc-\U00011640"
    "\U000116ab-\U000116b7\U0001171d-\U0001172b\U0001182c-\U0001183a\U00011930-\U00011943"
    "\U000119d1-\U000119e0\U000119e4-\U00011a3e\U00011a47-\U00011a99\U00011c2f-\U00011c3f"
    "\U00011c92-\U00011ef6\U00016af0-\U00016af4\U00016b30-\U00016b36\U00016f4f-\U00016f92"
    "\U00016fe4-\U00016ff1\U0001bc9d-\U0001bc9e\U0001cf00-\U0001cf46\U0001d165-\U0001d169"
    "\U0001d16d-\U0001d172\U0001d17b-\U0001d182\U0001d185-\U0001d18b\U0001d1aa-\U0001d1ad"
    "\U0001d242-\U0001d244\U0001da00-\U0001da36\U0001da3b-\U0001da6c\U0001da75\U0001da84"
    "\U0001da9b-\U0001e136\U0001e2ae-\U0001e2ef\U0001e8d0-\U0001e94a"
)
"""Ranges of the nonspacing and spacing marks of Unicode 14. The ranges also cover some letters and digits
between marks."""

IN_NAMES = rf"\w{MARKS}"
"""Content of a character class, without its brackets: matches letters, digits, marks and `_`."""

WORD_PATTERN = rf"[^\W_]+(?:[{MARKS}]+[^\W_]*)*"
_WORD = lazy_pattern(WORD_PATTERN)
_INVISIBLE = lazy_pattern(f"[{INVISIBLE}]+")


def find_words(text: str) -> list[str]:
    """Return the words of `text` in order."""
    return _WORD.findall(text)


def remove_invisible(text: str) -> str:
    """Return `text` without characters that have no shape of their own, because they do not separate
    words."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def fold_case(text: str) -> str:
    """Return `text` in lower case and in normal form C. The Turkish `İ` becomes `i`, without a dot above."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFC", text).casefold()
    return unicodedata.normalize("NFC", folded.replace("i\u0307", "i"))


def split_clusters(text: str) -> list[str]:
    """Return the characters of `text`, each with its marks and invisible characters."""
    found: list[str] = []
    for char in text:
        if found and not char.isascii() and unicodedata.category(char) in ("Mn", "Mc", "Me", "Cf"):
            found[-1] += char
        else:
            found.append(char)
    return found
