"""Conversion of Quarto's metadata, which is the front matter of pages and the settings of the project."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from ...api.importing import name_set
from ..model import FrontKeys, Notice, OldSettings
from ..text.data import as_list, iso_date, one_line, read_names
from .source import QuartoConfig, QuartoDocument

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
class ConvertedFrontMatter:
    """The converted front matter of a page."""

    values: dict[str, Any] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)
    abstract: str = ""
    """Abstract, which the importer moves from the front matter to the text; empty if there is none."""


def page_front(document: QuartoDocument, drafts: Sequence[str] = ()) -> ConvertedFrontMatter:
    """Return the front matter of a page, in blogsmith's order.

    drafts: paths of pages that the project's settings list as drafts.
    """
    own, options = document.front, document.options
    found = ConvertedFrontMatter()
    values = found.values
    source = document.path.as_posix()
    for key in ("title", "subtitle", "description"):
        if text := one_line(own.get(key)):
            values[key] = text
    for theirs, ours in (("date", "date"), ("date-modified", "updated")):
        _add_date(own.get(theirs), theirs, ours, found, source)
    if names := author_names(own.get("author") or own.get("authors") or options.get("author")):
        values["authors"] = names
    if names := read_names(own.get("categories")):
        values["categories"] = names
    if names := read_names(own.get("keywords")):
        values["tags"] = names
    if image := one_line(own.get("image")):
        values["image"] = image
    if own.get("draft") is True or source in drafts or options.get("draft") is True:
        values["draft"] = True
    if aliases := _aliases(own.get("aliases"), document):
        values["aliases"] = aliases
    _add_switches(document, values)
    if own.get("listing"):
        message = 'front matter key "listing" has no effect: a section lists its pages automatically'
        found.notices.append(Notice("changed", message, source))
    names = _format_names(own)
    if names and all(str(name).endswith(_OTHER_FORMATS) for name in names):
        values["draft"] = True
        hint = "remove `draft: true` to publish the page"
        message = f'missing HTML among formats "{", ".join(map(str, names))}": the page becomes a draft'
        found.notices.append(Notice("changed", message, source, hint=hint))
    found.abstract = str(own.get("abstract") or "").strip()
    return found


def html_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options for HTML output. Those under `format: html:` override the other options of the
    page."""
    formats = options.get("format")
    chosen: Mapping[str, Any] = {}
    if isinstance(formats, dict):
        chosen = next((formats[name] for name in _HTML if isinstance(formats.get(name), dict)), {})
    return {**options, **chosen}


def author_names(value: Any) -> list[str]:
    """Return the names of authors. value: one author or a list of authors. An author is a string or a mapping
    with `name:`; the name is a string or a mapping with given and family name."""
    if isinstance(value, str):
        return [value.strip()] if value.strip() else []
    if isinstance(value, dict):
        name = value.get("name") or value.get("literal")
        if isinstance(name, dict) or not name:
            parts = name if isinstance(name, dict) else value
            keys = ("given", "dropping-particle", "non-dropping-particle", "family")
            pieces = (str(parts[key]) for key in keys if parts.get(key))
            name = str(parts.get("literal") or " ".join(pieces))
        return [one_line(name)] if one_line(name) else []
    return [name for each in value for name in author_names(each)] if isinstance(value, list) else []


def _add_date(value: Any, key: str, name: str, found: ConvertedFrontMatter, source: str) -> None:
    written = value.isoformat() if isinstance(value, dt.date) else one_line(value)
    if not written:
        return
    if written in _RELATIVE_DATES:
        message = f'relative date "{written}" in front matter key "{key}" is omitted'
        found.notices.append(
            Notice("dropped", message, source, hint=f"write a fixed date such as `{name}: 2024-03-01`")
        )
        return
    date = iso_date(written)
    if not date:
        message = f'invalid date "{written}" in front matter key "{key}"'
        found.notices.append(
            Notice("dropped", message, source, hint=f"write a date such as `{name}: 2024-03-01`")
        )
        return
    if len(written) < len("2024-1-1"):
        message = f'front matter key "{key}" becomes the first day of "{written}"'
        found.notices.append(Notice("changed", message, source))
    found.values[name] = date


