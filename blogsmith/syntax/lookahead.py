"""Searches for a closing mark before a text is parsed, past code spans.

Thousands of openings without an end would each be searched for to the end of the text, and cost the
square of its length. The answer for a text is kept, since it is asked again at every opening.
"""

from __future__ import annotations

import re
from functools import lru_cache


def comes_after(text: str, mark: str, pos: int) -> bool:
    """Whether `mark` stands in `text` at `pos` or later; may be in code, so yes means perhaps."""
    return _last_index(text, mark) >= pos


@lru_cache(maxsize=16)
def _last_index(text: str, mark: str) -> int:
    return text.rfind(mark)


def matches_after(text: str, pattern: re.Pattern[str], pos: int) -> bool:
    """Whether `pattern` matches somewhere in `text` at `pos` or later."""
    return _last_match(text, pattern) >= pos


@lru_cache(maxsize=16)
def _last_match(text: str, pattern: re.Pattern[str]) -> int:
    return max((found.start() for found in pattern.finditer(text)), default=-1)


# Code spans inside text that other rules scan: code comes before everything else.


def code_span_end(text: str, pos: int, end: int) -> int:
    """Index after the code span that opens at `pos`, or `pos` if none closes before `end`.

    CommonMark 6.1: a span is closed by a run of backticks of the same length.
    """
    width = run_length(text, pos, end)
    at = pos + width
    while (at := text.find("`", at, end)) >= 0:
        closing = run_length(text, at, end)
        if closing == width:
            return at + closing
        at += closing
    return pos


def run_length(text: str, pos: int, end: int) -> int:
    """How many backticks stand at `pos`."""
    at = pos
    while at < end and text[at] == "`":
        at += 1
    return at - pos
