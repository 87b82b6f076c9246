"""Front matter of Quarto → ours."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...base.patterns import lazy_pattern
from ...model.names import name_set
from ..model import Notice
from ..text.front_values import list_of, names_in, one_line
from ..text.plain_dates import iso_date
from .source import QuartoDocument

_RELATIVE_DATES = frozenset(("today", "now", "last-modified"))
_HTML = ("html", "html5")
_USED = name_set(
    "title subtitle description abstract author authors date date-modified categories keywords image draft "
    "aliases toc number-sections lang bibliography references execute format output-file nocite order "
    "image-alt about listing citation_url pagetitle"
)
_SILENT = name_set(
    "editor editor_options execute freeze resources jupyter engine knitr image-alt title-block-banner "
    "title-block-style page-layout toc-location toc-depth toc-title code-fold code-tools code-summary "
    "code-link code-overflow code-copy order theme search number-depth fig-cap-location tbl-cap-location "
    "reference-location anchor-sections citation-location link-citations highlight-style fig-align fig-width "
    "fig-height html-math-method date-format smooth-scroll css open-graph twitter-card lightbox fontsize "
    "mainfont monofont linestretch embed-resources self-contained documentclass papersize geometry "
    "colorlinks output pdf-engine standalone title-prefix sidebar body-classes license fig-format fig-dpi "
    "df-print warning message echo from crossref cap-location code-line-numbers number-offset "
    "shift-heading-level-by template keep-md keep-tex grid linkcolor toc-expand website book "
    "suppress-bibliography"
)
"""Keys of Quarto that decide the look, or the run on the author's machine."""
_TOLD = {
    "filters": "a filter changes the text of a page; what it did is to be written out",
    "csl": "citations are numbers here",
    "comments": "comments are a matter of the theme",
    "citation": "a page has no citation of itself",
    "doi": "a page has no citation of itself",
    "google-scholar": "a page has no citation of itself",
    "params": "cells have no parameters: set them in the first cell",
    "format-links": "only HTML is made",
    "include-in-header": "macros are taken over; the rest belongs into a theme",
    "include-before-body": "it belongs into a theme",
    "include-after-body": "it belongs into a theme",
    "funding": "it is not shown",
    "affiliation": "it is not shown",
    "affiliations": "it is not shown",
}
_OWN_STATUS = "wip"
_PLAIN_KEY = lazy_pattern(r"[A-Za-z][\w-]*")


@dataclass(slots=True)
class FrontFindings:
    """What became of front matter."""

    values: dict[str, Any] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)
    abstract: str = ""
    """Stands in the text, not in the front matter."""


def page_front(document: QuartoDocument, drafts: Sequence[str] = ()) -> FrontFindings:
    """The front matter of a page, in our keys and order.

    drafts: files that the project calls drafts.
    """
    own, options = document.front, document.options
    found = FrontFindings()
    values = found.values
    source = document.path.as_posix()
    for key in ("title", "subtitle", "description"):
        if text := one_line(own.get(key)):
            values[key] = text
    for theirs, ours in (("date", "date"), ("date-modified", "updated")):
        _add_date(own.get(theirs), theirs, ours, found, source)
    if names := author_names(own.get("author") or own.get("authors") or options.get("author")):
        values["authors"] = names
    if names := names_in(own.get("categories")):
        values["categories"] = names
    if names := names_in(own.get("keywords")):
        values["tags"] = names
    if image := one_line(own.get("image")):
        values["image"] = image
    if own.get("draft") is True or source in drafts or options.get("draft") is True:
        values["draft"] = True
    if aliases := _aliases(own.get("aliases"), document):
        values["aliases"] = aliases
    _add_switches(document, values)
    if any(isinstance(each, dict) and set(each) - {"name", "given", "family"} for each in _authors(own)):
        message = "affiliations and addresses of authors"
        found.notices.append(Notice("dropped", message, source, hint="write them in the text"))
    if own.get("listing"):
        message = "a listing: here a section lists its pages itself"
        found.notices.append(Notice("changed", message, source))
    found.abstract = str(own.get("abstract") or "").strip()
    _add_others(own, found, source)
    return found