def _aliases(value: Any, document: QuartoDocument) -> list[str]:
    """Return the aliases in the front matter as URL paths. A relative alias is relative to the folder of the
    page."""
    found = []
    for each in as_list(value):
        if isinstance(each, str) and each.strip():
            folder = "/" if document.path.parent.as_posix() == "." else f"/{document.path.parent.as_posix()}/"
            written = each.strip()
            found.append(
                _normalize_path(written if written[0] == "/" else folder + written.removeprefix("./"))
            )
    return list(dict.fromkeys(found))


def _normalize_path(address: str) -> str:
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


_OTHER_FORMATS = tuple(name_set("pdf typst docx beamer pptx latex epub odt rtf plain jats context native"))


def _format_names(own: Mapping[str, Any]) -> list[Any]:
    formats = own.get("format")
    return [formats] if isinstance(formats, str) else list(formats) if isinstance(formats, dict) else []


def report_formats(own: Mapping[str, Any], source: str) -> Iterator[Notice]:
    """Yield a notice for output formats other than HTML in the front matter."""
    if others := [name for name in _format_names(own) if not str(name).startswith(("html", "default"))]:
        ignored = ", ".join(f'"{name}"' for name in others)
        message = f'other formats of front matter key "format" are ignored: {ignored}'
        yield Notice("dropped", message, source)


def about_text(own: Mapping[str, Any]) -> str:
    """Return the image and links of an about page as Markdown; empty for other pages."""
    about = own.get("about")
    if not isinstance(about, dict):
        return ""
    image = one_line(about.get("image") or own.get("image"))
    links = [each for each in about.get("links") or [] if isinstance(each, dict) and each.get("href")]
    lines = [f"- [{one_line(each.get('text')) or each['href']}]({each['href']})" for each in links]
    picture = f"![{one_line(about.get('image-alt') or own.get('image-alt'))}](<{image}>)\n" if image else ""
    return "\n".join([*([picture] if picture else []), *lines])


_UNSUPPORTED_SETTINGS = {
    "google-analytics": "add it to a theme",
    "cookie-consent": "remove it: the pages of blogsmith set no cookies",
    "announcement": "add it to a theme",
    "page-footer": "add it to a theme",
    "favicon": "add it to a theme",
    "sidebar": "use sections and series for navigation",
    "repo-url": "add it to a theme",
    "search": "write `search: true` in blogsmith.yaml",
}


_TRANSLATED = name_set(
    "title author lang toc number-sections smart website.title website.description website.author "
    "website.site-url website.navbar website.drafts book.title book.description book.author "
    "book.site-url book.navbar book.chapters book.appendices project.type project.render "
    "project.output-dir project.resources bibliography include-in-header execute format.html.toc "
    "format.html.number-sections format.html.smart format.html.include-in-header "
    "format.html.code-fold"
)


def old_settings(config: QuartoConfig) -> tuple[OldSettings, ...]:
    """Return the settings of the project and its folders. They include the names of settings that the
    importer translates."""
    folders = ((folder / "_metadata.yml", values) for folder, values in sorted(config.folders.items()))
    files = [(config.name, config.values), *((path.as_posix(), values) for path, values in folders)]
    return tuple(OldSettings(name, values, _TRANSLATED) for name, values in files if values)


