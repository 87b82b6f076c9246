r"""Dollar signs that may mean something else than they do.

What is text and may be a formula: `$ x^2 $`, since no blank may stand inside the dollars, and
`$\alpha` without an end. What is a formula and may be text: `$5 and up to 10$`. Digits behind the
second dollar are reported when the page is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from markdown_it.token import Token
from msgspec import Struct

from ..diagnostics.model import Reporter, TextMap
from ..patterns import lazy_pattern
from ..syntax.codespans import code_span_end, run_length
from ..syntax.math.delimiters import FoundFormula, RefusedFormula, find_closing, find_formula

_STOP = lazy_pattern(r"[$\\`<]")
_TAG = lazy_pattern(r"<[A-Za-z/!][^<>]*>")
_LONGEST = 200
"""Characters between two dollars beyond which nobody meant them for each other."""
_MOST = 20
"""Doubts told of one paragraph; finding each one's place takes as long as the paragraph."""
_LIKE_TEX = lazy_pattern(r"[\\^_]|[A-Za-z]\s*[=<>+]|[=<>+]\s*[A-Za-z]|^\W*[A-Za-z]\W*$")
_TEX_FOLLOWS = lazy_pattern(r"\\[A-Za-z]|[A-Za-z][_^]")
_IN_WORDS = lazy_pattern(
    r"""
    \\[A-Za-z]+ \s* (?: \{ [^{}]* \} )?     # a command, with \text its words
    | (?P<prose>
        \b [A-Za-z]{3,} \s+ [A-Za-z]{2,} \b
      | \b [A-Za-z]{2,} \s+ [A-Za-z]{3,} \b
      | ^ \d [\d.,]* \s+ (?! d[a-z] \s) [A-Za-z]{2,} \s     # a sum of money, but not 2 dx dy
    )
    """,
    re.VERBOSE,
)


class _Doubt(Struct, frozen=True):
    start: int
    end: int
    message: str
    """What follows the author's text in the report."""
    hint: str


def report_dollars(tokens: Sequence[Token], reporter: Reporter) -> None:
    """Warn of every doubtful dollar sign in the text of a page."""
    for token in tokens:
        text = token.meta.get("textmap")
        if token.type != "inline" or not isinstance(text, TextMap) or "$" not in text.text:
            continue
        for doubt in islice(_doubts(text.text), _MOST):
            place = text.place(doubt.start, doubt.end - doubt.start)
            shown = " ".join(text.text[doubt.start : doubt.end].split("\n"))
            reporter.warn("dollar-doubtful", f"{shown} {doubt.message}", place, doubt.hint)


def _doubts(text: str) -> Iterator[_Doubt]:
    """Doubtful dollar signs of one text, read as the parser reads it."""
    pos = 0
    while stop := _STOP.search(text, pos):
        pos = stop.start()
        if text[pos] == "`":
            pos = max(code_span_end(text, pos, len(text)), pos + run_length(text, pos, len(text)))
        elif text[pos] == "<":
            tag = _TAG.match(text, pos)
            pos = tag.end() if tag else pos + 1
        else:
            found = find_formula(text, pos, len(text))
            doubt = _check_formula(text, found) if found else _check_sign(text, pos)
            if doubt:
                yield doubt
            pair = text[pos] == "\\" or text.startswith("$$", pos)
            pos = found.end if found else pos + 1 + pair


def _check_formula(text: str, found: FoundFormula | RefusedFormula) -> _Doubt | None:
    """A formula between single dollars that holds words."""
    if isinstance(found, RefusedFormula) or found.display or text[found.start] != "$":
        return None
    words = (match["prose"] for match in _IN_WORDS.finditer(text[found.inner : found.inner_end]))
    if not any(words):
        return None
    hint = "write \\$ for a dollar sign, \\text{…} for words in a formula"
    return _Doubt(found.start, found.end, "is a formula that reads like text", hint)


def _check_sign(text: str, pos: int) -> _Doubt | None:
    """A dollar sign that opens no formula, with TeX behind it."""
    before = text[pos - 1 : pos]
    if text[pos] != "$" or before == "$" or text[pos + 1 : pos + 2] in ("$", "") or before.isalnum():
        return None
    closing = find_closing(text, pos + 1, min(len(text), pos + _LONGEST), "$")
    if closing > 0 and _LIKE_TEX.search(text[pos + 1 : closing].strip()):
        hint = "take the blank beside the dollar sign out, or write \\$ for the sign"
        return _Doubt(pos, closing + 1, "is text, not math: a blank stands inside the dollars", hint)
    if closing < 0 and _TEX_FOLLOWS.match(text, pos + 1):
        return _Doubt(pos, pos + 1, "has no closing $ and is text", "write \\$ for the sign")
    return None
