"""The navigation of a site: `nav`, a `SUMMARY.md`, or the folders themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from ...base.patterns import lazy_pattern

_ITEM = lazy_pattern(r"(\s*)[-*+]\s+(?:\[(.*?)\]\(([^()\s]*)\)|(\S.*?))\s*")


@dataclass(frozen=True, slots=True)
class NavEntry:
    """A line of the navigation."""

    depth: int
    title: str = ""
    file: str = ""
    """Of a page, relative to the folder of the pages; empty for a section."""
    url: str = ""
    """Of a link to elsewhere."""
    sections: tuple[str, ...] = ()
    """Titles of the sections around it, outermost first."""


def read_nav(nav: Any) -> list[NavEntry]:
    """The entries of `nav`, in order."""
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
    """The entries of a list of links, as mkdocs-literate-nav reads it."""
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
    """What MkDocs shows without `nav`: folders as sections, their index first."""
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
    """A folder's or file's name as a title."""
    text = name.replace("-", " ").replace("_", " ").strip()
    return text[:1].upper() + text[1:]
