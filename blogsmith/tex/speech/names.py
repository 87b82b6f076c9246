"""Names of formulas in HTML: browsers give a formula in a heading or a link no name of its own.

The name is that of an element around the formula, never of `<math>`: there it would hide the formula from
readers that explore it.
"""

from __future__ import annotations

import re
from html import escape, unescape
from xml.etree.ElementTree import ParseError

from ...base.html_tags import read_text
from ...base.patterns import lazy_pattern
from ..analysis.linear import linear_text
from .words import formula_words

_EDGE = lazy_pattern(r"<(/?)math\b[^>]*>")
_TEX = (lazy_pattern(r' data-tex="([^"]*)"'), lazy_pattern(r' alttext="([^"]*)"'))
_NAMED = lazy_pattern(r'<span role="img" aria-label="([^"]*)"><math\b.*?</math></span>', re.DOTALL)


def name_formulas(html: str, language: str) -> str:
    """Return HTML with a name for each formula, in the words of a language (BCP 47 tag).

    Languages without a table get the linear form, as in `sqrt(d_k)`: words of another language would be read
    with wrong sounds.
    """
    pieces: list[str] = []
    depth = start = end = 0
    for edge in _EDGE.finditer(html):
        if not edge[1]:
            start = start if depth else edge.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:  # text in a formula may contain another one
                pieces += [html[end:start], _name(html[start : edge.end()], language)]
                end = edge.end()
    return "".join((*pieces, html[end:]))


def _name(math: str, language: str) -> str:
    try:
        words = formula_words(math, language)
    except ParseError:  # a plugin typesets formulas, and its markup is HTML
        words = ""
    if not words:
        tex = next((found[1] for pattern in _TEX if (found := pattern.search(math))), "")
        words = linear_text(unescape(tex))
    return f'<span role="img" aria-label="{escape(words)}">{math}</span>' if words else math


def spoken_text(text: str, html: str) -> str:
    """Return a title with the names of its formulas, for readers that show neither HTML nor MathML.

    text: The title as plain text. html: The title as HTML, with named formulas; empty for none.
    """
    named = _NAMED.sub(r"\1", html)
    return text if named == html else " ".join(read_text(named).split())
