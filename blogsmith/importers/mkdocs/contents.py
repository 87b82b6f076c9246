"""What the navigation becomes: a page of contents, a menu, and series of pages in one section."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from ...base.patterns import lazy_pattern
from ..model import ImportedPage, Notice
from ..text.segments import CODE, mask
from ..text.tags import address_text
from .config import MkDocsConfig
from .links import page_address, page_path
from .navigation import NavEntry

_TAG_LIST = lazy_pattern(r"^[ \t]*(?:<!--\s*material/tags[^>]*-->|\[TAGS\])[ \t]*$", re.MULTILINE)
_LONGEST_MENU = 7
"""Entries besides the page of contents."""


def contents_page(nav: Sequence[NavEntry], titles: Mapping[str, str], config: MkDocsConfig) -> ImportedPage:
    """A list of all pages: there is no side bar here."""
    lines = []
    for entry in nav:
        if entry.file:
            path = posixpath.relpath(page_path(PurePosixPath(entry.file)), "content")
            text = f"[{entry.title or titles.get(entry.file, entry.file)}]({path})"
        else:
            text = f"[{entry.title}]({entry.url})" if entry.url else f"**{entry.title}**"
        lines.append(f"{'  ' * entry.depth}- {text}")
    return ImportedPage(
        path=PurePosixPath("content/contents.md"),
        front={"title": "Contents"},
        text="\n".join(lines),
        source=config.file.as_posix(),
    )


def with_tag_lists(
    pages: Sequence[ImportedPage], titles: Mapping[str, str], config: MkDocsConfig
) -> list[ImportedPage]:
    """Pages that Material fills with all tags, with that list as it would be now.

    titles: page → title that the navigation gives it.
    """
    name = str(config.plugins.get("tags", {}).get("tags_file") or "")
    file = (config.docs / name).as_posix() if name else ""
    shown = {(config.docs / path).as_posix(): title for path, title in titles.items()}
    made = []
    for page in pages:
        if page.source == file and not _TAG_LIST.search(page.text):
            page = replace(page, text=f"{page.text.rstrip()}\n\n<!-- material/tags -->\n")
        masked = mask(page.text, kinds=CODE - {"comment"})
        if _TAG_LIST.search(masked.text):
            message = "the list of all tags is written out: it does not follow the pages any more"
            notice = Notice("changed", message, page.source, hint="posts have lists of their tags: /tags/")
            text = _tag_list(pages, shown, page.path).join(_TAG_LIST.split(masked.text))
            page = replace(page, text=masked.restore(text), notices=(*page.notices, notice))
        made.append(page)
    return made


def _tag_list(pages: Sequence[ImportedPage], titles: Mapping[str, str], path: PurePosixPath) -> str:
    tagged: dict[str, list[tuple[str, str]]] = {}
    for page in pages:
        title = titles.get(page.source, str(page.front["title"]))
        link = f"- [{title}]({address_text(posixpath.relpath(page.path, path.parent))})"
        for tag in page.front.get("tags", ()):
            tagged.setdefault(str(tag), []).append((title.casefold(), link))
    parts = []
    for tag in sorted(tagged, key=str.casefold):
        parts.append("\n".join([f"## {tag}", "", *(link for _, link in sorted(tagged[tag]))]))
    return "\n\n".join(parts)


def section_series(nav: Sequence[NavEntry]) -> dict[str, tuple[str, int]]:
    """Page → the outermost section around it, and its place there; sections of one page are none."""
    found: dict[str, tuple[str, int]] = {}
    counts: dict[str, int] = {}
    for entry in nav:
        is_index = PurePosixPath(entry.file).stem.lower() in ("index", "readme")
        if entry.file and entry.sections and not is_index and entry.file not in found:
            section = entry.sections[0]
            counts[section] = counts.get(section, 0) + 1
            found[entry.file] = (section, counts[section])
    return {file: place for file, place in found.items() if counts[place[0]] > 1}


def site_menu(nav: Sequence[NavEntry], config: MkDocsConfig) -> list[dict[str, Any]]:
    """The first level of the navigation, sections by their first page, and the page of contents."""
    menu: list[dict[str, Any]] = []
    for number, entry in enumerate(nav):
        if entry.depth or not entry.title:
            continue
        below = (each.file for each in nav[number:] if each.file and each.sections[:1] == (entry.title,))
        file = entry.file or next(below, "")
        url = entry.url or (page_address(PurePosixPath(file), config) or "/" if file else "")
        if url and url.startswith(("/", "http://", "https://")):
            menu.append({"title": entry.title, "url": url})
    return [*menu[:_LONGEST_MENU], {"title": "Contents", "url": "/contents/"}] if menu else []
