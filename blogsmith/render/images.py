"""Images: their size as a browser will show them, and the `<img>` tag.

Only heads of files are read, so a photo costs about a millisecond. JPEG and PNG are also searched
for their end mark, the one cheap sign of a broken download; damage inside the picture is not seen.
"""

from __future__ import annotations

import mmap
import re
import stat
import warnings
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO

from msgspec import Struct

from ..base.patterns import lazy_pattern
from ..model.pictures import ImageInfo
from .svg.metadata import svg_size

if TYPE_CHECKING:
    from PIL.Image import Image

_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "AVIF")
# some decoders read the whole file only to find the size
_MAX_BYTES = 200_000_000

_END_MARKS: Mapping[str, bytes] = MappingProxyType({"JPEG": b"\xff\xd9", "PNG": b"IEND"})

_ORIENTATION = 0x0112
_GPS = 0x8825
_TURNED = (5, 6, 7, 8)
"""EXIF tag; 5 to 8 mean that the picture is shown turned by a quarter."""

_PRINTED_ATTRIBUTE = lazy_pattern(r"(?!on|src$|alt$|width$|height$)[a-z_][a-z0-9_.:-]*", re.IGNORECASE)


class ImageSize(Struct, frozen=True):
    """How large an image is when nothing scales it."""

    width_px: int | None
    """None for a vector image that names no size."""
    height_px: int | None
    located: bool = False
    """Its EXIF data say where it was taken."""
    is_animated: bool = False
    kind: str = ""
    """`PNG`, `JPEG`, `GIF`, `WEBP` or `AVIF`; empty for a vector image."""


class ImageProblem(Exception):
    """A file cannot be shown as an image; the text names the file and says why."""


def image_size(file: Path) -> ImageSize:
    """The size of a PNG, JPEG, GIF, WebP, AVIF or SVG file, turned as its EXIF data asks.

    Raises ImageProblem for anything else: no file, a folder, a pipe, empty, cut off, too large.
    """
    _check_is_file(file)
    if file.suffix.lower() == ".svg":
        return _vector_size(file)
    try:
        with file.open("rb") as stream:
            return picture_size(stream, file.name)
    except OSError as error:
        raise ImageProblem(f"{file.name} cannot be read: {error.strerror or error}") from error


def img_tag(
    info: ImageInfo,
    alt: str,
    *,
    classes: Sequence[str] = (),
    attrs: Mapping[str, str] | None = None,
) -> str:
    """The `<img>` of an image; every value is escaped.

    attrs: further attributes in alphabetical order, which may replace `loading` and `decoding`. Event
    handlers (`on…`), `src`, `alt`, `width` and `height` among them are not printed.
    An image that is not shown is a link to it, or its text where it has no address.
    """
    if not info.url:
        text = escape(alt or info.address, quote=False)
        return f'<a href="{escape(info.address)}">{text}</a>' if info.address else text
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
        raise ImageProblem(f"{file.name} cannot be read") from error
    if not stat.S_ISREG(status.st_mode):
        raise ImageProblem(f"{file.name} is not a file")
    if not status.st_size:
        raise ImageProblem(f"{file.name} is empty")
    if status.st_size > _MAX_BYTES:
        raise ImageProblem(f"{file.name} is larger than {_MAX_BYTES // 1_000_000} MB")


def _vector_size(file: Path) -> ImageSize:
    try:
        with file.open("rb") as stream:
            return ImageSize(*svg_size(stream))
    except (OSError, ValueError) as error:
        raise ImageProblem(f"{file.name} is not a readable SVG image: {error}") from error


def picture_size(stream: BinaryIO, name: str) -> ImageSize:
    """The same of an open file that is no SVG. name: how messages call it."""
    from PIL import Image

    try:
        # the warning starts at half the limit above which Pillow refuses to go on (179 Mpx)
        with warnings.catch_warnings(action="ignore", category=Image.DecompressionBombWarning):
            image = Image.open(stream, formats=_FORMATS)
    except Image.DecompressionBombError as error:
        raise ImageProblem(f"{name} has more than 178 million pixels") from error
    except Exception as error:  # damaged files make the parsers raise nearly anything
        raise ImageProblem(
            f"{name} is not a PNG, JPEG, GIF, WebP, AVIF or SVG image, or is damaged"
        ) from error
    _check_end(stream, name, image.format or "")
    width, height = image.size
    orientation, located = _exif(image)
    if orientation in _TURNED:
        width, height = height, width
    # Pillow has it only where there may be several pictures
    is_animated = bool(getattr(image, "is_animated", False))
    return ImageSize(width, height, located, is_animated, image.format or "")


def _check_end(stream: BinaryIO, name: str, kind: str) -> None:
    """Refuse a file without end mark; the search starts behind the head, where thumbnails have theirs."""
    mark = _END_MARKS.get(kind)
    if mark is None:
        return
    with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if data.find(mark, stream.tell()) < 0:
            raise ImageProblem(f"{name} is cut off: its end is missing")


def _exif(image: Image) -> tuple[int, bool]:
    """Orientation (0: none given), and whether there is a position."""
    # without EXIF data in the head `getexif` would decode a PNG to look for some behind the picture
    if "exif" not in image.info:
        return 0, False
    try:
        exif = image.getexif()
        return exif.get(_ORIENTATION) or 0, bool(exif.get_ifd(_GPS))
    except Exception:  # damaged EXIF data; browsers ignore it as well
        return 0, False
