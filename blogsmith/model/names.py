"""Sets of names, written as lines of text."""

from __future__ import annotations


def name_set(names: str) -> frozenset[str]:
    """The names in a line of names."""
    return frozenset(names.split())


VOID_ELEMENTS = name_set("area base br col embed hr img input link meta param source track wbr")
"""Elements of HTML that hold nothing and have no end tag."""
