"""Front matter of Jekyll → ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...base.patterns import lazy_pattern
from ...model.units import name_set
from ..model import FrontKeys
from ..text.front_values import list_of, one_line
from .permalinks import names_in
from .source import JekyllDocument

_TEXTS = ("title", "subtitle", "description")
_DISPLAY = lazy_pattern(r"\$\$\s*([^$\s](?:[^$]*[^$\s])?)\s*\$\$(?!\d)")
KEYS = FrontKeys(
    name_set(
        "title subtitle description excerpt summary date last_modified_at lastmod updated categories "
        "category tags tag published draft search search_exclude redirect_from permalink slug "
        "bibliography image image.path image.src"
    ),
    name_set(
        "render_with_liquid classes sidebar nav_exclude author_profile read_time share related mathjax "
        "header.overlay_filter toc_sticky toc_label toc_icon sitemap mermaid chart tabs pretty_table "
        "code_diff"
    ),
)


def page_front(document: JekyllDocument) -> dict[str, Any]:
    """The front matter of a page, in our keys and order."""
    front = document.front
    found: dict[str, Any] = {}
    for key in _TEXTS:
        if text := _text(front.get(key)):
            found[key] = text
    if "description" not in found and (text := _text(front.get("excerpt") or front.get("summary"))):
        found["description"] = text
    if written := _text(front.get("date")):
        found["date"] = written
    elif document.date:
        found["date"] = document.date.isoformat()
    if updated := _text(front.get("last_modified_at") or front.get("lastmod") or front.get("updated")):
        found["updated"] = updated
    for key, singular in (("categories", "category"), ("tags", "tag")):
        if names := names_in(front.get(key) or front.get(singular)):
            found[key] = names
    subject = one_line(front.get("subject_name")) or one_line(front.get("subject"))
    if subject and "categories" not in found:
        found["categories"] = [subject]
    if document.collection == "drafts" or front.get("published") is False or front.get("draft") is True:
        found["draft"] = True
    # of Just the Docs, and of Minimal Mistakes
    if front.get("search_exclude") is True or front.get("search") is False:
        found["search"] = False
    if aliases := redirects(front):
        found["aliases"] = aliases
    return found


def redirects(front: Mapping[str, Any]) -> list[str]:
    """Old addresses of a page: `redirect_from:` of jekyll-redirect-from."""
    written = front.get("redirect_from")
    return [
        f"/{each.strip().lstrip('/')}"
        for each in list_of(written)
        if isinstance(each, str) and each.strip("/ ")
    ]


def _text(value: Any) -> str:
    return _DISPLAY.sub(r"$\1$", one_line(value))
