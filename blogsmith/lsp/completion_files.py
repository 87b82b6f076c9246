"""Completion of paths to pages and files."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol.types import CompletionItem, CompletionItemKind

from ..api.editing import Asset, SiteSnapshot
from .cursor import Cursor
from .lookups import page_labels, page_slug, relative_path
from .site_session import SiteSession

_IMAGE_SUFFIXES = (".avif", ".gif", ".jpeg", ".jpg", ".png", ".svg", ".webp")
_VIDEO_SUFFIXES = (".mp4", ".webm", ".mov", ".vtt")
_TEXT_SUFFIXES = (
    ".py",
    ".ipynb",
    ".js",
    ".ts",
    ".c",
    ".cpp",
    ".rs",
    ".jl",
    ".r",
    ".sh",
    ".toml",
    ".yaml",
    ".json",
    ".txt",
)


def complete_files(session: SiteSession, path: str, cursor: Cursor) -> Iterator[CompletionItem]:
    """Yield images and videos. After `file=` or in an argument, yield other files too."""
    present = session.snapshot
    if present is None:
        return
    wanted: tuple[str, ...] = (
        (*_IMAGE_SUFFIXES, *_VIDEO_SUFFIXES) if cursor.kind == "image" or cursor.name else _TEXT_SUFFIXES
    )
    wanted = () if cursor.name == "href" else wanted
    for written, asset in list_assets(present, path):
        if not wanted or asset.path.suffix.lower() in wanted:
            yield CompletionItem(written, kind=CompletionItemKind.File)


def list_assets(present: SiteSnapshot, path: str) -> Iterator[tuple[str, Asset]]:
    """Yield files of the site with their path as written in a page. Files in the page's folder come first."""
    files = present.resolved.files
    own = str(path).rpartition("/")[0]
    content = sorted(files.assets, key=lambda one: not str(one.path).startswith(f"{own}/"))
    for asset in content:
        yield relative_path(str(asset.path), path), asset
    for asset in files.static:
        yield str(asset.path).removeprefix("static"), asset


def complete_link(session: SiteSession, path: str, cursor: Cursor) -> Iterator[CompletionItem]:
    """Yield pages by file or slug, then files. After `#`, yield the anchors of the page."""
    present = session.snapshot
    if present is None:
        return
    address, sign, _ = cursor.word.partition("#")
    if sign:
        yield from _anchors(session, present, path, address)
        return
    titles = {source: item.document.front.title for source, item in present.rendered.items()}
    for source, title in titles.items():
        written = page_slug(present, source) if cursor.kind == "wiki-link" else relative_path(source, path)
        if written and source != path:
            yield CompletionItem(written, kind=CompletionItemKind.File, detail=title or None)
    if cursor.kind == "link":
        for written, _asset in list_assets(present, path):
            yield CompletionItem(written, kind=CompletionItemKind.File)


def _anchors(
    session: SiteSession, present: SiteSnapshot, path: str, address: str
) -> Iterator[CompletionItem]:
    document = present.resolved.documents.get(path)
    if document is None:
        return
    source = present.resolved.index.find_linked(address, document)[0] if address else path
    if source not in present.resolved.documents:
        return
    names = {known.label.id: known.name for known in page_labels(session, source)}
    for anchor in sorted(present.resolved.index.entries[source].ids):
        yield CompletionItem(
            f"{address}#{anchor}", kind=CompletionItemKind.Reference, detail=names.get(anchor)
        )
