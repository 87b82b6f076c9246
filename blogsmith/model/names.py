"""Sets of names, written as one line of text."""

from __future__ import annotations


def name_set(names: str) -> frozenset[str]:
    """The names in a line of names."""
    return frozenset(names.split())
