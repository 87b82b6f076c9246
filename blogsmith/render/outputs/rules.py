"""Render rules for cell tokens. They import the renderer only when a site has a cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from markdown_it.token import Token

from ..context import PageRendering, Rule
from ..fences import fence


def _fence(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    token = tokens[index]
    if "cell" not in token.meta:
        return fence(rendering, token)
    from .cells import cell_html

    return cell_html(rendering, token)


def _runnable_open(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    from .runnable import block_open

    return block_open(rendering, tokens[index])


def _runnable_close(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    from .runnable import block_close

    return block_close(rendering, tokens[index])


def _value(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    from .values import value_html

    return value_html(rendering, tokens[index])


def value_texts(rendering: PageRendering) -> Mapping[int, str]:
    """Return the plain text of each value by number; `…` if it is not known."""
    numbers = [value.number for value in rendering.parsed.cells.values]
    if not numbers:
        return {}
    from .values import value_text

    return {number: value_text(rendering, number) for number in numbers}


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "fence": _fence,
        "runnable_open": _runnable_open,
        "runnable_close": _runnable_close,
        "value": _value,
    }
)
