"""Formulas of a page, for lints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from markdown_it.token import Token

from ..base.diagnostics.model import TextMap
from ..syntax.math.formulas import text_with_formulas
from ..syntax.parser import Parsed, formulas
from ..syntax.records import Math, Shortcode, get_record


def page_formulas(page: Parsed) -> list[Math]:
    """Return all formulas of the page, which are in its title, description, text and shortcode arguments."""
    arguments = (token for text in _arguments(page.tokens) for token in text_with_formulas(text))
    return formulas([*page.title, *page.description, *page.tokens, *arguments])


def _arguments(tokens: Iterable[Token]) -> Iterator[TextMap]:
    """Yield the arguments of shortcodes. They are parsed as Markdown only when they are rendered, so `tokens`
    does not contain their formulas."""
    for token in tokens:
        if token.type == "shortcode":
            yield from get_record(token, Shortcode).arg_maps.values()
        if token.children:
            yield from _arguments(token.children)
