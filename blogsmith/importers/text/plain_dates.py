"""Dates as people write them: `2024-03-01`, `3/1/2024`, `March 1, 2024`, `1 March 2024`, `2024-08`."""

from __future__ import annotations

import datetime as dt

from ...base.patterns import lazy_pattern

_ISO = lazy_pattern(r"(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2}))?(?!\d)(?:[T ]+(\d{1,2}:\d{2}(?::\d{2})?)\S*)?.*")
_AMERICAN = lazy_pattern(r"(\d{1,2})/(\d{1,2})/(\d{4})")
_NAMED = lazy_pattern(
    r"(?:(\d{1,2})(?:st|nd|rd|th)?\s+)?([A-Za-z]{3,9})\.?\s*(?:(\d{1,2})(?:st|nd|rd|th)?,?\s+)?(\d{4})"
)
_YEAR = lazy_pattern(r"(\d{4})")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def iso_date(text: str) -> str:
    """`2024-03-01`, with its time if it has one; empty for what is no date.

    A month or year alone is its first day; `a/b/year` is read as in America, month first, if it can be.
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
