"""Language of a page, which determines the translations of English strings, plural forms and dates.

A string is identified by its English form, with named placeholders such as `{minutes} min read`. Strings
without a translation are printed in English. Nothing depends on the locale or clock of the machine, so a page
is byte-identical everywhere.
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
"""Translated text, or a map from plural form (a name in `FORMS`) to text."""

_PLACEHOLDER = lazy_pattern(r"\{([a-z_]+)\}")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_MAX_CACHED_LENGTH = 200
"""Maximum length, in characters, of strings whose parts are cached; all strings of blogsmith and themes are
shorter."""
_FIVE_DIGITS = 10_000
_SHORT_MONTHS = 3
"""Number of letters in the abbreviation of an English month."""


class Language(Struct, frozen=True):
    """Translator of the strings on pages."""

    tag: str = "en"
    """BCP 47 tag in lower case."""
    texts: Mapping[str, Translation] = {}
    """English text → translation."""

    @property
    def direction(self) -> Direction:
        """Writing direction of the language."""
        return writing_direction(self.tag)

    def translate(self, text: str, *, one: str = "", **values: object) -> str:
        """Translate a text and fill in its placeholders. Return Markup if one of the values is HTML.

        one: English text for a count of 1, such as `{count} page`; empty if `text` has no plural. The first
        whole number in `values` selects the plural form.
        """
        parts, is_html = self.parts(text, one, values)
        return Markup("".join(parts)) if is_html else "".join(parts)

    def parts(self, text: str, one: str, values: Mapping[str, object]) -> tuple[Sequence[str], bool]:
        """Return the translation as an alternating sequence of text and values, and whether a value is HTML.
        The parameters are those of `translate`."""
        form = self._form(text, one, values)
        if not values:
            return (form,), False
        pieces = list(_split(form) if len(form) <= _MAX_CACHED_LENGTH else _PLACEHOLDER.split(form))
        is_html = any(hasattr(value, "__html__") for value in values.values())
        prepare: Callable[[object], str] = escape if is_html else str
        if is_html:
            pieces[::2] = [escape(piece) for piece in pieces[::2]]
        pieces[1::2] = [prepare(values[name]) if name in values else f"{{{name}}}" for name in pieces[1::2]]
        return pieces, is_html

    def format_date(self, value: dt.date, *, is_short: bool = False) -> str:
        """Format a date as `3 March 2026`, or `3 Mar 2026` if `is_short`."""
        month = _MONTHS[value.month - 1][: _SHORT_MONTHS if is_short else None]
        if not self.texts:
            # A fast path, because lists contain thousands of dates.
            return f"{value.day} {month} {value.year}"
        return self.translate(
            "{day} {month} {year}", day=value.day, month=self.translate(month), year=value.year
        )

    def format_count(self, count: int) -> str:
        """Format a number as `1,234`."""
        # Spanish and Polish use separators only from five digits on.
        separator = self.translate("1,000")[1:-3] if count < _FIVE_DIGITS else self.translate("10,000")[2:-3]
        return f"{count:,}".replace(",", separator)

    def _form(self, text: str, one: str, values: Mapping[str, object]) -> str:
        found = self.texts.get(text)
        if isinstance(found, str):
            return found
        count = next((value for value in values.values() if type(value) is int), None) if values else None
        if found is None:
            return one if one and count == 1 else text
        return found.get(plural_form(self.tag, count) if count is not None else "other", found["other"])


@lru_cache(maxsize=512)
def _split(form: str) -> tuple[str, ...]:
    """Split a translation into text at even indices and names of placeholders at odd indices."""
    return tuple(_PLACEHOLDER.split(form))


def placeholder_names(text: str) -> set[str]:
    """Return the names of the placeholders in a text."""
    return set(_PLACEHOLDER.findall(text))


ENGLISH = Language()
