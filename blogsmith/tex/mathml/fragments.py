"""Combination of several pieces of a row to one element."""

from __future__ import annotations

from collections.abc import Sequence

from .atoms import is_embellished, remove_spaces


def join_fragments(pieces: Sequence[str]) -> str:
    """Return `pieces` as one element."""
    return pieces[0] if len(pieces) == 1 else f"<mrow>{''.join(pieces)}</mrow>"


def group_fragments(pieces: Sequence[str]) -> str:
    """Return `pieces` as one ordinary element. A single operator gets no spaces."""
    if len(pieces) == 1:
        return remove_spaces(pieces[0]) if is_embellished(pieces[0]) else pieces[0]
    return f"<mrow>{''.join(pieces)}</mrow>"
