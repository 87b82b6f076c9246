"""Pieces of a page that are as they will be: later rewrites see a mark in their place."""

from __future__ import annotations

import re

from .text.pieces import restore_marks


class FinishedPieces:
    """The pieces of one text. Lives as long as its translation."""

    def __init__(self, marks: str = "\ue010\ue011") -> None:
        """marks: two private characters, others for pieces that lie in pieces."""
        self._open, self._close = marks[0], marks[1]
        self._mark = re.compile(f"{self._open}(\\d+){self._close}")
        self._pieces: list[str] = []

    def put(self, text: str) -> str:
        """A mark that stands for `text`: private characters that no author writes."""
        self._pieces.append(text)
        return f"{self._open}{len(self._pieces) - 1}{self._close}"

    def restore(self, text: str) -> str:
        """`text` with every mark replaced by what it stands for, marks in that too."""
        return restore_marks(text, self._mark, self._pieces)
