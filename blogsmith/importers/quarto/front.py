"""Front matter of Quarto → ours."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...model.units import name_set
from ..model import FrontKeys, Notice
from ..text.front_values import list_of, names_in, one_line
from ..text.plain_dates import iso_date
from .source import QuartoDocument

_RELATIVE_DATES = frozenset(("today", "now", "last-modified"))
_HTML = ("html", "html5")
KEYS = FrontKeys(
    name_set(
        "title subtitle description abstract author author.name authors authors.name date date-modified "
        "categories keywords image draft aliases toc number-sections lang bibliography execute nocite "
        "about listing pagetitle search image-alt"
    ),
    name_set(
        "execute editor editor_options freeze resources jupyter engine knitr title-block-banner "
        "title-block-style page-layout toc-location toc-depth toc-title code-fold code-tools code-summary "
        "code-link code-overflow code-copy order theme number-depth fig-cap-location tbl-cap-location "
        "reference-location anchor-sections citation-location link-citations highlight-style fig-align "
        "fig-width fig-height html-math-method date-format smooth-scroll css open-graph twitter-card "
        "lightbox fontsize mainfont monofont linestretch embed-resources self-contained documentclass "
        "papersize geometry colorlinks output output-file pdf-engine standalone title-prefix sidebar "
        "body-classes fig-format fig-dpi df-print warning message echo from crossref cap-location "
        "code-line-numbers number-offset shift-heading-level-by template keep-md keep-tex grid linkcolor "
        "toc-expand website book suppress-bibliography format filters csl google-scholar format-links "
        "include-in-header include-before-body include-after-body"
    ),
)


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
    if own.get("listing"):
        message = "a listing: here a section lists its pages itself"
        found.notices.append(Notice("changed", message, source))
    found.abstract = str(own.get("abstract") or "").strip()
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


def _add_date(value: Any, key: str, name: str, found: FrontFindings, source: str) -> None:
    written = value.isoformat() if isinstance(value, dt.date) else one_line(value)
    if not written:
        return
    if written in _RELATIVE_DATES:
        message = f'"{key}" changes with every build, and is left out: {written}'
        found.notices.append(Notice("dropped", message, source, hint="write the date"))
        return
    date = iso_date(written)
    if not date:
        message = f'"{key}" is no date, and is left out: "{written}"'
        found.notices.append(Notice("dropped", message, source, hint=f"write {name}: 2024-03-01"))
        return
    if len(written) < len("2024-1-1"):
        message = f'"{key}" is the first day of it here: {written}'
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


def dropped_formats(own: Mapping[str, Any], source: str) -> Iterator[Notice]:
    """Formats besides HTML."""
    formats = own.get("format")
    names = [formats] if isinstance(formats, str) else list(formats) if isinstance(formats, dict) else []
    if others := [name for name in names if not str(name).startswith(("html", "default"))]:
        yield Notice("dropped", f'"format" {", ".join(map(str, others))}', source, hint="only HTML is made")


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
