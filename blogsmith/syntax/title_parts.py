"""Titles of a page and its sections as records, for links from other pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from markdown_it.token import Token

from ..model.links import TitlePart
from .headings import plain_text
from .records import Heading, Math, get_record
from .state import PageState


def heading_titles(tokens: Sequence[Token], page: PageState) -> dict[str, tuple[TitlePart, ...]]:
    """Return the title of each heading by its id, and by its old id."""
    found: dict[str, tuple[TitlePart, ...]] = {}
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            heading = get_record(opening, Heading)
            found |= dict.fromkeys((heading.id, heading.old_id), title_parts(inline.children or (), page))
    found.pop("", None)
    return found


def title_parts(tokens: Sequence[Token], page: PageState) -> tuple[TitlePart, ...]:
    """Return inline tokens as text, code and formulas. Emphasis, notes and links are omitted."""
    parts = []
    for kind, run in groupby(tokens, _part_kind):
        if kind == "text":
            text = plain_text([*run], page)
            parts += [TitlePart("text", text)] if text else []
        else:
            parts += _special_parts(run)
    return tuple(parts)


def _part_kind(token: Token) -> str:
    return token.type if token.type in ("code_inline", "math_inline") else "text"


def _special_parts(tokens: Iterator[Token]) -> Iterator[TitlePart]:
    for token in tokens:
        if token.type == "code_inline":
            yield TitlePart("code", token.content)
        else:
            yield TitlePart("math", get_record(token, Math).tex)
