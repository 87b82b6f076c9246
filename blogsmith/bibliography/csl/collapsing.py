"""Citations of several works drawn together: numbers in a row as `1–3`, one author as `(Ash, 2011a, 2011b)`.

Works with words before them or places in them stay apart. Source: CSL 1.0.2, `collapse`; `year-suffix` and
`year-suffix-ranged` are taken for `year`, so each work keeps a year that leads to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .markup import item_signs
from .rendering_context import Cite

_SHORTEST_RUN = 3
_RANGE = "–"


class CitePiece(NamedTuple):
    """One work of a citation."""

    cite: Cite
    prefix: str
    """Words before it."""
    position: int
    """Its place in the citation as written."""
    text: str
    """What the style prints of it, without prefix and signs."""

    @property
    def is_bare(self) -> bool:
        """It has neither words before it nor a place in the work."""
        return not self.prefix and not self.cite.locator

    @property
    def signed(self) -> str:
        """Its text between the signs of its item."""
        opening, closing = item_signs(self.position)
        return f"{opening}{self.text}{closing}"


def join_ranges(pieces: Sequence[CitePiece]) -> Iterator[str]:
    """The texts to print, a run of three numbers or more as one: its inner items have signs, but no text."""
    at = 0
    while at < len(pieces):
        end = at + 1
        while end < len(pieces) and _follows(pieces[end - 1], pieces[end]):
            end += 1
        if end - at < _SHORTEST_RUN:
            end = at + 1
            yield _with_prefix(pieces[at], pieces[at].signed)
        else:
            inner = "".join("".join(item_signs(piece.position)) for piece in pieces[at + 1 : end - 1])
            yield f"{pieces[at].signed}{inner}{_RANGE}{pieces[end - 1].signed}"
        at = end


def _follows(first: CitePiece, second: CitePiece) -> bool:
    return first.is_bare and second.is_bare and second.cite.number == first.cite.number + 1


def join_years(pieces: Sequence[CitePiece], delimiter: str) -> Iterator[str]:
    """The texts to print, works by the same names behind each other and from the second on as their years."""
    groups: dict[str, list[CitePiece]] = {}
    for piece in pieces:
        names = _names(piece)
        # what has words before it, or no names, stands alone
        groups.setdefault(names or f"\0{piece.position}", []).append(piece)
    for names, group in groups.items():
        first, *others = group
        text = _with_prefix(first, first.signed)
        for piece in others:
            text += delimiter + piece._replace(text=piece.text[len(names) :]).signed
        yield text


def _names(piece: CitePiece) -> str:
    """What is printed before the year; empty if the piece is not to be drawn together with others."""
    work = piece.cite.work
    year = f"{work.year}{piece.cite.suffix}" if work.year and work.authors else ""
    return piece.text.partition(year)[0] if year and year in piece.text and piece.is_bare else ""


def _with_prefix(piece: CitePiece, text: str) -> str:
    return f"{piece.prefix} {text}" if piece.prefix else text
