"""Text → terms: words without case and diacritics, and pairs of characters where no space parts words.

`terms` of the themes' `search-words.js` makes the same of what a reader types.
"""

from __future__ import annotations

import unicodedata

from ...base.patterns import lazy_pattern

LONGEST = 40
"""Characters of a term; what is longer is no word that anybody types."""

_DIACRITICS = lazy_pattern("[\u0300-\u036f]+")
# vowel signs and tone marks, which are no letters for Python, do not end a word
_MARKS = "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0dff\u0f00-\u0fff"
_WORD = lazy_pattern(rf"[^\W_](?:[^\W_]|[{_MARKS}])*")
# Han, Kana, Thai, Lao, Burmese, Khmer: between words there is nothing
_PAIRED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_PARTS = lazy_pattern(rf"[{_PAIRED}]+|[^{_PAIRED}]+")
_HAS_PAIRED = lazy_pattern(rf"[{_PAIRED}]")


def fold(text: str) -> str:
    """`text` in lower case without diacritics: `Émile` → `emile`, `Straße` → `strasse`."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text.lower())
    return unicodedata.normalize("NFC", _DIACRITICS.sub("", plain)).replace("ß", "ss").replace("ς", "σ")


def split_terms(text: str) -> list[str]:
    """The terms of a text in their order. Single ASCII letters and digits are none: formulas have their own
    index."""
    folded = fold(text)
    words = _WORD.findall(folded)
    if folded.isascii():
        return [word for word in words if 1 < len(word) <= LONGEST]
    if not _HAS_PAIRED.search(folded):
        return [word for word in words if 1 < len(word) <= LONGEST or (len(word) == 1 and not word.isascii())]
    return [term for word in words for part in _PARTS.findall(word) for term in _split_part(part)]


def _split_part(part: str) -> list[str]:
    """A run of characters without spaces between words as its pairs; any other one as it is."""
    if _HAS_PAIRED.match(part):
        return [part[at : at + 2] for at in range(max(1, len(part) - 1))]
    return [part] if len(part) <= LONGEST and (len(part) > 1 or not part.isascii()) else []
