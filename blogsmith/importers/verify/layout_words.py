"""Words that a theme makes of a page's front matter: title, date in any form, tags, reading time."""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections import Counter

from ...base.patterns import lazy_pattern
from ..model import ImportedPage
from .facts import Facts, words_in

_READING_TIME = lazy_pattern(
    r"(\d+)[\s-]*(minutes?|mins?)\b[\s(]*(?:to\s+)?(?:read|reading)?|reading\s+time:?\s*(\d+)", re.IGNORECASE
)
_HEAD_WORDS = 100
"""Within so many words an article says how long it takes to read."""


def layout_words(page: ImportedPage, title: str, old: Facts) -> Counter[str]:
    """What a layout may show of a page besides its text, each word as often as may be.

    title: of the site. old: what the published page holds.
    """
    shown = Counter(words_in(" ".join([title, *map(str, page.front.values())])))
    for written in (page.front.get("date"), page.front.get("updated")):
        shown.update(_date_words(str(written)))
    # in the head of an article, and once more at its end
    twice = Counter({word: 2 * count for word, count in shown.items()})
    return twice + _reading_time(old)


def _date_words(written: str) -> list[str]:
    try:
        date = dt.date.fromisoformat(written[:10])
    except ValueError:
        return []
    day = date.day
    ending = "th" if 10 < day % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    month, weekday = calendar.month_name[date.month], calendar.day_name[date.weekday()]
    forms = (month, month[:3], weekday, weekday[:3], str(day), f"{day:02}", f"{day}{ending}", str(date.year))
    return words_in(" ".join((*forms, f"{date.month:02}", str(date.month))))


def _reading_time(old: Facts) -> Counter[str]:
    """The words of `5 minute read`, once."""
    found = _READING_TIME.search(" ".join(old.words[:_HEAD_WORDS]))
    return Counter(words_in(found[0])) if found else Counter()
