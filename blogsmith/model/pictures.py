"""Copies of images in other sizes and formats, and metadata of video and audio files."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

ImageFormat = Literal["webp", "avif", "jpeg"]

IMAGE_COPIES_FOLDER = "assets/pictures"
"""Folder for the copies in the output."""


class ImageVariant(Struct, frozen=True, order=True):
    """One copy of an image."""

    path: str
    """Path relative to the output folder. Its name contains a digest of the image's bytes, the size and the
    conversion."""
    source: str
    """URL of the original in this site, base path included."""
    width_px: int
    height_px: int
    format: ImageFormat


class ImageInfo(Struct, frozen=True):
    """An image of the site, with the data that pages need to show it."""

    url: str
    """URL of the image: its path with the base path, or the whole URL of a remote image."""
    width_px: int | None
    """Width in pixels; None for a vector image that states no size."""
    height_px: int | None
    has_location: bool = False
    """Whether the file records where the photo was taken."""
    is_remote: bool = False
    """Whether browsers load it from another host."""
    remote_url: str = ""
    """URL of an image at another host that the settings forbid to show; `url` is then empty."""
    bytes: int = 0
    """Size of the file in bytes."""
    is_animated: bool = False
    digest: str = ""
    """SHA-256 of the file in hex, if smaller copies of it are useful to readers; otherwise empty."""


# Videos and their captions, as pages use them.


VIDEO_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "mp4": "video/mp4",
        "m4v": "video/mp4",
        "webm": "video/webm",
        "ogv": "video/ogg",
        "mov": "video/quicktime",
    }
)
"""Extension of a video file → its media type."""


class MediaFile(Struct, frozen=True):
    """A video of the site, or a file with captions."""

    url: str = ""
    """Absolute path with the base path."""
    width_px: int | None = None
    """Width in pixels; None if the file does not contain it."""
    height_px: int | None = None
    is_captions: bool = False
    """Whether the content begins as a WebVTT file of captions."""


def is_video(path: str) -> bool:
    """Return whether a path refers to a video of the site."""
    address = path.partition("#")[0].partition("?")[0]
    return video_type(address) != "" and "://" not in path and not path.startswith("//")


def video_type(path: str) -> str:
    """Return the media type of a video by its file name; empty if it is not known."""
    return VIDEO_TYPES.get(path.rpartition(".")[2].lower(), "")
