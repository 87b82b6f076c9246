"""Encoding of smaller copies of an image, in WebP, AVIF or JPEG.

Drawings and screenshots (lossless files with few colours) stay sharp: their copies are lossless if that is
not much larger, otherwise of higher quality. A copy contains pixels and, where needed, a colour profile, but
no other metadata. The same file and libraries give the same bytes.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO

from ...model.pictures import ImageVariant

if TYPE_CHECKING:
    from PIL.Image import Image

RECIPE = 3
"""Version of the encoding. Increase it when the same image gives different copies."""
MOST_PIXELS = 64_000_000
"""Maximum number of pixels of an image to decode. This many need 256 MB of memory."""

_FORMATS = ("PNG", "JPEG", "WEBP", "AVIF")
_PHOTO, _DRAWING = 80, 90
"""WebP quality of photos and of drawings. On 156 images of real blogs the PSNR is at least 36 dB, with a
median of 45."""
_AVIF_PHOTO, _AVIF_DRAWING = 60, 75
_JPEG = 82
_FEW_COLORS = 1 << 12
"""Maximum number of colours of a drawing; with more, an image is a photo. Drawings with smoothed edges have a
few hundred."""
_FEW_BITS = 3
"""Maximum size of the file of a drawing, in bits per pixel."""
_MIN_RATIO = 1.5
"""Minimum ratio of the width of a copy to the width of a smaller copy made from it."""
_MAX_LOSSLESS_RATIO = 1.2
"""A lossless copy is used if it is at most this many times as large as a lossy one."""


class ImageEncodingError(Exception):
    """No copy of an image can be made. The message is the reason."""


def encoder_version() -> str:
    """Return the versions of the libraries that encode images, because other versions may give other
    bytes."""
    import PIL
    from PIL import features

    names = ("webp", "avif", "libjpeg_turbo", "littlecms2")
    return " ".join((PIL.__version__, *(str(features.version(name)) for name in names), f"{RECIPE}"))


def encode_variants(stream: BinaryIO, wanted: Sequence[ImageVariant]) -> list[bytes]:
    """Return the requested copies of an image, in this order. ImageEncodingError on failure. The image is
    decoded once, and each copy is made from the smallest copy so far that is sufficiently wide."""
    try:
        with warnings.catch_warnings(action="ignore"):
            picture, is_drawing = _open(stream, max(one.width_px * one.height_px for one in wanted))
            made: dict[int, Image] = {}
            for one in sorted(wanted, key=lambda one: -one.width_px):
                if one.width_px not in made:
                    larger = [width for width in made if width >= _MIN_RATIO * one.width_px]
                    made[one.width_px] = _resize(made[min(larger)] if larger else picture, one)
            profile = picture.info.get("icc_profile", b"")
            is_lossless = is_drawing and _is_lossless_smaller(made[min(made)], profile)
            return [
                _encode(made[one.width_px], one, profile, is_drawing=is_drawing, is_lossless=is_lossless)
                for one in wanted
            ]
    except ImageEncodingError:
        raise
    except Exception as error:  # with damaged files, decoders raise nearly any error
        raise ImageEncodingError(f"it cannot be decoded: {error}") from error


def _open(stream: BinaryIO, pixels: int) -> tuple[Image, bool]:
    """Return the upright image in RGB or RGBA, and whether it is a drawing. pixels: number of pixels of the
    largest copy."""
    from PIL import Image, ImageOps

    with Image.open(stream, formats=_FORMATS) as image:
        is_lossless = image.format == "PNG"
        if image.format == "JPEG":
            # libjpeg reduces the image while it decodes, in a fraction of time and memory
            scale = 1.5 * math.sqrt(pixels / (image.width * image.height))
            image.draft(None, (math.ceil(image.width * scale), math.ceil(image.height * scale)))
        if image.width * image.height > MOST_PIXELS:
            raise ImageEncodingError(f"it has more than {MOST_PIXELS // 1_000_000} million pixels")
        image.load()
        picture = in_web_colors(image)
        ImageOps.exif_transpose(picture, in_place=True)
        # grey photos have few colours too, but no areas of one colour
        is_plain = stream.seek(0, io.SEEK_END) * 8 < _FEW_BITS * picture.width * picture.height
        is_drawing = is_lossless and is_plain and picture.getcolors(_FEW_COLORS) is not None
        return picture, is_drawing


def _resize(image: Image, one: ImageVariant) -> Image:
    from PIL.Image import Resampling

    size = (one.width_px, one.height_px)
    return image if image.size == size else image.resize(size, Resampling.LANCZOS, reducing_gap=3.0)


def _is_lossless_smaller(smallest: Image, profile: bytes) -> bool:
    """Return whether to make the copies of a drawing lossless. The smallest copy decides for all, because
    encoding each one twice would nearly double the time of a first build."""
    lossy, lossless = (len(_save_drawing(smallest, profile, is_lossless=each)) for each in (False, True))
    return lossless <= _MAX_LOSSLESS_RATIO * lossy


def _save_drawing(image: Image, profile: bytes, *, is_lossless: bool) -> bytes:
    if is_lossless:
        return _save(image, "WEBP", profile, lossless=True, quality=25, method=1, exact=False)
    return _save(image, "WEBP", profile, quality=_DRAWING, method=2, use_sharp_yuv=True)


def _encode(image: Image, one: ImageVariant, profile: bytes, *, is_drawing: bool, is_lossless: bool) -> bytes:
    if one.format == "jpeg":
        return _save(_on_white(image), "JPEG", profile, quality=_JPEG, optimize=True, progressive=True)
    if one.format == "avif":
        quality = _AVIF_DRAWING if is_drawing else _AVIF_PHOTO
        sampling = "4:4:4" if is_drawing else "4:2:0"
        return _save(image, "AVIF", profile, quality=quality, subsampling=sampling, speed=6, max_threads=1)
    if not is_drawing:
        return _save(image, "WEBP", profile, quality=_PHOTO, method=2)
    return _save_drawing(image, profile, is_lossless=is_lossless)


def _on_white(image: Image) -> Image:
    """Return the image as it looks on a white page."""
    from PIL import Image as pil

    if image.mode == "RGB":
        return image
    ground = pil.new("RGB", image.size, "white")
    ground.paste(image, mask=image.getchannel("A"))
    return ground


def _save(image: Image, kind: str, profile: bytes, **options: Any) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind, icc_profile=profile or None, exif=b"", xmp=b"", **options)
    return stream.getvalue()


# Colours as browsers show them: RGB with eight bits, and a profile only where it has an effect.


_LONGEST_PROFILE = 20_000
"""Maximum size in bytes of a colour profile that is kept in copies. Display P3 has 0.5 kB, a printer profile
a megabyte."""


def in_web_colors(image: Image) -> Image:
    """Convert a decoded image to RGB, or to RGBA if it has transparency. Its orientation stays the same. An
    RGB profile with a wide gamut is kept, so that no colour is lost. Images with other profiles are converted
    to sRGB."""
    profile = image.info.get("icc_profile") or b""
    orientation = image.getexif() if "exif" in image.info else None
    has_alpha = image.has_transparency_data
    if image.mode.startswith(("I;16", "I", "F")):
        found = _eight_bits(image)
    elif image.mode == "P" or has_alpha:
        found = image.convert("RGBA" if has_alpha else "RGB")
    else:
        found = _convert_to_rgb(image, profile)
    keeps = image.mode in ("RGB", "RGBA", "P") and _is_useful_profile(profile)
    if found.mode == "RGBA" and found.getchannel("A").getextrema()[0] == 255:
        found = found.convert("RGB")
    found.info = {"icc_profile": profile} if keeps else {}
    if orientation is not None:
        found.info["exif"] = orientation.tobytes()
    return found


def _is_useful_profile(profile: bytes) -> bool:
    """Return whether copies must keep a profile. They need not keep sRGB, which browsers assume by
    default."""
    head = profile[:1024]
    is_rgb = profile[16:20] == b"RGB "
    is_srgb = b"sRGB" in head or b"s\0R\0G\0B" in head
    return is_rgb and not is_srgb and len(profile) <= _LONGEST_PROFILE


def _convert_to_rgb(image: Image, profile: bytes) -> Image:
    """Return the image in RGB. If copies will not keep its profile, convert the colours."""
    if image.mode == "RGB" and (not profile or _is_useful_profile(profile) or b"sRGB" in profile[:1024]):
        return image
    from PIL import ImageCms

    if profile:
        # browsers ignore damaged profiles too
        with suppress(Exception):
            own = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            made = ImageCms.profileToProfile(image, own, ImageCms.createProfile("sRGB"), outputMode="RGB")
            if made is not None:
                return made
    return image.convert("RGB")


def _eight_bits(image: Image) -> Image:
    """Convert a 16-bit grey image to 8 bits. Pillow would clip all values above 255 instead."""
    return image.convert("I").point(lambda value: value * (1 / 256)).convert("L").convert("RGB")
