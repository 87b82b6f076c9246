"""Quotation marks of languages: an outer pair and the pair for quotations inside others.

Source: CLDR, `delimiters`; French marks include spaces.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

QuotationMarks: TypeAlias = tuple[str, str, str, str]
"""Opening and closing mark, then opening and closing mark inside another quotation."""

ENGLISH_MARKS: QuotationMarks = ("“", "”", "‘", "’")
_GERMAN: QuotationMarks = ("„", "“", "‚", "‘")
_GUILLEMETS: QuotationMarks = ("«", "»", "“", "”")
_LOW: QuotationMarks = ("„", "”", "«", "»")
_MARKS: Mapping[str, QuotationMarks] = MappingProxyType(
    {
        "ar": ("”", "“", "’", "‘"),
        **dict.fromkeys(("bg", "cs", "da", "de", "is", "sk", "sl"), _GERMAN),
        "de-ch": ("«", "»", "‹", "›"),
        **dict.fromkeys(("ca", "el", "es", "it", "nb", "nn", "no"), _GUILLEMETS),
        "fa": ("«", "»", "‹", "›"),
        "fi": ("”", "”", "’", "’"),
        "fr": ("«\u202f", "\u202f»", "‹\u202f", "\u202f›"),
        "he": ("”", "”", "’", "’"),
        **dict.fromkeys(("hu", "pl", "ro"), _LOW),
        "ja": ("「", "」", "『", "』"),
        **dict.fromkeys(("ru", "uk"), ("«", "»", "„", "“")),
        "sv": ("”", "”", "’", "’"),
    }
)


def quotation_marks(tag: str) -> QuotationMarks:
    """Return the marks of a language, by its BCP 47 tag; the English ones for an unknown language."""
    key = tag.lower()
    while key:
        if key in _MARKS:
            return _MARKS[key]
        key = key.rpartition("-")[0]
    return ENGLISH_MARKS
