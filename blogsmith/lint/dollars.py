"""Formulas between dollar signs that may be amounts of money, as in `$5 and up to 10$`.

The parser reports the opposite case, text that may be a formula: see `syntax/math/doubts.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from markdown_it.token import Token

from ..base.diagnostics.model import Place, Reporter
from ..base.patterns import lazy_pattern
from ..syntax.records import Math, get_record

_IN_WORDS = lazy_pattern(
    r"""
    \\[A-Za-z]+ \s* (?: \{ [^{}]* \} )?     # a command, with \text its words
    | (?P<prose>
        \b [A-Za-z]{3,} [.;:!?]? \s+ [A-Za-z]{2,} \b
      | \b [A-Za-z]{2,} [.;:!?]? \s+ [A-Za-z]{3,} \b
      | ^ \d [\d.,]* \s+ (?! d[a-z] \s) [A-Za-z]{2,} \s     # a sum of money, but not 2 dx dy
    )
    """,
    re.VERBOSE,
)

_MARKDOWN = lazy_pattern(
    r"""
    \*\*[^\W\d_]{2,}[^*\n]{0,80}\*\*               # bold text
    | !?\[[^\[\]\n]{1,80}\]\((?:https?:|[\w./-]+\.[a-z]{2,4}\))
    | \[\^\w+\] | \[@\w+\] | \{@\w+ | \[\[[A-Z][a-z]{2,}\]\] | \[[^\[\]\n]{1,80}\]\{[.#][a-z]
    | </[a-z]+> | https?://
    """,
    re.VERBOSE,
)
"""Bold text, links, footnotes and similar Markdown, which has no meaning in TeX."""


def report_dollars(tokens: Sequence[Token], reporter: Reporter) -> None:
    """Warn about each formula between single dollar signs that contains prose or Markdown."""
    for token in tokens:
        if token.type == "math_inline" and token.markup == "$":
            _check_formula(get_record(token, Math), reporter)
        if token.children:
            report_dollars(token.children, reporter)


def _check_formula(math: Math, reporter: Reporter) -> None:
    is_url = "\\href" in math.tex or "\\url" in math.tex
    is_markdown = not is_url and _MARKDOWN.search(math.tex) is not None
    if is_markdown or any(match["prose"] for match in _IN_WORDS.finditer(math.tex)):
        shown = " ".join(math.tex.split("\n"))
        # Include the opening dollar sign, and the closing one if it is on the same line.
        place = math.origin.place(0, len(math.tex))
        place = Place(place.line, place.column - 1, place.length + 1 + ("\n" not in math.tex))
        hint = "write `\\$` for a literal dollar, or `\\text{…}` for words in a formula"
        fix = reporter.substitute(place, f"${math.tex}$", f"\\${math.tex}\\$")
        reporter.warn("dollar-doubtful", f'formula reads like text: "${shown}$"', place, hint, fix)
