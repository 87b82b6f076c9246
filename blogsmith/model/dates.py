"""Dates as authors write them: ISO 8601 with or without time and zone; a space may replace the T.

A month or a year alone means its first day. Slashes may replace hyphens if the year comes first; otherwise it
is unclear which part is the month.
"""

from __future__ import annotations

import datetime as dt
import re

from ..base.patterns import lazy_pattern

DATE = lazy_pattern(
    r"(\d{4})([-/])(\d{1,2})\2(\d{1,2})"
    r"(?:(?:[Tt]|[ ]+)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?(?:[ ]*(Z|z|[+-]\d{2}(?::?\d{2})?))?)?",
    re.ASCII,
)
MONTH = lazy_pattern(r"(\d{4})(?:[-/](\d{1,2}))?", re.ASCII)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMED = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_OTHER_DATES = (
    lazy_pattern(
        rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\.?[ ]+{_NAMED},?[ ]+(?P<year>\d{{4}})", re.I | re.ASCII
    ),
    lazy_pattern(rf"{_NAMED}[ ]+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?[ ]+(?P<year>\d{{4}})", re.I | re.ASCII),
    # in a date with dots the day comes first, or the year
    lazy_pattern(r"(?P<day>\d{1,2})\.[ ]?(?P<month>\d{1,2})\.[ ]?(?P<year>\d{4})", re.ASCII),
    lazy_pattern(r"(?P<year>\d{4})\.(?P<month>\d{1,2})\.(?P<day>\d{1,2})", re.ASCII),
    lazy_pattern(r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)", re.ASCII),
)
"""Patterns of dates that are rejected although they can mean only one day, so that a fix can write the ISO
date."""
_NAME_PREFIX = lazy_pattern(r"(\d{4}-\d{2}-\d{2})-(?=.)", re.ASCII)


def parse_date(text: str) -> dt.datetime | None:
    """Return the date and time in `text`, in whole seconds, or None if `text` is not written as a date. The
    result has no time zone if `text` names none. Years are 1 to 9999. ValueError for a day or time that does
    not exist."""
    text = text.strip()
    if alone := MONTH.fullmatch(text):
        return dt.datetime(int(alone[1]), int(alone[2] or 1), 1)
    found = DATE.fullmatch(text)
    if found is None:
        return None
    year, _, *others, offset = found.groups()
    month, day, hour, minute, second = (int(number or 0) for number in others)
    zone = _offset(offset) if offset else None
    return dt.datetime(int(year), month, day, hour, minute, second, tzinfo=zone)


def nearest_date(text: str) -> str | None:
    """Return a date written in a rejected form as ISO date; None if it could mean more than one day."""
    found = next((found for form in _OTHER_DATES if (found := form.fullmatch(text.strip()))), None)
    if found is None:
        return None
    month = found["month"][:3].casefold()
    number = _MONTHS.index(month) + 1 if month in _MONTHS else found["month"]
    try:
        return dt.date(int(found["year"]), int(number), int(found["day"])).isoformat()
    except ValueError:
        return None


def _offset(text: str) -> dt.timezone:
    """Return `Z`, `+01`, `+0100` or `+01:00` as a fixed time zone. ValueError if it is 24 hours or more."""
    if text in "Zz":
        return dt.UTC
    digits = text[1:].replace(":", "").ljust(4, "0")
    if int(digits[2:]) > 59:
        raise ValueError("an hour has 60 minutes")
    span = dt.timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return dt.timezone(-span if text[0] == "-" else span)


def split_dated_name(name: str) -> tuple[str, str]:
    """Split a file name as in Jekyll, `2026-03-14-pi`, into (`2026-03-14`, `pi`). The date is empty if the
    name has none."""
    found = _NAME_PREFIX.match(name)
    return (found[1], name[found.end() :]) if found else ("", name)
