"""Resolution of images in posts to files, and errors about them.

Handles files of the site, images on other hosts, and images written into the document (`data:`, RFC 2397), as
editors paste them.
"""

from __future__ import annotations

import binascii
import posixpath
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import quote, unquote

from msgspec.structs import replace

from ..base.diagnostics.model import confirm_typo, format_suggestion, nearest
from ..base.patterns import lazy_pattern
from ..model.documents import Asset, Document
from ..model.links import LinkTarget
from ..model.pictures import ImageInfo
from ..model.remote_images import (
    FETCH_COMMAND,
    RECORD,
    REMOTE_HINT,
    ImageCopy,
    format_remote_message,
    is_remote,
    normalize_remote_url,
)
from .index import SiteIndex, find_file, find_moved, missing_path_hint

Measure = Callable[[Path], ImageInfo | str]
"""Function that returns the data of an image file, or an error message."""
_DATA = lazy_pattern(
    r"data:image/(?:png|jpe?g|gif|webp|avif);base64,([A-Za-z0-9+/\s]+={0,2}\s*)", re.IGNORECASE
)
_SIGNATURE = lazy_pattern(rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|GIF8[79]a|RIFF[\s\S]{4}WEBP|[\s\S]{4}ftypavi[fs]")
"""Regular expression of the first bytes of PNG, JPEG, GIF, WebP and AVIF files."""
_HEAD_BYTES = 16
_OWN_DISK = lazy_pattern(r"file:|[A-Za-z]:[\\/]", re.IGNORECASE)
_SHOWN = 40
"""Number of characters of a `data:` URL that a message shows."""
Digest = Callable[[Path], str]
"""Function from a file to its SHA-256 in hex; empty if the file cannot be read."""


def resolve_image(
    index: SiteIndex,
    written: str,
    document: Document,
    assets: Mapping[str, Asset],
    measure: Measure,
    digest: Digest | None = None,
) -> ImageInfo | LinkTarget:
    """Resolve the image `written` in `document`. A `LinkTarget` as result contains the problem. digest:
    function that computes the digest of a copy of a remote image, for comparison with the recorded digest. If
    None, the caller compares them."""
    # the Markdown parser encodes a backslash as %5C
    if _OWN_DISK.match(unquote(written)):
        hint = "put a copy next to the post, and write its file name"
        return LinkTarget("", f'image "{unquote(written)}" is a path on your own disk', hint, "image-missing")
    if written[:5].casefold() == "data:":
        return _data_url_image(written)
    if is_remote(written):
        return _remote_image(index, written, assets, measure, digest)
    path = unquote(written.partition("?")[0].partition("#")[0])
    file = find_file(index, path, document)
    if not file:
        return _missing_image(index, path, written, document)
    return _image(index, file, assets, measure)


def resolve_poster(
    index: SiteIndex, url: str, assets: Mapping[str, Asset], measure: Measure, digest: Digest
) -> ImageInfo | LinkTarget | None:
    """Return the local copy of the poster image of the video at `url`. Return None if there is no copy, or if
    the site's settings do not use copies."""
    if index.remote.rule != "fetch" or normalize_remote_url(url) not in index.remote.copies:
        return None
    return _remote_image(index, url, assets, measure, digest)


def _data_url_image(written: str) -> ImageInfo | LinkTarget:
    """Resolve an image whose bytes are in a `data:` URL."""
    hint = "save the image as a file next to the post, and write its name"
    start = f"{written[:_SHOWN]}…" if len(written) > _SHOWN else written
    found = _DATA.fullmatch(written)
    if found is None:
        message = f'invalid image "{start}": expected PNG, JPEG, GIF, WebP or AVIF in base64'
        return LinkTarget("", message, hint, "image-missing")
    data = "".join(found[1].split())
    try:
        head = binascii.a2b_base64(data, strict_mode=True)[:_HEAD_BYTES]
    except binascii.Error:
        return LinkTarget("", f'image "{start}" is damaged: invalid base64', hint, "image-unreadable")
    if not _SIGNATURE.match(head):
        return LinkTarget("", f'image "{start}" is damaged, or not an image', hint, "image-unreadable")
    return ImageInfo(written[: found.start(1)].lower() + data, None, None)


_IMAGE_SUFFIXES = (".avif", ".gif", ".heic", ".jpeg", ".jpg", ".png", ".svg", ".webp")


_SAVE_HINT = "save it again with an image editor, or use another image"


def _image(
    index: SiteIndex, file: str, assets: Mapping[str, Asset], measure: Measure
) -> ImageInfo | LinkTarget:
    url = index.with_base(quote(index.files[file]))
    found = measure(assets[file].file)
    if isinstance(found, str):
        return LinkTarget(url, found, _SAVE_HINT, "image-unreadable")
    return replace(found, url=url)


def _remote_image(
    index: SiteIndex, written: str, assets: Mapping[str, Asset], measure: Measure, digest: Digest | None
) -> ImageInfo | LinkTarget:
    address, rule = normalize_remote_url(written), index.remote.rule
    if not address or rule == "error":
        message = format_remote_message(written)
        hint = "put a copy next to the post" if message.startswith("video") else REMOTE_HINT
        return LinkTarget(written, message, hint, "image-remote")
    if rule != "fetch":
        return ImageInfo(address, None, None, is_remote=True)
    copy = index.remote.copies.get(address)
    problem = _copy_problem(index, copy, assets)
    if copy is None or problem:
        return LinkTarget(
            written, f'missing copy of image "{written}"{problem}', f"run `{FETCH_COMMAND}`", "image-fetch"
        )
    if digest and digest(assets[copy.path].file) != copy.sha256:
        message = f'copy of image "{written}" differs from {RECORD}: "{copy.path}" was changed'
        hint = f"put an image of your own next to the post, or run `{FETCH_COMMAND} --renew`"
        return LinkTarget(written, message, hint, "image-fetch")
    return _image(index, copy.path, assets, measure)


def _copy_problem(index: SiteIndex, copy: ImageCopy | None, assets: Mapping[str, Asset]) -> str:
    """Return why the copy cannot be shown, or an empty string if it can be shown."""
    if copy is None:
        return ": not downloaded"
    is_there = copy.path in index.files and copy.path in assets
    return "" if is_there else f': file not found: "{copy.path}"'


def _missing_image(index: SiteIndex, path: str, written: str, document: Document) -> LinkTarget:
    folder = str(document.path.parent)
    choices = (
        [*index.files.values()]
        if path.startswith("/")
        else [posixpath.relpath(p, folder) for p in index.files]
    )
    near = nearest(path, sorted(choices)) or find_moved(path, choices)
    hint = format_suggestion(near) or missing_path_hint(path, document)
    if path.startswith("attachment:"):
        hint = "insert the image again in this cell of the notebook, which has no attachment of this name"
    name = confirm_typo(path, near) or ""
    meant = quote(name) if name.lower().endswith(_IMAGE_SUFFIXES) else ""
    message = f'image not found: "{path or written}"'
    return LinkTarget(written, message, hint, "image-missing", written=written, correction=meant)
