"""Front matter of a page of a book → ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .config import author_names

_TOOLS = frozenset(
    (
        *(
            "jupytext",
            "kernelspec",
            "jupyter",
            "file_format",
            "mystnb",
            "myst",
            "title",
            "subtitle",
            "description",
        ),
        *(
            "date",
            "author",
            "authors",
            "tags",
            "keywords",
            "abstract",
            "thumbnail",
            "banner",
            "numbering",
            "math",
        ),
        *(
            "bibliography",
            "exports",
            "downloads",
            "substitutions",
            "short_title",
            "label",
            "orphan",
            "html_meta",
        ),
        *("site", "parts", "open_access", "license", "github", "binder", "venue", "orcid", "affiliations"),
        *("language_info", "execution", "execute", "tocdepth", "nosearch", "no-search", "slug", "draft"),
    )
)
"""Keys that are read, or that only the old system needs."""


def page_front(front: Mapping[str, Any], title: str) -> dict[str, Any]:
    """The front matter of a page, in our keys and order."""
    found: dict[str, Any] = {"title": title}
    for key in ("subtitle", "description"):
        if text := _text(front.get(key)):
            found[key] = text
    if "description" not in found and (text := _text(front.get("abstract"))):
        found["description"] = text
    if date := _text(front.get("date")):
        found["date"] = date
    if authors := author_names(front.get("authors") or front.get("author")):
        found["authors"] = list(authors)
    if tags := _names(front.get("tags") or front.get("keywords")):
        found["tags"] = tags
    if front.get("draft") is True:
        found["draft"] = True
    if image := _text(front.get("thumbnail")):
        found["image"] = image
    numbering = front.get("numbering")
    if numbering is True or (
        isinstance(numbering, dict) and (numbering.get("headings") or numbering.get("heading_2"))
    ):
        found["numbering"] = True
    if language := _kernel(front.get("kernelspec")):
        found["execute"] = {"kernel": language}
    found |= {key: value for key, value in front.items() if key not in _TOOLS and value is not None}
    return found


def _kernel(value: Any) -> str:
    """The kernel of a page whose language is not Python."""
    if not isinstance(value, dict):
        return ""
    name = str(value.get("name") or "")
    language = str(value.get("language") or name).lower()
    return "" if not name or language.startswith(("python", "ipython")) or name.startswith("python") else name


def _text(value: Any) -> str:
    return " ".join(str(value).split()) if isinstance(value, (str, int, float)) and value is not True else ""


def _names(value: Any) -> list[str]:
    items = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return [str(each).strip() for each in items if isinstance(each, (str, int)) and str(each).strip()]
