"""Front matter of MkDocs and Material → ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...model.units import name_set
from ..model import FrontKeys
from ..text.front_values import names_in, one_line
from ..text.plain_dates import iso_date

KEYS = FrontKeys(
    name_set(
        "title subtitle description date date.created date.updated author authors tags categories draft slug "
        "search search.exclude image"
    ),
    name_set("hide icon search.boost social readtime pin render_macros nav order edit_url revision_date"),
)


def page_front(front: Mapping[str, Any], title: str, people: Mapping[str, str]) -> dict[str, Any]:
    """The front matter of a page, in our keys and order. people: short name → name of an author."""
    found: dict[str, Any] = {"title": title}
    for key in ("subtitle", "description"):
        if text := one_line(front.get(key)):
            found[key] = text
    found |= _dates(front.get("date"))
    if authors := [people.get(name, name) for name in names_in(front.get("authors") or front.get("author"))]:
        found["authors"] = authors
    for key in ("categories", "tags"):
        if names := names_in(front.get(key)):
            found[key] = names
    if front.get("draft") is True:
        found["draft"] = True
    search = front.get("search")
    if isinstance(search, dict) and search.get("exclude") is True:
        found["search"] = False
    if image := one_line(front.get("image")):
        found["image"] = image
    hidden = front.get("hide")
    if isinstance(hidden, list) and "toc" in hidden:
        found["toc"] = False
    return found


def _dates(value: Any) -> dict[str, str]:
    if isinstance(value, dict):
        created, updated = iso_date(one_line(value.get("created"))), iso_date(one_line(value.get("updated")))
        return ({"date": created} if created else {}) | ({"updated": updated} if updated else {})
    date = iso_date(one_line(value))
    return {"date": date} if date else {}
