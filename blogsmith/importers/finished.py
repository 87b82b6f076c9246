"""Pieces of a page that are as they will be: later rewrites see a mark in their place."""

from __future__ import annotations

import re

_OPEN, _CLOSE = "\ue010", "\ue011"
_MARK = re.compile(f"{_OPEN}(\\d+){_CLOSE}")


class FinishedPieces:
    """The pieces of one page. Lives as long as its translation."""

    def __init__(self) -> None:
        self._pieces: list[str] = []

    def put(self, text: str) -> str:
        """A mark that stands for `text`: private characters that no author writes."""
        self._pieces.append(text)
        return f"{_OPEN}{len(self._pieces) - 1}{_CLOSE}"

    def restore(self, text: str) -> str:
        """`text` with every mark replaced by what it stands for, marks in that too."""
        while _MARK.search(text):
            text = _MARK.sub(lambda found: self._pieces[int(found[1])], text)
        return text