def site_settings(
    config: QuartoConfig,
    macros: Mapping[str, str],
    kinds: Mapping[str, Mapping[str, Any]],
    addresses: Mapping[PurePosixPath, str],
) -> dict[str, Any]:
    """Return the settings of the new site.

    kinds: kinds of callouts that pages use → their settings. addresses: document → its URL in the new site.
    """
    site = config.site
    found: dict[str, Any] = {
        "title": one_line(site.get("title") or config.values.get("title")) or "Untitled site"
    }
    if description := one_line(site.get("description")):
        found["description"] = description
    if names := author_names(site.get("author") or config.values.get("author")):
        found["author"] = ", ".join(names)
    if config.base_url:
        found["base_url"] = config.base_url
    if lang := one_line(config.values.get("lang")):
        found["lang"] = lang
    if menu := list(_menu(config, addresses)):
        found["menu"] = menu
    html = html_options(config.values)
    if html.get("toc") is False:
        found["toc"] = False
    if html.get("number-sections") is True:
        found["numbering"] = True
    found["markup"] = {"smart_quotes": html.get("smart") is not False}
    found |= {"images": {"remote": "warn"}, "embeds": {"remote": "warn"}}
    if macros:
        found["math"] = {"macros": dict(macros)}
    if kinds:
        found["callouts"] = {name: dict(kind) for name, kind in kinds.items()}
    return found


def _menu(config: QuartoConfig, addresses: Mapping[PurePosixPath, str]) -> Iterator[dict[str, str]]:
    """Yield the entries of the navigation bar and its menus. If there is no navigation bar, yield those of
    the sidebar."""
    bar = config.site.get("navbar")
    sides = [bar.get(side) for side in ("left", "right")] if isinstance(bar, dict) else [_sidebar(config)]
    for side in sides:
        for entry in _entries(side):
            title, target = one_line(entry.get("text")), one_line(entry.get("href") or entry.get("file"))
            address = _address(target, addresses)
            title = title or one_line(entry.get("aria-label")) or urlsplit(target).netloc
            if title and address:
                yield {"title": title, "url": address}


def _sidebar(config: QuartoConfig) -> list[Mapping[str, Any]]:
    """Return the top level of the sidebar. A section becomes an entry for its first page."""
    sidebar = config.site.get("sidebar")
    sidebar = sidebar[0] if isinstance(sidebar, list) and sidebar else sidebar
    contents = sidebar.get("contents") if isinstance(sidebar, dict) else None
    found: list[Mapping[str, Any]] = []
    for entry in contents if isinstance(contents, list) else ():
        inner = entry.get("contents") if isinstance(entry, dict) else None
        first = next(_entries(inner), {}) if isinstance(inner, list) else {}
        section = {"text": entry.get("section"), "href": first.get("href")} if first else entry
        found += _entries([section])
    return found[:_MAX_SIDEBAR]


_MAX_SIDEBAR = 12


def _entries(value: Any) -> Iterator[Mapping[str, Any]]:
    for entry in value if isinstance(value, list) else []:
        if isinstance(entry, str):
            yield {"text": PurePosixPath(entry).stem.replace("-", " ").capitalize(), "href": entry}
        elif isinstance(entry, dict):
            yield entry
            yield from _entries(entry.get("menu"))


def _address(target: str, addresses: Mapping[PurePosixPath, str]) -> str:
    if target.startswith(("https://", "http://")):
        return target
    if not target or re.match(r"\w+:", target):
        return ""
    path = PurePosixPath(target.partition("#")[0].lstrip("/").removeprefix("./"))
    for candidate in (path, path / "index.qmd"):
        if candidate in addresses:
            return addresses[candidate]
    return f"/{path.as_posix()}" if path.suffix else ""


def setting_notices(config: QuartoConfig) -> Iterator[Notice]:
    """Yield a notice for each setting that has no effect in blogsmith."""
    site = config.site
    for key, hint in _UNSUPPORTED_SETTINGS.items():
        if site.get(key):
            place = "website" if key in config.mapping("website") else "book"
            yield Notice(
                "dropped", f'setting "{place}.{key}" has no effect in blogsmith', config.name, hint=hint
            )
    if config.values.get("filters"):
        hint = "apply the changes of the filters to the text of the pages"
        message = f'setting "filters" has no effect in blogsmith: {config.values["filters"]}'
        yield Notice("dropped", message, config.name, hint=hint)
    bar = site.get("navbar")
    for entry in _entries(bar.get("right") if isinstance(bar, dict) else None):
        target = one_line(entry.get("href"))
        if target.startswith("mailto:"):
            message = f'link "{target}" in the navigation bar is omitted'
            yield Notice("dropped", message, config.name, hint="add it to a page")
