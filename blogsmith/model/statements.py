"""Numbered statements and equations of a page, and where pages refer to any of them."""

from __future__ import annotations

from msgspec import Struct

from ..base.diagnostics.model import Place


class Statement(Struct, frozen=True, array_like=True):
    """Something with a number that a proof may use: a theorem and its like, or an equation."""

    id: str
    name: str
    """`Theorem 1` or `Equation (2)`, in the language of its page."""
    title: str = ""
    """The author's, as plain text."""
    title_html: str = ""
    """The same with formulas typeset; empty if it has none."""
    parent: str = ""
    """Of an equation: the statement in which it stands."""
    is_equation: bool = False


class StatementUse(Struct, frozen=True, array_like=True):
    """A reference to a label, and what it stands in."""

    url: str
    """Page of the label, as printed; empty for the same page."""
    target: str
    """Id of the label."""
    anchor: str
    """Nearest id around or above the reference."""
    section: str = ""
    """Heading above it, as plain text."""
    statement: str = ""
    """Id of the statement that it stands in, or whose proof it stands in."""
    in_proof: bool = False
    place: Place | None = None
    """Of one in a proof, which may be a mistake."""


class PageStatements(Struct, frozen=True, array_like=True):
    """What a page states, and what it refers to."""

    statements: tuple[Statement, ...] = ()
    uses: tuple[StatementUse, ...] = ()
