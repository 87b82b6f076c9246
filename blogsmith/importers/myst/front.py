"""Front matter of a page of a book → ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...model.units import name_set
from ..model import FrontKeys
from ..text.front_values import names_in, one_line
from .config import author_names

KEYS = FrontKeys(
    name_set(
        "title subtitle description date author author.name authors authors.name tags keywords abstract "
        "thumbnail draft numbering numbering.headings numbering.heading_2 slug substitutions "
        "myst.substitutions bibliography"
    ),
    name_set(
        "jupytext kernelspec jupyter file_format mystnb myst exports downloads label orphan html_meta "
        "site parts language_info execution execute tocdepth nosearch no-search numbering"
    ),
)


def page_front(front: Mapping[str, Any], title: str) -> dict[str, Any]:
    """The front matter of a page, in our keys and order."""
    found: dict[str, Any] = {"title": title}
    for key in ("subtitle", "description"):
        if text := one_line(front.get(key)):
            found[key] = text
    if "description" not in found and (text := one_line(front.get("abstract"))):
        found["description"] = text
    if date := one_line(front.get("date")):
        found["date"] = date
    if authors := author_names(front.get("authors") or front.get("author")):
        found["authors"] = list(authors)
    if tags := names_in(front.get("tags") or front.get("keywords")):
        found["tags"] = tags
    if front.get("draft") is True:
        found["draft"] = True
    if image := one_line(front.get("thumbnail")):
        found["image"] = image
    numbering = front.get("numbering")
    if numbering is True or (
        isinstance(numbering, dict) and (numbering.get("headings") or numbering.get("heading_2"))
    ):
        found["numbering"] = True
    if language := _kernel(front.get("kernelspec")):
        found["execute"] = {"kernel": language}
    return found


def _kernel(value: Any) -> str:
    """The kernel of a page whose language is not Python."""
    if not isinstance(value, dict):
        return ""
    name = str(value.get("name") or "")
    language = str(value.get("language") or name).lower()
    return "" if not name or language.startswith(("python", "ipython")) or name.startswith("python") else name
