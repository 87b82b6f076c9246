"""Diagrams in pages: which of our plugins draw them."""

from __future__ import annotations

from collections.abc import Iterable

from ...base.patterns import lazy_pattern

_FENCE = lazy_pattern(
    r"(?m)^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(?:`{3,}|~{3,})[ \t]*(mermaid|dot|graphviz)\b"
)
_PLUGINS = {"mermaid": "mermaid", "dot": "graphviz", "graphviz": "graphviz"}


def diagram_plugins(texts: Iterable[str]) -> list[str]:
    """The plugins that draw the diagrams of these texts, sorted; empty without diagrams."""
    return sorted({_PLUGINS[found[1]] for text in texts for found in _FENCE.finditer(text)})
