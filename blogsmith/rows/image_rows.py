"""Sizes of images, kept with the stamps of their files: a build opens only those that are new or saved."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ..base.storage.digests import file_digest
from ..base.storage.site_cache import Rows, is_text
from ..base.storage.stamps import FileStamp, stamp_of
from ..model.pictures import ImageInfo
from ..render.images import ImageProblem, ImageSize, image_size
from ..write.photos.encoder import MOST_PIXELS
from .stamped_values import StampedValues

_LEAST_BYTES = 50_000
"""Of a picture for which copies are worth making: a page of text weighs as much."""
_DIVISIBLE = ("PNG", "JPEG", "WEBP", "AVIF")


class _Measured(msgspec.Struct, frozen=True, array_like=True):
    found: ImageInfo | str
    digest: str = ""
    """SHA-256 of the file; empty: nobody has asked."""


def measure_image(file: Path) -> ImageInfo | str:
    """Size of an image, without its address; or what is wrong with it."""
    try:
        size = image_size(file)
    except ImageProblem as problem:
        return str(problem)
    length = file.stat().st_size
    is_divisible = size.kind in _DIVISIBLE and not size.is_animated and length >= _LEAST_BYTES
    digest = file_digest(file) if is_divisible and _pixels(size) <= MOST_PIXELS else ""
    return ImageInfo(
        "",
        size.width_px,
        size.height_px,
        size.located,
        bytes=length,
        is_animated=size.is_animated,
        digest=digest,
    )


def _pixels(size: ImageSize) -> int:
    return (size.width_px or 0) * (size.height_px or 0)


class ImageSizes:
    """Belongs to one pipeline."""

    def __init__(self, rows: Rows) -> None:
        self.values = StampedValues(rows, "images", _Measured)
        """Absolute path of an image → what is known of it."""
        self._seen: dict[Path, tuple[FileStamp, _Measured]] = {}
        """Images that were looked at since `look_again`: a thousand pages may show the same one."""

    def forget(self, file: Path) -> None:
        """A file that was saved: its stamp may be the same."""
        self.values.forget(str(file))

    def look_again(self) -> None:
        """Files may have changed: a look at the site begins, or a page is saved."""
        self._seen.clear()

    def measure(self, file: Path) -> ImageInfo | str:
        """The size of an image, without its address; or what is wrong with it."""
        known = self._look_at(file)
        return known[1].found if known else measure_image(file)

    def digest(self, file: Path) -> str:
        """SHA-256 of an image; empty if it cannot be read."""
        known = self._look_at(file)
        if known is None:
            return file_digest(file)
        stamp, measured = known
        if not measured.digest:
            measured = msgspec.structs.replace(measured, digest=file_digest(file))
            self.values.keep(str(file), stamp, measured)
            self._seen[file] = (stamp, measured)
        return measured.digest

    def save(self) -> None:
        """Keep what was measured."""
        self.values.save(lambda name: Path(name).exists())

    def _look_at(self, file: Path) -> tuple[FileStamp, _Measured] | None:
        """What is known of a file as it is now; None if nothing can be kept of it."""
        known = self._seen.get(file)
        if known:
            return known
        name = str(file)
        try:
            stamp = stamp_of(file.stat(), with_changed=True)
        except (OSError, ValueError):
            return None
        if not is_text(name):
            return None
        measured = self.values.find(name, stamp)
        if measured is None:
            measured = _Measured(measure_image(file))
            self.values.keep(name, stamp, measured)
        self._seen[file] = (stamp, measured)
        return stamp, measured
