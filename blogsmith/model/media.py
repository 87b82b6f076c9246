"""Films and their captions, as pages may use them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

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
