"""Code spans inside text that other rules scan: code comes before everything else."""

from __future__ import annotations


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
