"""New paths for files whose paths a build rejects: pages of folders, and names that differ only in case.

`ode.md` beside the folder `ode/` becomes the page of the folder. Of two files whose names differ only in
case or Unicode form, the second gets another name, because many systems can store only one of them. Links
in pages are adapted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote, unquote

from ..api.importing import collapse_path, fold_name, lazy_pattern, page_folder
from .addresses import new_url
from .model import HasPath, ImportedPage, Notice, SiteImport, by_path
from .text.segments import CODE, PLAIN, rewrite

Moves = Mapping[PurePosixPath, PurePosixPath]
"""Old path in the new site → new path."""
_CONTENT = PurePosixPath("content")
_LISTS = frozenset(("index", "_index"))
_DESTINATION = lazy_pattern(
    r"(?P<head>\]\([ \t]*|^[ ]{0,3}\[[^\[\]\n]+\]:[ \t]*|\b(?:src|href|poster|srcset)[ \t]*=[ \t]*)"
    r"(?:<(?P<angle>[^<>\n]+)>|(?P<quote>[\"'])(?P<quoted>[^\"'<>\n]+)(?P=quote)|(?P<bare>[^\s\"'<>()]+))",
    re.MULTILINE,
)
_ADDRESS = lazy_pattern(r"(?![A-Za-z][A-Za-z0-9+.-]*:|//|#)([^?#]+)(.*)")


def place_site(site: SiteImport) -> SiteImport:
    """Move the pages and files of an import to paths that a build accepts."""
    return move_items(move_items(site, _section_moves(site)), _twin_moves(site))


def _section_moves(site: SiteImport) -> Moves:
    """Return the moves of pages that have the same URL as a folder: each becomes the page of the folder."""
    folders = {folder for page in site.pages for folder in page.path.parents}
    listed = {page.path.parent for page in site.pages if page.path.stem in _LISTS}
    found: dict[PurePosixPath, PurePosixPath] = {}
    for page in site.pages:
        folder = page.path.with_suffix("")
        url = str(page.front.get("permalink") or new_url(page, site.settings.get("permalinks", {})))
        listing = ImportedPage(folder / "_index.md", {}, "", "")
        if folder in folders - listed and page.path.stem not in _LISTS and url == new_url(listing, {}):
            found[page.path] = listing.path
    return found


def _twin_moves(site: SiteImport) -> Moves:
    """Return new names for files and folders whose names differ only in case or Unicode form from others."""
    every = sorted(site.paths)
    names: dict[tuple[PurePosixPath, str], str] = {}
    taken = {(folder.parent, fold_name(folder.name)) for path in every for folder in (path, *path.parents)}
    found: dict[PurePosixPath, PurePosixPath] = {}
    folders: dict[PurePosixPath, PurePosixPath] = {}
    for path in every:
        old = new = PurePosixPath()
        for part in path.parts:
            old, before = old / part, new
            if old not in folders:
                name, number = part, 2
                is_first = names.setdefault((before, fold_name(part)), part) == part
                while not is_first and (before, fold_name(name)) in taken:
                    name = f"{PurePosixPath(part).stem}-{number}{PurePosixPath(part).suffix}"
                    number += 1
                taken.add((before, fold_name(name)))
                folders[old] = before / name
            new = folders[old]
        if new != path:
            found[path] = new
    return found


def move_items(site: SiteImport, moves: Moves) -> SiteImport:
    """Move pages and files of an import to other paths, and adapt the links in its pages."""
    if not moves:
        return site
    records = {page_folder(old): page_folder(new) for old, new in moves.items() if old.suffix == ".md"}

    def target(item: HasPath) -> PurePosixPath:
        record = next((folder for folder in item.path.parents if folder in records), None)
        inner = records[record] / item.path.relative_to(record) if record else item.path
        return moves.get(item.path, inner)

    pages = by_path(_move_page(page, moves, site.paths) for page in site.pages)
    files = by_path(replace(file, path=target(file)) for file in site.files)
    made = by_path(replace(file, path=target(file)) for file in site.made)
    renamed = (path for path in moves if moves[path].stem not in _LISTS)
    hint = "use the new name in links from other sites"
    notices = (
        Notice("changed", f'duplicate file name: renamed to "{moves[path]}"', str(path), hint=hint)
        for path in renamed
    )
    return replace(site, pages=pages, files=files, made=made, notices=(*site.notices, *notices))


def _move_page(page: ImportedPage, moves: Moves, known: Iterable[PurePosixPath]) -> ImportedPage:
    path = moves.get(page.path, page.path)
    renamed: dict[str, Notice] = {}

    def resolve(address: str) -> str:
        found = _ADDRESS.fullmatch(address)
        if not found:
            return address
        written = unquote(found[1])
        relative = collapse_path(page.path.parent / written)
        roots = [_CONTENT, PurePosixPath("static")] if written.startswith("/") else []
        places = [root / written.lstrip("/") for root in roots] or [relative]
        old = next((place for place in places if place in known), None)
        if old is None or (old not in moves and (roots or path == page.path)):
            return address
        new = moves.get(old, old)
        if new.name != old.name and new.stem not in _LISTS:
            message = f'duplicate file name "{old.name}" in a link: renamed to "{new.name}"'
            removed = f"![]({quote(old.name)})"
            renamed.setdefault(message, Notice("changed", message, page.source, removed=removed))
        shown = f"/{'/'.join(new.parts[1:])}" if roots else os.path.relpath(new, path.parent)
        shown = shown.replace(os.sep, "/")
        return (quote(shown) if written != found[1] else shown) + found[2]

    def link(found: re.Match[str]) -> str:
        name = next(name for name in ("angle", "quoted", "bare") if found[name] is not None)
        new, old = resolve(found[name]), found[name]
        return found[0] if new == old else found["head"] + found[0][len(found["head"]) :].replace(old, new)

    text = rewrite(page.text, lambda text: _DESTINATION.sub(link, text), PLAIN, CODE | {"math"})
    front = _rewrite_values(page.front, resolve)
    return replace(page, path=path, front=front, text=text, notices=(*page.notices, *renamed.values()))


def _rewrite_values(data: Any, resolve: Any) -> Any:
    if isinstance(data, Mapping):
        return {key: _rewrite_values(value, resolve) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_rewrite_values(value, resolve) for value in data]
    return resolve(data) if isinstance(data, str) and "\n" not in data else data
