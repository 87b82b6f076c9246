"""Listings of Quarto. They determine which sections of the new site show a list of pages, and its style."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from ..addresses import add_aliases
from ..model import ImportedPage
from ..text.data import as_list, one_line
from .source import QuartoDocument

_STYLES = {"grid": "cards", "table": "compact"}
_CONTENT = PurePosixPath("content")


def _listings(document: QuartoDocument) -> Iterator[Mapping[str, Any]]:
    written = document.front.get("listing")
    for each in as_list(written if isinstance(written, (list, Mapping)) else []):
        if isinstance(each, Mapping):
            yield each


def _folders(document: QuartoDocument, folders: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield each folder that a page lists, with the style of the list. folders: all folders with pages."""
    for each in _listings(document):
        for written in as_list(each.get("contents") or []):
            name = one_line(written).removesuffix("*.qmd").removesuffix("**/").removesuffix("**").strip("/")
            path = (document.path.parent / name.removeprefix("./")).as_posix()
            if path in folders:
                yield path, _STYLES.get(one_line(each.get("type")), "text")


def _page_folders(documents: Iterable[QuartoDocument]) -> frozenset[str]:
    return frozenset(str(folder) for each in documents for folder in each.path.parents if folder.name)


def list_settings(documents: Sequence[QuartoDocument]) -> dict[str, Any]:
    """Return the setting `lists` for listings that are grids or tables. Return an empty mapping if all are
    plain lists."""
    folders = _page_folders(documents)
    found = {path: style for each in documents for path, style in _folders(each, folders) if style != "text"}
    home = next((each for each in documents if each.path.as_posix() == "index.qmd"), None)
    styles = {style for _, style in _folders(home, folders)} if home else set()
    top = {"style": styles.pop()} if len(styles) == 1 and styles != {"text"} else {}
    sections = {"sections": dict(sorted(found.items()))} if found else {}
    return {**top, **sections}


def place_listings(
    pages: Iterable[ImportedPage], documents: Sequence[QuartoDocument]
) -> tuple[list[ImportedPage], dict[PurePosixPath, PurePosixPath]]:
    """Make each page that lists one folder, such as `blog.qmd` for `posts/`, the index page of that section.
    Return all pages, and old path → new path of those that have moved. If other pages have listings, a home
    page without one gets no list."""
    folders = _page_folders(documents)
    by_source = {each.path.as_posix(): each for each in documents}
    lists_any = any(True for each in documents for _ in _listings(each))
    every = list(pages)
    taken = {page.path for page in every}
    moves: dict[PurePosixPath, PurePosixPath] = {}
    made = []
    for page in every:
        document = by_source.get(page.source)
        listed = [path for path, _ in _folders(document, folders)] if document else []
        target = _CONTENT / listed[0] / "_index.md" if len(listed) == 1 else page.path
        if page.path.stem != "_index" and target not in taken | {*moves.values()}:
            moves[page.path] = target
            front = {key: value for key, value in page.front.items() if key not in ("permalink", "slug")}
            page = add_aliases(replace(page, front=front, address=""), [page.address])
        elif page.path == _CONTENT / "_index.md" and lists_any and document and not any(_listings(document)):
            page = replace(page, front={**page.front, "listing": False})
        made.append(page)
    return made, moves
