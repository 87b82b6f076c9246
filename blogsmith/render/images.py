"""Images: their displayed size, and the `<img>` tag.

Only file headers are read, so a photo costs about a millisecond. JPEG and PNG files are also searched for
their end marker, the one cheap indication of an incomplete download. Damage inside the image data is not
detected.
"""

from __future__ import annotations

import mmap
import re
import stat
import warnings
from collections.abc import Mapping, Sequence
from html import escape
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO

from msgspec import Struct

from ..base.patterns import lazy_pattern
from ..base.storage.folder import open_real_file
from ..model.pictures import ImageInfo
from .svg.metadata import svg_size
from .svg.use_budget import MAX_ELEMENTS, draws_too_much

if TYPE_CHECKING:
    from PIL.Image import Image

_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "AVIF")
# the decoders of some formats read the whole file to find the size
_MAX_BYTES = 200_000_000

_END_MARKS: Mapping[str, bytes] = MappingProxyType({"JPEG": b"\xff\xd9", "PNG": b"IEND"})

_ORIENTATION = 0x0112
_GPS = 0x8825
_ROTATED_ORIENTATIONS = (5, 6, 7, 8)
"""Values of the EXIF tag for orientation that swap width and height."""

_PRINTED_ATTRIBUTE = lazy_pattern(r"(?!on|src$|alt$|width$|height$)[a-z_][a-z0-9_.:-]*", re.IGNORECASE)


class ImageSize(Struct, frozen=True):
    """Size of an image without scaling."""

    width_px: int | None
    """Width in pixels; None for a vector image without a size."""
    height_px: int | None
    has_location: bool = False
    """Whether the EXIF data contain the location where the image was taken."""
    is_animated: bool = False
    kind: str = ""
    """`PNG`, `JPEG`, `GIF`, `WEBP` or `AVIF`; empty for a vector image."""


class ImageError(Exception):
    """A file cannot be shown as an image. The message is the file and the reason."""


def image_size(file: Path) -> ImageSize:
    """Return the size of a PNG, JPEG, GIF, WebP, AVIF or SVG file, rotated according to its EXIF data.

    Raise ImageError for anything else: no file, a folder, a pipe, an empty, incomplete or too large file.
    """
    _check_is_file(file)
    if file.suffix.lower() == ".svg":
        return _vector_size(file)
    try:
        with open_real_file(file) as stream:
            return open_image_size(stream, f'"{file.name}"')
    except OSError as error:
        raise ImageError(f'"{file.name}" cannot be read: {error.strerror or error}') from error


def img_tag(
    info: ImageInfo,
    alt: str,
    *,
    classes: Sequence[str] = (),
    attrs: Mapping[str, str] | None = None,
) -> str:
    """Return the `<img>` of an image, with every value escaped.

    attrs: further attributes, printed in alphabetical order; they may replace `loading` and `decoding`, but
    event handlers (`on…`), `src`, `alt`, `width` and `height` are left out. If the image is not shown, the
    result is a link to it, or its alternative text if it has no URL.
    """
    if not info.url:
        text = escape(alt or info.remote_url, quote=False)
        return f'<a href="{escape(info.remote_url)}">{text}</a>' if info.remote_url else text
    extra = {name.lower(): value for name, value in sorted((attrs or {}).items()) if _is_printed(name)}
    attributes = {
        "src": info.url,
        "width": info.width_px,
        "height": info.height_px,
        "loading": "lazy",
        "decoding": "async",
        "alt": alt,
        # the other host need not know which page is read
        "referrerpolicy": "no-referrer" if info.is_remote else None,
        "class": " ".join([*classes, *extra.pop("class", "").split()]) or None,
        "style": extra.pop("style", "") or None,
        **extra,
    }
    shown = [f' {name}="{escape(str(value))}"' for name, value in attributes.items() if value is not None]
    return f"<img{''.join(shown)}>"


