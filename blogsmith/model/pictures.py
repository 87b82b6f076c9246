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
