"""Several pieces of a row as one element."""

from __future__ import annotations

from collections.abc import Sequence

from .atoms import is_embellished, tight


def join_fragments(pieces: Sequence[str]) -> str:
    """`pieces` as one element."""
    return pieces[0] if len(pieces) == 1 else f"<mrow>{''.join(pieces)}</mrow>"


def group_fragments(pieces: Sequence[str]) -> str:
    """`pieces` as one ordinary element: a lone operator has no spaces."""
    if len(pieces) == 1:
        return tight(pieces[0]) if is_embellished(pieces[0]) else pieces[0]
    return f"<mrow>{''.join(pieces)}</mrow>"
