"""The address of a document of a Jekyll site, by its permalink; and what of that our own patterns can say."""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from ...base.patterns import lazy_pattern

_PLACEHOLDER = lazy_pattern(
    r":(output_ext|short_year|short_month|short_day|long_day|long_month|slugified_categories|categories|"
    r"collection|y_day|i_month|i_day|minute|second|title|month|year|hour|name|path|slug|week|day)"
)
_UNFIT = lazy_pattern(r"[^\w.~!$&'()+,;=@]+")
_RAW = lazy_pattern(r"[^\w]+|_+")


def expand(
    pattern: str,
    *,
    title: str,
    date: dt.date | None,
    categories: Sequence[str] = (),
    collection: str = "",
    path: str = "",
) -> str:
    """The address of a document, without the base path; `:path` is its path in its collection, unsuffixed."""
    values: dict[str, str] = {
        **{"title": cased_slug(title), "slug": slugify(title), "name": slugify(path.rpartition("/")[2])},
        **{"collection": collection, "path": path, "output_ext": ".html"},
        "categories": "/".join(dict.fromkeys(each.lower().replace(" ", "%20") for each in categories)),
        "slugified_categories": "/".join(dict.fromkeys(map(slugify, categories))),
    }
    if date:
        values |= {name: date.strftime(form) for name, form in _DATES.items()}
        values |= {"i_month": str(date.month), "i_day": str(date.day)}
    filled = _PLACEHOLDER.sub(lambda found: values.get(found[1], ""), pattern)
    return "/" + re.sub("/{2,}", "/", filled).lstrip("/")


_DATES: Mapping[str, str] = {
    **{"year": "%Y", "short_year": "%y", "month": "%m", "day": "%d", "y_day": "%j", "week": "%V"},
    **{"hour": "%H", "minute": "%M", "second": "%S", "short_day": "%a", "long_day": "%A"},
    **{"short_month": "%b", "long_month": "%B"},
}


def own_pattern(pattern: str) -> str:
    """A pattern of our setting `permalinks` that gives the same addresses or nearly; empty if none does."""
    own = pattern.replace(":output_ext", "/").replace(":title", ":slug").replace(":categories/", "")
    own = re.sub(r"\.html$", "/", own)
    if not own.endswith("/"):
        own += "/"
    names = set(re.findall(r":(\w+)", own))
    known = {"slug", "year", "month", "day"}
    return "/" + re.sub("/{2,}", "/", own).lstrip("/") if "slug" in names and names <= known else ""


def slugify(text: str) -> str:
    """A name as Jekyll makes one: lower case, hyphens for what is no letter or digit."""
    return _RAW.sub("-", unicodedata.normalize("NFC", text).lower()).strip("-")


def cased_slug(text: str) -> str:
    """A file's name as `:title` has it: case and the signs that addresses may hold are kept."""
    return _UNFIT.sub("-", text).strip("-")


def names_in(value: Any) -> list[str]:
    """Tags or categories as Jekyll reads them: a list, or words of a text."""
    if isinstance(value, str):
        return value.split()
    if isinstance(value, list):
        return [str(each) for each in value if each is not None and str(each).strip()]
    return [] if value is None else [str(value)]
