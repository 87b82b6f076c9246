"""How long a page takes to read: prose by the word, formulas and code in seconds.

What is folded when the page opens counts nothing, for few readers unfold all of it. Pictures and results of
cells count nothing either: a glance and a study of the same table are minutes apart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..base.patterns import lazy_pattern

WORDS_PER_MINUTE = 220
SECONDS_PER_FORMULA = 3
SECONDS_PER_DISPLAY = 6
SECONDS_PER_CODE_LINE = 1.5

_WORD = lazy_pattern(r"[^\W_]+(?:['’.-][^\W_]+)*")
_LETTER, _JOINT, _GAP = b"a", b"-", b" "
_SIGNS = bytes(
    ord(_LETTER)
    if chr(code).isascii() and chr(code).isalnum()
    else ord(_JOINT if chr(code) in "'.-" else _GAP)
    for code in range(256)
)
"""What a character of ASCII is for `_WORD`."""
_JOINED, _WORD_START = _LETTER + _JOINT + _LETTER, _GAP + _LETTER
_DETAILS = lazy_pattern(r"<(/?)details(?=[\s>/])((?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>", re.IGNORECASE)
_OPEN = lazy_pattern(r"(?:^|\s)open(?=[\s=/]|$)", re.IGNORECASE)


@dataclass
class ReadingTime:
    """Of the part of a page that was rendered so far."""

    seconds: float = 0.0
    _folds: list[bool] = field(default_factory=list)
    """Of each element around the place that can be folded, whether it starts folded."""

    def enter(self, *, is_folded: bool) -> None:
        """An element that can be folded starts."""
        self._folds.append(is_folded)

    def leave(self) -> None:
        """The innermost such element ends; more ends than starts are the author's mistake, and harmless."""
        if self._folds:
            self._folds.pop()

    def pass_html(self, html: str) -> None:
        """Raw HTML, which may start and end `<details>`."""
        if "details" not in html.lower():
            return
        for closing, attributes in _DETAILS.findall(html):
            if closing:
                self.leave()
            else:
                self.enter(is_folded=not _OPEN.search(attributes))

    def add_words(self, text: str) -> None:
        """Prose that is printed."""
        words = _count_ascii(text) if text.isascii() else len(_WORD.findall(text))
        self._add(words * 60 / WORDS_PER_MINUTE)

    def add_formula(self, *, display: bool) -> None:
        """A formula that is printed."""
        self._add(SECONDS_PER_DISPLAY if display else SECONDS_PER_FORMULA)

    def add_code(self, lines: int) -> None:
        """Code that is printed."""
        self._add(lines * SECONDS_PER_CODE_LINE)

    def _add(self, seconds: float) -> None:
        if not self._folds or not any(self._folds):
            self.seconds += seconds


def _count_ascii(text: str) -> int:
    """As many as `_WORD` finds in a text of ASCII, in a tenth of the time."""
    signs = _GAP + text.encode("ascii").translate(_SIGNS)
    if _JOINED in signs:
        # twice, for of two joints around one letter only the first is found
        signs = signs.replace(_JOINED, 2 * _LETTER).replace(_JOINED, 2 * _LETTER)
    return signs.replace(_JOINT, _GAP).count(_WORD_START)
