"""Copies of pictures in other sizes and formats: which there are, and where they lie in the finished site."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

PictureFormat = Literal["webp", "avif", "jpeg"]

FOLDER = "assets/pictures"
"""Of the finished site."""


class PictureVariant(Struct, frozen=True, order=True):
    """One copy of a picture."""

    path: str
    """Relative to the output folder; names the picture's bytes, the size and how copies are made."""
    source: str
    """Address of the original in this site, base path included."""
    width_px: int
    height_px: int
    format: PictureFormat


class ImageInfo(Struct, frozen=True):
    """An image of the site as a page may use it."""

    url: str
    """Absolute path with the base path applied; the address of a remote one."""
    width_px: int | None
    """None for a vector image without a size of its own."""
    height_px: int | None
    located: bool = False
    """The file tells where the picture was taken."""
    is_remote: bool = False
    """Readers' browsers load it from another host."""
    address: str = ""
    """Of one at another host that the site does not show; then `url` is empty."""
    bytes: int = 0
    """How long its file is."""
    is_animated: bool = False
    digest: str = ""
    """SHA-256 of its file, if readers are better served with smaller copies; else empty."""