def html_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that hold for HTML: those of the format over those of the page."""
    formats = options.get("format")
    chosen: Mapping[str, Any] = {}
    if isinstance(formats, dict):
        chosen = next((formats[name] for name in _HTML if isinstance(formats.get(name), dict)), {})
    return {**options, **chosen}


def author_names(value: Any) -> list[str]:
    """Names of authors: a name, a list, or mappings with `name:`, which may hold given and family name."""
    if isinstance(value, str):
        return [value.strip()] if value.strip() else []
    if isinstance(value, dict):
        name = value.get("name") or value.get("literal")
        if isinstance(name, dict) or not name:
            parts = name if isinstance(name, dict) else value
            pieces = [
                parts.get(key) for key in ("given", "dropping-particle", "non-dropping-particle", "family")
            ]
            name = str(parts.get("literal") or " ".join(str(each) for each in pieces if each))
        return [one_line(name)] if one_line(name) else []
    return [name for each in value for name in author_names(each)] if isinstance(value, list) else []


def _authors(own: Mapping[str, Any]) -> list[Any]:
    return list_of(own.get("author") or own.get("authors"))


def _add_date(value: Any, key: str, name: str, found: FrontFindings, source: str) -> None:
    written = value.isoformat() if isinstance(value, dt.date) else one_line(value)
    if not written:
        return
    if written in _RELATIVE_DATES:
        message = f"{key}: {written} changes with every build, and is left out"
        found.notices.append(Notice("dropped", message, source, hint="write the date"))
        return
    date = iso_date(written)
    if not date:
        message = f'{key}: "{written}" is read as no date, and is left out'
        found.notices.append(Notice("dropped", message, source, hint=f"write {name}: 2024-03-01"))
        return
    if len(written) < len("2024-1-1"):
        message = f"{key}: {written} is the first day of it here"
        found.notices.append(Notice("changed", message, source))
    found.values[name] = date


def _aliases(value: Any, document: QuartoDocument) -> list[str]:
    """Old addresses, from the root: a relative one counts from the page's own folder."""
    found = []
    for each in list_of(value):
        if isinstance(each, str) and each.strip():
            folder = "/" if document.path.parent.as_posix() == "." else f"/{document.path.parent.as_posix()}/"
            address = (
                each.strip() if each.strip().startswith("/") else folder + each.strip().removeprefix("./")
            )
            found.append(_normal(address))
    return list(dict.fromkeys(found))


def _normal(address: str) -> str:
    parts: list[str] = []
    for part in address.split("/"):
        parts = parts[:-1] if part == ".." else [*parts, part]
    return "/" + "/".join(parts).lstrip("/").removesuffix("index.html")


def _add_switches(document: QuartoDocument, values: dict[str, Any]) -> None:
    own = html_options(document.front)
    if isinstance(own.get("toc"), bool):
        values["toc"] = own["toc"]
    if own.get("search") is False:
        values["search"] = False
    if isinstance(own.get("number-sections"), bool):
        values["numbering"] = own["number-sections"]
    if lang := one_line(own.get("lang")):
        values["lang"] = lang


def _add_others(own: Mapping[str, Any], found: FrontFindings, source: str) -> None:
    """Keys of the author's own are kept; of Quarto's those that say something are told."""
    for key, value in own.items():
        if key in _USED or key in _SILENT or key.startswith(("toc-", "fig-", "tbl-", "code-", "number-")):
            continue
        if key in _TOLD:
            found.notices.append(Notice("dropped", f"{key}: in the front matter", source, hint=_TOLD[key]))
        elif key == "status" and value != _OWN_STATUS:
            message = f"status: {value}, a key of the site's own, means something else here"
            found.notices.append(Notice("dropped", message, source, hint="give it another name"))
        elif _PLAIN_KEY.fullmatch(key) and _is_plain(value):
            found.values[key] = value
        else:
            found.notices.append(Notice("dropped", f"{key}: in the front matter is not taken over", source))


def _is_plain(value: Any) -> bool:
    scalars = (str, int, float, bool)
    return isinstance(value, scalars) or (
        isinstance(value, list) and bool(value) and all(isinstance(each, scalars) for each in value)
    )


def dropped_formats(own: Mapping[str, Any], source: str) -> Iterator[Notice]:
    """Formats besides HTML."""
    formats = own.get("format")
    names = [formats] if isinstance(formats, str) else list(formats) if isinstance(formats, dict) else []
    if others := [name for name in names if not str(name).startswith(("html", "default"))]:
        yield Notice("dropped", f"format {', '.join(map(str, others))}", source, hint="only HTML is made")


def about_text(own: Mapping[str, Any]) -> str:
    """Picture and links of an about page, as Markdown; empty if it is none."""
    about = own.get("about")
    if not isinstance(about, dict):
        return ""
    image = one_line(about.get("image") or own.get("image"))
    links = [each for each in about.get("links") or [] if isinstance(each, dict) and each.get("href")]
    lines = [f"- [{one_line(each.get('text')) or each['href']}]({each['href']})" for each in links]
    picture = f"![{one_line(about.get('image-alt') or own.get('image-alt'))}](<{image}>)\n" if image else ""
    return "\n".join([*([picture] if picture else []), *lines])
