"""Files that are copied into the site as they are: which addresses change when they are saved."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from ...build.snapshot import SiteSnapshot
from .urls import address

_VERSION_DIGITS = 8
"""As in the addresses of a theme's files."""


def style_sheets(present: SiteSnapshot, paths: Iterable[str]) -> dict[str, str]:
    """Address of each style sheet among the saved files → its new version."""
    found = {}
    for path in paths:
        if path.endswith(".css"):
            file = present.context.root / path
            for url in _addresses(present, path, file):
                if version := _version(file):
                    found[url] = version
    return found


def changed_files(present: SiteSnapshot, paths: Iterable[str]) -> list[str]:
    """Addresses of saved files, style sheets apart."""
    urls = present.resolved.loaded.asset_urls
    base_path = present.config.base_path
    return [address(base_path + urls[path]) for path in paths if path in urls and not path.endswith(".css")]


def _addresses(present: SiteSnapshot, path: str, file: Path) -> Iterator[str]:
    context, urls = present.context, present.resolved.loaded.asset_urls
    base_path = context.config.base_path
    if path in urls:
        yield address(base_path + urls[path])
    for static in context.theme.files.static.values():
        if static.asset.file == file:
            yield address(f"{base_path}/{static.asset.path.as_posix()}")
    joined = [sheet for sheet in context.theme.sheets.values() if sheet.is_made_of(file)]
    for font in {view.math_font for view in present.views.values()} if joined else ():
        yield from (address(f"{base_path}/{sheet.path(font)}") for sheet in joined)


def _version(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()[:_VERSION_DIGITS]
    except OSError:
        return ""
