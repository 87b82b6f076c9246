"""Ids and links between a mark in the text and what it points to, of notes and citations alike."""

from __future__ import annotations

from ..prose import escape_html


def use_id(prefix: str, key: object, use: int) -> str:
    """The id of the n-th mark that points to something."""
    return f"{prefix}-{key}" if use == 1 else f"{prefix}-{key}-{use}"


def back_label(text: str) -> str:
    """The label of a link back to the text."""
    return f'role="doc-backlink" aria-label="{escape_html(text)}">↩</a>'
