"""Colours of pictures as browsers show them: RGB, eight bits, with a profile only where it says something."""

from __future__ import annotations

import io
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

_LONGEST_PROFILE = 20_000
"""Bytes; what every copy may carry. Display P3 has 0.5 kB, a printer's has a megabyte."""


def in_web_colors(image: Image) -> Image:
    """A decoded picture in RGB, or RGBA where some of it is transparent; it keeps its orientation.

    A wide profile of RGB stays with it, so that no colour is lost; all others are turned into sRGB.
    """
    profile = image.info.get("icc_profile") or b""
    orientation = image.getexif() if "exif" in image.info else None
    has_alpha = image.has_transparency_data
    if image.mode.startswith(("I;16", "I", "F")):
        found = _eight_bits(image)
    elif image.mode == "P" or has_alpha:
        found = image.convert("RGBA" if has_alpha else "RGB")
    else:
        found = _converted(image, profile)
    keeps = image.mode in ("RGB", "RGBA", "P") and _says_something(profile)
    if found.mode == "RGBA" and found.getchannel("A").getextrema()[0] == 255:
        found = found.convert("RGB")
    found.info = {"icc_profile": profile} if keeps else {}
    if orientation is not None:
        found.info["exif"] = orientation.tobytes()
    return found


def _says_something(profile: bytes) -> bool:
    """Whether a profile is worth its bytes: sRGB is what browsers take anyway."""
    head = profile[:1024]
    is_rgb = profile[16:20] == b"RGB "
    is_srgb = b"sRGB" in head or b"s\0R\0G\0B" in head
    return is_rgb and not is_srgb and len(profile) <= _LONGEST_PROFILE


def _converted(image: Image, profile: bytes) -> Image:
    """In RGB: by its profile, if that is not one which the copy keeps."""
    if image.mode == "RGB" and (not profile or _says_something(profile) or b"sRGB" in profile[:1024]):
        return image
    from PIL import ImageCms

    if profile:
        # of damaged profiles, browsers take no notice either
        with suppress(Exception):
            own = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            made = ImageCms.profileToProfile(image, own, ImageCms.createProfile("sRGB"), outputMode="RGB")
            if made is not None:
                return made
    return image.convert("RGB")


def _eight_bits(image: Image) -> Image:
    """A picture of 16 bits of grey; Pillow would cut off what is above 255."""
    return image.convert("I").point(lambda value: value * (1 / 256)).convert("L").convert("RGB")
