"""The navigation of a site (`nav`, `SUMMARY.md`, folders) as a contents page, a menu and series."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from ...api.importing import lazy_pattern
from ..model import ImportedPage, Notice
from ..text.html import link_destination
from ..text.segments import CODE, mask
from .config import MkDocsConfig
from .links import page_address, page_path

_ITEM = lazy_pattern(r"(\s*)[-*+]\s+(?:\[(.*?)\]\(([^()\s]*)\)|(\S.*?))\s*")


@dataclass(frozen=True, slots=True)
class NavEntry:
    """An entry of the navigation."""

    depth: int
    title: str = ""
    file: str = ""
    """Path of the page, relative to the folder of the pages; empty for a section."""
    url: str = ""
    """URL of an external link."""
    sections: tuple[str, ...] = ()
    """Titles of the enclosing sections, outermost first."""


def read_nav(nav: Any) -> list[NavEntry]:
    """Return the entries of `nav`, in order."""
    return list(_items(nav, ()))


def _items(items: Any, sections: tuple[str, ...]) -> Iterator[NavEntry]:
    for item in items if isinstance(items, list) else ():
        if isinstance(item, str):
            yield _entry("", item, sections)
        for title, value in item.items() if isinstance(item, dict) else ():
            if isinstance(value, list):
                yield NavEntry(len(sections), str(title), sections=sections)
                yield from _items(value, (*sections, str(title)))
            elif isinstance(value, str):
                yield _entry(str(title), value, sections)


def _entry(title: str, target: str, sections: tuple[str, ...]) -> NavEntry:
    if "://" in target or target.startswith(("mailto:", "/")):
        return NavEntry(len(sections), title or target, url=target, sections=sections)
    return NavEntry(len(sections), title, file=target.removeprefix("./"), sections=sections)


def read_summary(text: str) -> list[NavEntry]:
    """Return the entries of a list of links, as mkdocs-literate-nav reads it."""
    found: list[NavEntry] = []
    stack: list[tuple[int, str]] = []
    for line in text.split("\n"):
        item = _ITEM.fullmatch(line)
        if not item:
            continue
        width = len(item[1].expandtabs(4))
        stack = [each for each in stack if each[0] < width]
        sections = tuple(title for _, title in stack)
        if item[3]:
            found.append(_entry(item[2], item[3], sections))
        elif "*" not in item[4]:
            found.append(NavEntry(len(sections), item[4].strip("*_"), sections=sections))
            stack.append((width, item[4].strip("*_")))
    return found


def folder_nav(pages: Sequence[PurePosixPath]) -> list[NavEntry]:
    """Return the navigation that MkDocs generates without `nav`: folders as sections, their index first."""
    found: list[NavEntry] = []
    known: set[PurePosixPath] = set()
    for page in sorted(pages, key=_nav_order):
        for parent in reversed(page.parents[:-1]):
            if parent not in known:
                known.add(parent)
                titles = tuple(folder_title(name) for name in parent.parts)
                found.append(NavEntry(len(titles) - 1, titles[-1], sections=titles[:-1]))
        sections = tuple(folder_title(name) for name in page.parent.parts)
        found.append(NavEntry(len(sections), file=page.as_posix(), sections=sections))
    return found


def _nav_order(page: PurePosixPath) -> tuple[tuple[tuple[bool, str], ...], bool, str]:
    folders = tuple((True, name) for name in page.parent.parts)
    return folders, page.stem.lower() not in ("index", "readme"), page.name


def folder_title(name: str) -> str:
    """Convert the name of a folder or file to a title."""
    text = name.replace("-", " ").replace("_", " ").strip()
    return text[:1].upper() + text[1:]


_TAG_LIST = lazy_pattern(r"^[ \t]*(?:<!--\s*material/tags[^>]*-->|\[TAGS\])[ \t]*$", re.MULTILINE)
_MAX_MENU_ENTRIES = 7
"""Maximum number of menu entries, apart from the contents page."""


def contents_page(nav: Sequence[NavEntry], titles: Mapping[str, str], config: MkDocsConfig) -> ImportedPage:
    """Return a page that lists all pages, because blogsmith has no sidebar."""
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
    """Add the list of all tags to pages where Material generates it. titles: page → title in the
    navigation."""
    name = str(config.plugins.get("tags", {}).get("tags_file") or "")
    file = (config.docs / name).as_posix() if name else ""
    shown = {(config.docs / path).as_posix(): title for path, title in titles.items()}
    made = []
    for page in pages:
        if page.source == file and not _TAG_LIST.search(page.text):
            page = replace(page, text=f"{page.text.rstrip()}\n\n<!-- material/tags -->\n")
        masked = mask(page.text, kinds=CODE - {"comment"})
        if _TAG_LIST.search(masked.text):
            message = "list of all tags becomes fixed text and is no longer updated"
            notice = Notice(
                "changed", message, page.source, hint="link to `/tags/`, the generated list of tags"
            )
            text = _tag_list(pages, shown, page.path).join(_TAG_LIST.split(masked.text))
            page = replace(page, text=masked.restore(text), notices=(*page.notices, notice))
        made.append(page)
    return made


def _tag_list(pages: Sequence[ImportedPage], titles: Mapping[str, str], path: PurePosixPath) -> str:
    tagged: dict[str, list[tuple[str, str]]] = {}
    for page in pages:
        title = titles.get(page.source, str(page.front["title"]))
        link = f"- [{title}]({link_destination(posixpath.relpath(page.path, path.parent))})"
        for tag in page.front.get("tags", ()):
            tagged.setdefault(str(tag), []).append((title.casefold(), link))
    parts = []
    for tag in sorted(tagged, key=str.casefold):
        parts.append("\n".join([f"## {tag}", "", *(link for _, link in sorted(tagged[tag]))]))
    return "\n\n".join(parts)


def section_series(nav: Sequence[NavEntry]) -> dict[str, tuple[str, int]]:
    """Map each page to its outermost section and its position there. Sections with one page are omitted."""
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
    """Return the menu: the top level of the navigation, where a section links to its first page, and the
    contents page."""
    menu: list[dict[str, Any]] = []
    for number, entry in enumerate(nav):
        if entry.depth or not entry.title:
            continue
        below = (each.file for each in nav[number:] if each.file and each.sections[:1] == (entry.title,))
        file = entry.file or next(below, "")
        url = entry.url or (page_address(PurePosixPath(file), config) or "/" if file else "")
        if url and url.startswith(("/", "http://", "https://")):
            menu.append({"title": entry.title, "url": url})
    return [*menu[:_MAX_MENU_ENTRIES], {"title": "Contents", "url": "/contents/"}] if menu else []
