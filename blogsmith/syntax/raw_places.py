"""Positions of raw HTML in the author's file."""

from __future__ import annotations

from markdown_it.token import Token

from ..base.diagnostics.model import Place, TextMap
from .records import LinkTargetPlace, get_record


def html_place(token: Token, first_line: int, start: int, length: int) -> Place:
    """Return the position of `token.content[start : start + length]`, cut at the end of its line. first_line:
    line of the file on which the parsed text starts."""
    if "linktargetplace" in token.meta:
        return get_record(token, LinkTargetPlace).place
    if "textmap" in token.meta:
        # the token is a fragment of a block that contains formulas
        return get_record(token, TextMap).place(start, length)
    text = token.content
    line = first_line + (token.map or [0])[0] + text.count("\n", 0, start)
    column = start - (text.rfind("\n", 0, start) + 1) + 1
    return Place(line, column, max(1, min(length, (text + "\n").find("\n", start) - start)))
