"""Comments at giscus or utterances: found in old settings and templates, and set up in the new site."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from ..base.patterns import lazy_pattern
from ..model.units import name_set
from .model import ImportedPage, SiteImport
from .source_files import read_text, walk_files

_FOLDERS = name_set("_includes _layouts layouts overrides partials")
_SUFFIXES = frozenset((".html", ".liquid", ".htm", ".jinja", ".j2"))
_MOST_FILES = 2000
_DEEPEST = 6
_SCRIPT = lazy_pattern(
    r"<script\b[^<>]*\bsrc=[\"']https://(giscus\.app|utteranc\.es)/client\.js[\"'][^<>]*>"
    r"|<script\b[^<>]*https://(giscus\.app|utteranc\.es)/client\.js[^<>]*>"
)
_ATTRIBUTE = lazy_pattern(r"\b(?:data-)?([a-z-]+)=[\"']([^\"'<>{}]*)[\"']")
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "repo": ("repo", "repository"),
    "repo_id": ("repoid",),
    "category": ("category", "categoryname"),
    "category_id": ("categoryid",),
    "label": ("label",),
}
"""Setting of ours → names that others give it, without `-` and `_`."""
_NEEDED = {"giscus": ("repo", "repo_id", "category", "category_id"), "utterances": ("repo",)}
_SWITCH = "giscus_comments"
"""What al-folio calls `comments`."""


def with_comments(site: SiteImport) -> SiteImport:
    """Return the import with the comment service of the old site, on the pages that had comments."""
    values = [old.values for old in site.old_settings]
    found = next(filter(None, (*map(_from_settings, values), _from_templates(site.root, values))), None)
    if not found or "comments" in site.settings:
        return site
    is_opt_in = any(page.old_front.get(key) is True for page in site.pages for key in ("comments", _SWITCH))
    pages = tuple(_with_switch(page) for page in site.pages) if is_opt_in else site.pages
    return replace(site, settings={**site.settings, "comments": found}, pages=pages)


def _with_switch(page: ImportedPage) -> ImportedPage:
    """Return a page of a site whose pages ask for comments."""
    if page.old_front.get(_SWITCH) is True:
        return replace(page, front={**page.front, "comments": True})
    is_post = len(page.path.parts) > 2 and page.path.stem != "_index"
    if "comments" in page.front or not is_post:
        return page
    return replace(page, front={**page.front, "comments": False})


def _from_settings(values: Mapping[str, Any]) -> dict[str, str] | None:
    for path, each in _mappings(values, (), 0):
        provider = next((name for name in _NEEDED if name in path[-1:]), "")
        around = {"repository": values.get("repository"), **each}
        if provider and (found := _settings(provider, around)):
            return found
    return None


def _mappings(
    data: Mapping[str, Any], path: tuple[str, ...], depth: int
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    for key, value in data.items() if depth < _DEEPEST else ():
        if isinstance(value, Mapping):
            inner = (*path, str(key).casefold())
            yield inner, value
            yield from _mappings(value, inner, depth + 1)


def _settings(provider: str, fields: Mapping[str, Any]) -> dict[str, str] | None:
    """Return `comments` of the new settings; None if something is missing."""
    folded = {re.sub("[-_]", "", str(key)).casefold(): value for key, value in fields.items()}
    found = {
        name: str(value)
        for name, others in _FIELDS.items()
        if (value := next((folded[other] for other in others if folded.get(other)), None))
        and (name != "label" or provider == "utterances")
    }
    if not all(name in found for name in _NEEDED[provider]):
        return None
    shown = (name for name in found if name in _NEEDED[provider] or name == "label")
    return {"provider": provider, **{name: found[name] for name in shown}}


def _from_templates(root: Path, values: Iterable[Mapping[str, Any]]) -> dict[str, str] | None:
    names = {key: value for each in values for key, value in each.items() if isinstance(value, str)}
    paths = (
        path
        for path in (walk_files(root) if root.is_dir() else ())
        if path.suffix in _SUFFIXES and not _FOLDERS.isdisjoint(path.parts)
    )
    for path in islice(paths, _MOST_FILES):
        for script in _SCRIPT.finditer(read_text(root / path) or ""):
            provider = "giscus" if "giscus.app" in script[0] else "utterances"
            fields = {"repository": names.get("repository"), **dict(_ATTRIBUTE.findall(script[0]))}
            if found := _settings(provider, fields):
                return found
    return None
