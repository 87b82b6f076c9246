"""Marks for the live preview: on which line of the file a block starts, and which cell it is.

A mark is an attribute of the block's first tag and nothing else: without them the HTML is that of a build,
byte for byte. Blocks that print no tag of their own (comments, hidden paragraphs) carry none.
"""

from __future__ import annotations

import re

from markdown_it.token import Token

from ..base.patterns import lazy_pattern
from ..model.cells import Cell
from ..syntax.records import Math, Shortcode, record_of

# `\s*`: markdown-it breaks the line before a block inside a tight list item
_FIRST_TAG = lazy_pattern(r"""\s*<[A-Za-z][A-Za-z0-9-]*(?P<rest>(?=[\s/>])(?:[^"'<>]|"[^"]*"|'[^']*')*>)""")
_LINE = lazy_pattern(r"\sdata-line\s*=", re.IGNORECASE)


def is_marked(token: Token) -> bool:
    """Whether the token begins a block that knows its lines."""
    return token.block and token.map is not None and token.nesting >= 0 and token.type != "inline"


def add_marks(token: Token, html: str, first_line: int) -> str:
    """`html` of a token with its marks. first_line: 1-based line of the file on which the text starts."""
    tag = _FIRST_TAG.match(html)
    if tag is None:
        return html
    marks = f' data-cell="{record_of(token, Cell).number}"' if "cell" in token.meta else ""
    # code that readers run says already on which line it stands, for their error messages
    if not _LINE.search(tag["rest"]):
        marks = f' data-line="{_line(token, first_line)}"{marks}'
    at = tag.start("rest")
    return f"{html[:at]}{marks}{html[at:]}"


def _line(token: Token, first_line: int) -> int:
    """1-based; a block inside a paragraph has the paragraph's lines and knows its own place besides."""
    if token.type == "math_display":
        return record_of(token, Math).origin.place(0).line
    if token.type == "shortcode":
        return record_of(token, Shortcode).place.line
    assert token.map is not None, "only blocks that know their lines are marked"
    return first_line + token.map[0]
