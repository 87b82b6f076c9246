"""Macros that `blogsmith new site` writes: nobody has chosen them, so no lint holds an author to them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

STARTER_MACROS: Mapping[str, str] = MappingProxyType(
    {"\\R": "\\mathbb{R}", "\\softmax": "\\operatorname{softmax}"}
)
"""Those of `starter/blogsmith.yaml`."""


def chosen_macros(macros: Mapping[str, str]) -> Mapping[str, str]:
    """The macros of a site's settings without the starter's, as long as all of these are what they were."""
    if any(macros.get(name) != body for name, body in STARTER_MACROS.items()):
        return macros
    return {name: body for name, body in macros.items() if name not in STARTER_MACROS}
