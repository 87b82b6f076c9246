"""Copies of images in other sizes and formats, and facts about video and audio files."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
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


# Films and their captions, as pages may use them.


FILM_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "mp4": "video/mp4",
        "m4v": "video/mp4",
        "webm": "video/webm",
        "ogv": "video/ogg",
        "mov": "video/quicktime",
    }
)
"""Ending of a film's file → its type."""


class MediaFile(Struct, frozen=True):
    """A film of the site, or a file with captions."""

    url: str = ""
    """Absolute path with the base path applied."""
    width_px: int | None = None
    """None where the file does not tell."""
    height_px: int | None = None
    is_captions: bool = False
    """It begins as WebVTT does."""


def is_film(path: str) -> bool:
    """Whether a path means a film of the site."""
    address = path.partition("#")[0].partition("?")[0]
    return film_type(address) != "" and "://" not in path and not path.startswith("//")


def film_type(path: str) -> str:
    """The type of a film by its name; empty if that does not tell."""
    return FILM_TYPES.get(path.rpartition(".")[2].lower(), "")
