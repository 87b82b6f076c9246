"""Formulas that the converter a page asks for has left to us."""

from __future__ import annotations

from msgspec import Struct

from ..base.diagnostics.model import Place


class ConverterFallback(Struct, frozen=True):
    """A formula that stays blogsmith's although the page asks for the converter of a plugin."""

    converter: str
    """Name of the plugin."""
    reason: str
    """Why, as a clause."""
    place: Place | None = None
    """Where the formula begins; None: it is made by a cell."""
