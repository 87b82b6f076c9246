"""Tables of contents: of Jupyter Book (`_toc.yml`), of mystmd (`myst.yml`), and of fences in pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_CHILDREN = ("parts", "subtrees", "chapters", "sections", "entries", "children")


@dataclass(frozen=True, slots=True)
class BookEntry:
    """A line of a table of contents: a page, a link, or the caption of a part."""

    depth: int
    """0 for what stands directly below the book."""
    title: str = ""
    """Empty: the page's own."""
    file: str = ""
    """Path of a page, mostly without its suffix."""
    url: str = ""
    """Of a link."""
    pattern: str = ""
    """Glob of pages."""


def read_toc(data: Any) -> tuple[str, list[BookEntry]]:
    """The page at the root, and all entries in order, of a `_toc.yml` or of `project.toc`."""
    if isinstance(data, Mapping):
        return str(data.get("root") or ""), list(_below(data, 0))
    entries = list(_items(data, 0))
    if entries and entries[0].file:
        return entries[0].file, entries[1:]
    return "", entries


def _below(data: Mapping[str, Any], depth: int) -> Iterator[BookEntry]:
    for name in _CHILDREN:
        yield from _items(data.get(name), depth)


def _items(items: Any, depth: int) -> Iterator[BookEntry]:
    for item in items if isinstance(items, list) else ():
        if isinstance(item, str):
            yield BookEntry(depth, file=item)
            continue
        if not isinstance(item, Mapping) or item.get("hidden") is True:
            continue
        file, url, pattern = (str(item.get(name) or "") for name in ("file", "url", "glob"))
        pattern = pattern or str(item.get("pattern") or "")
        title = str(item.get("title") or item.get("caption") or item.get("part") or item.get("header") or "")
        if file or url or pattern or title:
            yield BookEntry(depth, title, file, url, pattern)
        yield from _below(item, depth + 1 if file or url or title else depth)
