"""The bundled citation styles. They are files of the Citation Style Language; see `styles/README.md`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

BUNDLED_STYLES: Mapping[str, str] = MappingProxyType(
    {
        "apa": "American Psychological Association, 7th edition",
        "ieee": "IEEE Reference Guide",
        "nature": "Nature",
        "chicago": "Chicago Manual of Style, 18th edition, author-date",
        "acm": "Association for Computing Machinery",
        "mla": "Modern Language Association, 9th edition",
    }
)
"""Name of a style in the settings → its title."""


def read_bundled_style(name: str) -> str:
    """Return the XML of a bundled style."""
    from importlib.resources import files

    return (files(__package__) / "styles" / f"{name}.csl").read_text("utf-8")
