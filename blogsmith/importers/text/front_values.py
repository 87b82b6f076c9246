"""Converters for front matter and settings of other systems: lists, strings and dates."""

from __future__ import annotations

import datetime as dt
from typing import Any

from ...api.importing import lazy_pattern


def one_line(value: Any) -> str:
    """Return a string or number on one line; empty for any other value."""
    is_plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return " ".join(str(value).split()) if is_plain else ""


def as_list(value: Any) -> list[Any]:
    """Return a list unchanged, and any other value as a list with one item."""
    return value if isinstance(value, list) else [value]


def read_strings(value: Any) -> list[str]:
    """Return the distinct strings in a list, or in a single value."""
    return list(dict.fromkeys(text for each in as_list(value) if (text := one_line(each))))


def read_names(value: Any) -> list[str]:
    """Return the distinct strings in a list, or the parts of a string between commas."""
    return read_strings(value.split(",") if isinstance(value, str) else value)


_ISO = lazy_pattern(r"(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2}))?(?!\d)(?:[T ]+(\d{1,2}:\d{2}(?::\d{2})?)\S*)?.*")
_AMERICAN = lazy_pattern(r"(\d{1,2})/(\d{1,2})/(\d{4})")
_NAMED = lazy_pattern(
    r"(?:(\d{1,2})(?:st|nd|rd|th)?\s+)?([A-Za-z]{3,9})\.?\s*(?:(\d{1,2})(?:st|nd|rd|th)?,?\s+)?(\d{4})"
)
_YEAR = lazy_pattern(r"(\d{4})")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def iso_date(text: str) -> str:
    """Convert a date to ISO form such as `2024-03-01`, with its time if it has one.

    Return an empty string if it is not a date. A month or year alone becomes its first day. `a/b/year` is
    read as month/day (American order) if possible, otherwise as day/month.
    """
    text = " ".join(text.split())
    if found := _ISO.fullmatch(text):
        date = _date(int(found[1]), int(found[2]), int(found[3] or 1))
        return f"{date} {found[4]}" if date and found[4] else date
    if found := _AMERICAN.fullmatch(text):
        first, second, year = int(found[1]), int(found[2]), int(found[3])
        return _date(year, first, second) or _date(year, second, first)
    if found := _NAMED.fullmatch(text):
        month = found[2][:3].lower()
        if month in _MONTHS:
            return _date(int(found[4]), _MONTHS.index(month) + 1, int(found[1] or found[3] or 1))
        return ""
    return f"{text}-01-01" if _YEAR.fullmatch(text) else ""


def _date(year: int, month: int, day: int) -> str:
    try:
        return dt.date(year, month, day).isoformat()
    except ValueError:
        return ""
