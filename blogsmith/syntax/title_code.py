"""Parses the title in the front matter, where only formulas and code have a meaning."""

from __future__ import annotations

from collections.abc import Iterator

from markdown_it.token import Token

from ..base.diagnostics.model import TextMap
from ..model.title_code import find_code
from .math.formulas import text_with_formulas


def title_tokens(text: TextMap) -> Iterator[Token]:
    """Yield the inline tokens of a title."""
    start = 0
    for first, end, code in find_code(text.text):
        yield from text_with_formulas(text.cut(start, first))
        yield Token("code_inline", "code", 0, content=code)
        start = end
    yield from text_with_formulas(text.cut(start, len(text.text)) if start else text)
