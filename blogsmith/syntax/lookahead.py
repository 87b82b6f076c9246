"""Fast searches for closing delimiters, and the ends of code spans.

A text may have thousands of opening delimiters without an end. To search to the end of the text for each of
them would take quadratic time. Therefore the functions cache their result for a text.
"""

from __future__ import annotations

import re
from functools import lru_cache


def occurs_after(text: str, mark: str, pos: int) -> bool:
    """Return whether `text` contains `mark` at `pos` or later. The match may be inside code."""
    return _last_index(text, mark) >= pos


@lru_cache(maxsize=16)
def _last_index(text: str, mark: str) -> int:
    return text.rfind(mark)


def matches_after(text: str, pattern: re.Pattern[str], pos: int) -> bool:
    """Return whether `pattern` matches anywhere in `text` at `pos` or later."""
    return _last_match(text, pattern) >= pos


@lru_cache(maxsize=16)
def _last_match(text: str, pattern: re.Pattern[str]) -> int:
    return max((found.start() for found in pattern.finditer(text)), default=-1)


# Code spans inside text that other rules scan: code takes precedence over everything else.


def code_span_end(text: str, pos: int, end: int) -> int:
    """Return the index after the code span that opens at `pos`, or `pos` if it is not closed before `end`. A
    span is closed by a run of backticks of the same length (CommonMark 6.1)."""
    width = run_length(text, pos, end)
    at = pos + width
    while (at := text.find("`", at, end)) >= 0:
        closing = run_length(text, at, end)
        if closing == width:
            return at + closing
        at += closing
    return pos


def run_length(text: str, pos: int, end: int) -> int:
    """Return the length of the run of equal characters that starts at `pos`."""
    at = pos
    while at < end and text[at] == text[pos]:
        at += 1
    return at - pos
