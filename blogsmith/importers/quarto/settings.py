"""`_quarto.yml` → `blogsmith.yaml`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from ...model.units import name_set
from ..model import Notice, OldSettings
from ..text.front_values import one_line
from .config import QuartoConfig
from .front import author_names, html_options

_TOLD = {
    "google-analytics": "it belongs into a theme",
    "plausible-analytics": "it belongs into a theme",
    "cookie-consent": "no page here sets a cookie",
    "announcement": "it belongs into a theme",
    "page-footer": "it belongs into a theme",
    "favicon": "it belongs into a theme",
    "sidebar": "sections and series are the ways through a site here",
    "repo-url": "it belongs into a theme",
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
    """Return the settings of the project and of its folders, and what of them is read."""
    folders = ((folder / "_metadata.yml", values) for folder, values in sorted(config.folders.items()))
    files = [(config.name, config.values), *((path.as_posix(), values) for path, values in folders)]
    return tuple(OldSettings(name, values, _TRANSLATED) for name, values in files if values)


def site_settings(
    config: QuartoConfig,
    macros: Mapping[str, str],
    kinds: Mapping[str, Mapping[str, Any]],
    addresses: Mapping[PurePosixPath, str],
) -> dict[str, Any]:
    """The settings of the new site; what is not known is left out.

    kinds: callout kinds that pages need. addresses: document → where it stands on the new site.
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
    """Links of the bar at the top, those of its menus too."""
    bar = config.site.get("navbar")
    for side in ("left", "right"):
        for entry in _entries(bar.get(side) if isinstance(bar, dict) else None):
            title, target = one_line(entry.get("text")), one_line(entry.get("href") or entry.get("file"))
            address = _address(target, addresses)
            title = title or one_line(entry.get("aria-label")) or urlsplit(target).netloc
            if title and address:
                yield {"title": title, "url": address}


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
    """What of the settings has no meaning here."""
    site = config.site
    for key, hint in _TOLD.items():
        if site.get(key):
            place = "website" if key in config.mapping("website") else "book"
            yield Notice("dropped", f'setting "{place}.{key}" has no effect here', config.name, hint=hint)
    if config.values.get("filters"):
        hint = "a filter changes the text of all pages; what it did is to be written out"
        message = f'setting "filters" has no effect here: {config.values["filters"]}'
        yield Notice("dropped", message, config.name, hint=hint)
    bar = site.get("navbar")
    for entry in _entries(bar.get("right") if isinstance(bar, dict) else None):
        target = one_line(entry.get("href"))
        if target.startswith("mailto:"):
            yield Notice("dropped", f"{target} in the bar at the top", config.name, hint="write it on a page")
