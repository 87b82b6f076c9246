"""A language of pages: its words in place of the English ones, its plural forms, its dates.

A text is named by its English words, with named places such as `{minutes} min read`; what has no translation
is printed in English. Neither the locale of the machine nor a clock has a say: one page has the same bytes
everywhere.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

from markupsafe import Markup, escape
from msgspec import Struct

from ..base.patterns import lazy_pattern
from .plurals import plural_form
from .tags import Direction, writing_direction

Translation: TypeAlias = str | Mapping[str, str]
"""A text, or one for each plural form of `FORMS` that the language has."""

_PLACE = lazy_pattern(r"\{([a-z_]+)\}")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_SHORT = 200
"""Characters of a text that is taken apart once: those of blogsmith and of themes."""
_FIVE_DIGITS = 10_000
_SHORT_MONTHS = 3
"""Letters of their English names, by which the short ones go."""


class Language(Struct, frozen=True):
    """Translates the words of pages."""

    tag: str = "en"
    """BCP 47, lower case."""
    texts: Mapping[str, Translation] = {}
    """English text → translation."""

    @property
    def direction(self) -> Direction:
        """In which direction its text is written."""
        return writing_direction(self.tag)

    def translate(self, text: str, *, one: str = "", **values: object) -> str:
        """The text with its places filled; HTML as soon as one of the values is.

        one: English for a count of one. The first whole number of `values` chooses among plural forms.
        """
        parts, is_html = self.parts(text, one, values)
        return Markup("".join(parts)) if is_html else "".join(parts)

    def parts(self, text: str, one: str, values: Mapping[str, object]) -> tuple[Sequence[str], bool]:
        """What the text is joined from, and whether that is HTML; the rest as in `translate`."""
        form = self._form(text, one, values)
        if not values:
            return (form,), False
        pieces = list(_split(form) if len(form) <= _SHORT else _PLACE.split(form))
        is_html = any(hasattr(value, "__html__") for value in values.values())
        prepare: Callable[[object], str] = escape if is_html else str
        if is_html:
            pieces[::2] = [escape(piece) for piece in pieces[::2]]
        pieces[1::2] = [prepare(values[name]) if name in values else f"{{{name}}}" for name in pieces[1::2]]
        return pieces, is_html

    def format_date(self, value: dt.date, *, is_short: bool = False) -> str:
        """`3 March 2026`, or `3 Mar 2026`."""
        month = _MONTHS[value.month - 1][: _SHORT_MONTHS if is_short else None]
        if not self.texts:
            # lists have thousands of them
            return f"{value.day} {month} {value.year}"
        return self.translate(
            "{day} {month} {year}", day=value.day, month=self.translate(month), year=value.year
        )

    def format_count(self, count: int) -> str:
        """`1,234`."""
        # Spanish and Polish separate from five digits on
        separator = self.translate("1,000")[1:-3] if count < _FIVE_DIGITS else self.translate("10,000")[2:-3]
        return f"{count:,}".replace(",", separator)

    def _form(self, text: str, one: str, values: Mapping[str, object]) -> str:
        found = self.texts.get(text)
        if isinstance(found, str):
            return found
        count = next((value for value in values.values() if type(value) is int), None)
        if found is None:
            return one if one and count == 1 else text
        return found.get(plural_form(self.tag, count) if count is not None else "other", found["other"])


@lru_cache(maxsize=512)
def _split(form: str) -> tuple[str, ...]:
    """Texts and names of places in turns."""
    return tuple(_PLACE.split(form))


def places_of(text: str) -> set[str]:
    """Names of the places in a text."""
    return set(_PLACE.findall(text))


ENGLISH = Language()
