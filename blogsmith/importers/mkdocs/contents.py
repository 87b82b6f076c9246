"""What the navigation becomes: a page of contents, a menu, and series of pages in one section."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from ..model import ImportedPage
from .config import MkDocsConfig
from .links import page_address, page_path
from .navigation import NavEntry

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
