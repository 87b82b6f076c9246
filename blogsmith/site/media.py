"""Which file a film or its captions mean, or what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import unquote

from msgspec.structs import replace

from ..model.documents import Asset, Document
from ..model.links import LinkTarget
from ..model.media import MediaFile
from .index import SiteIndex, find_file, resolve_link

MeasureMedia = Callable[[Path], MediaFile]
"""A file → what it tells of itself."""


def resolve_media(
    index: SiteIndex,
    written: str,
    document: Document,
    assets: Mapping[str, Asset],
    measure: MeasureMedia,
) -> MediaFile | LinkTarget:
    """The film `written` in `document`."""
    target = resolve_link(index, written, document)
    if target.problem:
        return target
    path = unquote(written.partition("#")[0].partition("?")[0])
    file = find_file(index, path, document)
    if not file:
        hint = "put it beside the post, or under static/"
        return LinkTarget("", f"{written} is no file of this site", hint)
    return replace(measure(assets[file].file), url=target.url)
