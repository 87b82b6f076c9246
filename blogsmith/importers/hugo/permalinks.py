"""The address of a page of a Hugo site, by its path or its pattern; and what of that ours can say."""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from string import hexdigits
from unicodedata import category

from ...base.patterns import lazy_pattern

_TOKEN = lazy_pattern(r":(?:(sections)\[(\d*):?(\d*|last)\]|([a-z]+))")
_KEPT_SIGNS = frozenset("./\\_#+~-@")
_SLUG_NAMES = frozenset(("slug", "title", "filename", "slugorfilename", "contentbasename"))
_OWN = _SLUG_NAMES | {"slugorcontentbasename", "year", "month", "day", "section"}


@dataclass(frozen=True, slots=True)
class Placed:
    """What of a page its address is made of."""

    sections: Sequence[str]
    """Folders it lies in, from the top."""
    name: str
    """Of its file, or of its folder if it is a bundle."""
    title: str
    slug: str
    """As its front matter has it; empty: none."""
    date: dt.date | None


def urlize(text: str) -> str:
    """A text as a part of an address: lower case, a hyphen for blanks, without other signs.

    A hyphen that is written stays, so that those on both sides of a removed sign are two. Source: `Sanitize`
    in Hugo's common/paths.
    """
    kept: list[str] = []
    is_apart = was_hyphen = False
    for index, char in enumerate(text):
        if _is_kept(text, index):
            was_hyphen = char == "-"
            if is_apart and not was_hyphen:
                kept.append("-")
            is_apart = False
            kept.append(char)
        elif kept and not was_hyphen and char.isspace():
            is_apart = True
    return "".join(kept).lower()


def _is_kept(text: str, index: int) -> bool:
    char = text[index]
    if char == "%":
        return len(text) > index + 2 and all(each in hexdigits for each in text[index + 1 : index + 3])
    return char.isalpha() or char.isdecimal() or char in _KEPT_SIGNS or category(char).startswith("M")


def default_address(placed: Placed, *, is_ugly: bool) -> str:
    """Where a page without a pattern stands, without the base path."""
    last = urlize(placed.slug or placed.name).replace("/", "-")
    path = "/" + "".join(f"{urlize(section)}/" for section in placed.sections) + last
    return f"{path}.html" if is_ugly else f"{path}/"


def expand(pattern: str, placed: Placed) -> str:
    """Where a page with a pattern stands; empty if the pattern wants what the page does not have."""
    date = placed.date
    if date is None and re.search(":(year|month|day|weekday|yearday)", pattern):
        return ""
    slug_or = placed.slug or placed.name
    values = {
        **{"title": placed.title, "slug": placed.slug or placed.title, "filename": placed.name},
        **{"slugorfilename": slug_or, "contentbasename": placed.name, "slugorcontentbasename": slug_or},
        **{"section": placed.sections[0] if placed.sections else "", "sections": "/".join(placed.sections)},
    }
    if date:
        values |= {
            **{"year": f"{date.year:04}", "month": f"{date.month:02}", "day": f"{date.day:02}"},
            **{"monthname": calendar.month_name[date.month], "yearday": str(date.timetuple().tm_yday)},
            **{"weekday": str(date.isoweekday() % 7), "weekdayname": calendar.day_name[date.weekday()]},
        }

    def fill(found: re.Match[str]) -> str:
        if found[1]:
            stop = None if found[3] in ("", "last") else int(found[3])
            return "/".join(map(urlize, placed.sections[int(found[2] or 0) : stop]))
        value = values.get(found[4])
        return found[0] if value is None else "/".join(map(urlize, value.split("/")))

    filled = re.sub("/{2,}", "/", "/" + _TOKEN.sub(fill, pattern))
    return filled if filled.endswith(("/", ".html")) else f"{filled}/"


def own_pattern(pattern: str, section: str) -> str:
    """The same in the words of our setting `permalinks`; empty if these cannot say it."""
    names = {found[4] or "sections" for found in _TOKEN.finditer(pattern)}
    slugs = names & (_SLUG_NAMES | {"slugorcontentbasename"})
    if not names <= _OWN or len(slugs) != 1:
        return ""
    own = _TOKEN.sub(lambda found: ":slug" if found[4] in slugs else found[0], pattern)
    own = re.sub("/{2,}", "/", f"/{own.replace(':section', urlize(section))}/")
    return "" if own == f"/{urlize(section)}/:slug/" else own
