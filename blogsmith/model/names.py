"""Sets of names, written as one string in the source."""

from __future__ import annotations


def name_set(names: str) -> frozenset[str]:
    """Return the set of names in a string, separated by white space."""
    return frozenset(names.split())


VOID_ELEMENTS = name_set("area base br col embed hr img input link meta param source track wbr")
"""HTML elements without content and without an end tag."""
