"""Render rules for citation tokens. They import the renderer only when a page cites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from markdown_it.token import Token

from ..context import PageRendering, Rule


def _citation(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    from .html import citation

    return citation(rendering, tokens, index)


def _bibliography(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    from .html import bibliography

    return bibliography(rendering, tokens, index)


def _nothing(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    return ""


RULES: Mapping[str, Rule] = MappingProxyType(
    {"citation": _citation, "nocite": _nothing, "bibliography": _bibliography}
)
