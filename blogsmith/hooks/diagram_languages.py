"""Languages of fences that are drawn, and the bundled plugins that draw them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

DIAGRAMS: Mapping[str, str] = MappingProxyType(
    {"mermaid": "mermaid", "dot": "graphviz", "graphviz": "graphviz"}
)
"""Languages that stand for a drawing even on a site without a plugin for them → the bundled plugin."""
