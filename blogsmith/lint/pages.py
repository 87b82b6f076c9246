"""What lints look at: the formulas of a page, wherever they stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from markdown_it.token import Token

from ..base.diagnostics.model import TextMap
from ..syntax.math.formulas import text_with_formulas
from ..syntax.parser import Parsed, formulas
from ..syntax.records import Math, Shortcode, record_of


def formulas_of(page: Parsed) -> list[Math]:
    """Every formula of the page: of its title, its description, its text, and arguments of shortcodes."""
    arguments = (token for text in _arguments(page.tokens) for token in text_with_formulas(text))
    return formulas([*page.title, *page.description, *page.tokens, *arguments])


def _arguments(tokens: Iterable[Token]) -> Iterator[TextMap]:
    """Arguments of shortcodes, which are read as Markdown no sooner than they are rendered."""
    for token in tokens:
        if token.type == "shortcode":
            yield from record_of(token, Shortcode).arg_maps.values()
        yield from _arguments(token.children or ())
