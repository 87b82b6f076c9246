"""Copies of images in the folder of a site, and their record: what is to be downloaded, and how it is kept.

A copy lies under `static/remote/<host>/`, so it is published as any picture, without what cameras write.
Its name tells the address: the last part of its path, and the beginning of the SHA-256 of the whole.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Literal
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from ...base.storage.folder import open_folder
from ...model.remote_images import COPIES, FETCH_COMMAND, RECORD, ImageCopy
from ...model.remote_record import format_record
from ...model.slugs import slugify
from ..download import Downloaded, DownloadRefused
from .pictures import PictureRefused, picture_suffix
from .posters import download_poster

State = Literal["new", "missing", "changed", "there"]
_STEM = 60
"""Characters of a file's name that are taken from its address."""


class CopyRefused(Exception):
    """Why there is no copy of an image, in the author's words."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class Fetched(Struct, frozen=True):
    """A copy that was made."""

    copy: ImageCopy
    size: int
    """Bytes."""


def copy_state(root: Path, copy: ImageCopy | None) -> State:
    """How a recorded copy stands: never made, its file gone, another file in its place, or as it was made."""
    if copy is None:
        return "new"
    try:
        data = _read(root, copy.path)
    except OSError:
        return "missing"
    return "there" if hashlib.sha256(data).hexdigest() == copy.sha256 else "changed"


def fetch_copy(
    root: Path,
    address: str,
    known: ImageCopy | None,
    get: Callable[[str], Downloaded],
    *,
    renew: bool = False,
) -> Fetched:
    """Download the image at an address, of a video its poster, and write it below the folder for copies.

    known: what the record says of it; other bytes are refused, unless `renew`. get: what downloads.
    CopyRefused for what is no picture, or is not to be had; OSError if it cannot be written.
    """
    try:
        found = download_poster(address, get) or get(address)
        suffix = picture_suffix(found)
    except DownloadRefused as refused:
        raise CopyRefused(str(refused), refused.hint) from refused
    except PictureRefused as refused:
        raise CopyRefused(str(refused)) from refused
    digest = hashlib.sha256(found.data).hexdigest()
    if known and known.sha256 != digest and not renew:
        hint = f"look at it, then take it with {FETCH_COMMAND} --renew"
        raise CopyRefused(f"it is another picture now than {RECORD} says", hint)
    is_same = known is not None and known.sha256 == digest and known.path.endswith(suffix)
    path = known.path if known and is_same else copy_path(address, suffix)
    _write(root, PurePosixPath(path), found.data)
    return Fetched(ImageCopy(path, digest), len(found.data))


def copy_path(address: str, suffix: str) -> str:
    """Where the copy of an address lies, relative to the root of the site."""
    parts = urlsplit(address)
    stem = slugify(PurePosixPath(unquote(parts.path)).stem)[:_STEM].strip("-") or "image"
    host = "".join(sign if sign.isalnum() or sign in ".-" else "-" for sign in parts.netloc)
    digest = hashlib.sha256(address.encode()).hexdigest()
    return f"{COPIES}/{host}/{stem}-{digest[:8]}{suffix}"


def write_record(root: Path, copies: Mapping[str, ImageCopy]) -> None:
    """Record which copy is of which address; OSError if that cannot be written."""
    data = format_record(copies)
    with open_folder(root) as site:
        if site.status(RECORD) is None or site.read(RECORD) != data:
            site.replace(RECORD, data)


def _read(root: Path, path: str) -> bytes:
    place = PurePosixPath(path)
    with open_folder(root) as site, site.enter(place.parent) as folder:
        return folder.read(place.name)


def _write(root: Path, path: PurePosixPath, data: bytes) -> None:
    with open_folder(root) as site, site.enter(path.parent, make=True) as folder:
        folder.replace(path.name, data)
