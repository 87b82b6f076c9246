"""Parts of a Hugo site outside of its pages: taxonomies that blogsmith does not have, PaperMod's home page,
and menus."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from ...api.importing import slugify
from ..addresses import redirect_files
from ..model import FrontKeys, ImportedData, ImportedPage, Notice
from ..text.data import one_line, read_strings
from .config import HugoConfig
from .source import urlize

_KNOWN = frozenset(("tags", "categories", "series", "authors"))
_HOME = PurePosixPath("content/_index.md")


def own_taxonomies(config: HugoConfig) -> tuple[str, ...]:
    """Return the front matter keys, in lower case, of the site's taxonomies that blogsmith does not have."""
    written = config.value("taxonomies")
    names = written.values() if isinstance(written, Mapping) else ()
    found = (one_line(each).casefold() for each in names)
    return tuple(dict.fromkeys(name for name in found if name and name not in _KNOWN))


def with_taxonomies(keys: FrontKeys, names: Iterable[str]) -> FrontKeys:
    """Return `keys` with the taxonomies `names` added to the translated keys, because their terms become
    tags."""
    return replace(keys, translated=keys.translated | frozenset(names))


def add_terms(page: ImportedPage, front: Mapping[str, Any], names: Sequence[str]) -> ImportedPage:
    """Add the terms of taxonomies to the tags of a page. front: old front matter. names: keys of the
    taxonomies."""
    terms = {name: read_strings(front.get(name) or []) for name in names}
    if not any(terms.values()):
        return page
    tags = [*page.front.get("tags", ()), *(term for each in terms.values() for term in each)]
    used = (name for name in names if terms[name])
    notices = (
        Notice(
            "changed",
            f'front matter key "{name}" has no effect as a taxonomy: its terms are tags',
            page.source,
        )
        for name in used
    )
    made = {**page.front, "tags": list(dict.fromkeys(tags))}
    return replace(page, front=made, notices=(*page.notices, *notices))


def term_redirects(
    pages: Iterable[ImportedPage], fronts: Iterable[Mapping[str, Any]], names: Sequence[str]
) -> tuple[ImportedData, ...]:
    """Return redirects from the old lists of taxonomies and their terms to the lists of tags. fronts: old
    front matter. names: keys of the taxonomies."""
    written = ((name, front.get(name) or []) for front in fronts for name in names)
    terms = {(name, term) for name, value in written for term in read_strings(value)}
    targets = {f"/{urlize(name)}/{urlize(term)}/": f"/tags/{slugify(term)}/" for name, term in terms}
    targets |= {f"/{urlize(name)}/": "/tags/" for name, _ in terms}
    taken = {page.address for page in pages}
    return redirect_files({old: new for old, new in targets.items() if old not in taken})


def person_settings(config: HugoConfig, copied: frozenset[PurePosixPath]) -> dict[str, Any]:
    """Return the setting `person`, made from PaperMod's profile mode; empty if this mode is off. copied:
    paths of copied files."""
    mode = config.value("params", "profilemode")
    if not isinstance(mode, Mapping) or mode.get("enabled") is not True:
        return {}
    image = one_line(mode.get("imageurl")).lstrip("/")
    found = {
        "name": one_line(mode.get("title")),
        "portrait": f"/{image}" if PurePosixPath("static") / image in copied else "",
        "line": one_line(mode.get("subtitle")),
    }
    return {key: text for key, text in found.items() if text} if found["name"] else {}


def home_page(config: HugoConfig, pages: Sequence[ImportedPage]) -> list[ImportedPage]:
    """Return the pages. If the home page has no text, add the text from PaperMod's settings."""
    info = config.value("params", "homeinfoparams")
    text = str(info.get("content") or "").strip() if isinstance(info, Mapping) else ""
    old = next((page for page in pages if page.path == _HOME), None)
    if not text or (old and old.text.strip()):
        return [*pages]
    front = {
        "title": one_line(info.get("title")) or config.language_text("title"),
        **(old.front if old else {}),
    }
    page = replace(old, text=f"{text}\n") if old else ImportedPage(_HOME, front, f"{text}\n", config.file)
    return [*(each for each in pages if each is not old), replace(page, front=front)]


def menu_notices(config: HugoConfig) -> Iterator[Notice]:
    """Yield a notice for each menu that is not imported. Only the main menu of the default language is
    imported."""
    for code in config.languages[1:]:
        if config.value("languages", code, "menu") or config.value("languages", code, "menus"):
            message = f'menu of language "{code}" is omitted: all pages show the same menu'
            yield Notice("dropped", message)
    for key in ("menu", "menus"):
        written = config.value(key)
        for name, entries in written.items() if isinstance(written, Mapping) else ():
            if str(name) != "main" and isinstance(entries, list):
                message = f'setting "{key}.{name}" has no effect: only the main menu is imported'
                yield Notice("dropped", message, config.file, hint="add its links to `menu` or to a page")