def _is_printed(name: str) -> bool:
    return _PRINTED_ATTRIBUTE.fullmatch(name) is not None


def _check_is_file(file: Path) -> None:
    try:
        status = file.stat()
    except (OSError, ValueError) as error:
        raise ImageError(f'"{file.name}" cannot be read') from error
    if not stat.S_ISREG(status.st_mode):
        raise ImageError(f'"{file.name}" is not a file')
    if not status.st_size:
        raise ImageError(f'"{file.name}" is empty')
    if status.st_size > _MAX_BYTES:
        raise ImageError(f'"{file.name}" is larger than {_MAX_BYTES // 1_000_000} MB')


def _vector_size(file: Path) -> ImageSize:
    try:
        with open_real_file(file) as stream:
            return _open_vector_size(stream, file.name)
    except OSError as error:
        raise ImageError(f'"{file.name}" is not a readable SVG image: {error}') from error


def _open_vector_size(stream: BinaryIO, name: str) -> ImageSize:
    try:
        size = ImageSize(*svg_size(stream))
        stream.seek(0)
        is_bomb = draws_too_much(stream.read())
    except ValueError as error:
        raise ImageError(f'"{name}" is not a readable SVG image: {error}') from error
    if is_bomb:
        raise ImageError(f'too many elements in "{name}": more than {MAX_ELEMENTS:,} with "<use>"')
    return size


def data_size(data: bytes, name: str) -> ImageSize:
    """Return the size of an image that is not a file. Raise ImageError as `image_size` does. name: its file
    name on the page."""
    if len(data) > _MAX_BYTES:
        raise ImageError(f'"{name}" is larger than {_MAX_BYTES // 1_000_000} MB')
    with BytesIO(data) as stream:
        is_svg = name.endswith(".svg")
        return _open_vector_size(stream, name) if is_svg else open_image_size(stream, f'"{name}"')


def open_image_size(stream: BinaryIO, name: str) -> ImageSize:
    """Return the size of an open image file other than SVG. name: name of the file, for messages."""
    from PIL import Image

    try:
        with warnings.catch_warnings(action="ignore"):  # of large images and of damaged metadata
            image = Image.open(stream, formats=_FORMATS)
    except Image.DecompressionBombError as error:
        raise ImageError(f"{name} has more than 178 million pixels") from error
    except Exception as error:  # damaged files make the parsers raise nearly any error
        raise ImageError(f"{name} is not a PNG, JPEG, GIF, WebP, AVIF or SVG image, or is damaged") from error
    _check_end(stream, name, image.format or "")
    width, height = image.size
    orientation, located = _exif(image)
    if orientation in _ROTATED_ORIENTATIONS:
        width, height = height, width
    # Pillow has the attribute only for formats that may contain several frames
    is_animated = bool(getattr(image, "is_animated", False))
    return ImageSize(width, height, located, is_animated, image.format or "")


def _check_end(stream: BinaryIO, name: str, kind: str) -> None:
    """Raise ImageError for a file without end marker. The search starts after the header, because thumbnails
    in it have a marker too."""
    mark = _END_MARKS.get(kind)
    if mark is None:
        return
    if isinstance(stream, BytesIO):
        is_found = stream.getvalue().find(mark, stream.tell()) >= 0
    else:
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            is_found = data.find(mark, stream.tell()) >= 0
    if not is_found:
        raise ImageError(f"{name} is truncated: its end is missing")


def _exif(image: Image) -> tuple[int, bool]:
    """Return the orientation (0 if there is none), and whether the image contains a location."""
    # without EXIF data in the header, `getexif` would decode a PNG to search for data after the image
    if "exif" not in image.info:
        return 0, False
    try:
        with warnings.catch_warnings(action="ignore"):
            exif = image.getexif()
            return exif.get(_ORIENTATION) or 0, bool(exif.get_ifd(_GPS))
    except Exception:  # browsers ignore damaged EXIF data too
        return 0, False
