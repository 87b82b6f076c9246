"""Sizes of images, kept with the stamps of their files: a build opens only those that are new or saved."""

from __future__ import annotations

import time
from contextlib import suppress
from functools import cached_property
from pathlib import Path

import msgspec

from ...base.storage.digests import file_digest
from ...base.storage.stamps import FileStamp, stamp_of
from ...model.pictures import ImageInfo
from ...render.images import ImageProblem, ImageSize, image_size
from ...write.photos.encoder import MOST_PIXELS
from .row_store import Row, RowStore

_KIND = "images"
_NAME = "sizes"
_LEAST_BYTES = 50_000
"""Of a picture for which copies are worth making: a page of text weighs as much."""
_DIVISIBLE = ("PNG", "JPEG", "WEBP", "AVIF")
_DOUBT_NS = 2_000_000_000
"""A file that was saved this short a time ago may be saved again, and its stamp be the same."""


class _Measured(msgspec.Struct, frozen=True, array_like=True):
    stamp: FileStamp
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
    """Belongs to one pipeline. All is read at once, when the first is asked for, and written at the end."""

    def __init__(self, rows: RowStore) -> None:
        self._rows = rows
        self._new: dict[str, _Measured] = {}
        self._sent: set[str] = set()

    @cached_property
    def _known(self) -> dict[str, _Measured]:
        row = self._rows.get(_KIND, _NAME)
        return _decode(row.data) if row and row.key == self._rows.program else {}

    def forget(self, file: Path) -> None:
        """A file that was saved: its stamp may be the same."""
        self._known.pop(str(file), None)
        self._new.pop(str(file), None)

    def measure(self, file: Path) -> ImageInfo | str:
        """The size of an image, without its address; or what is wrong with it."""
        known = self._look_at(file)
        return known.found if known else measure_image(file)

    def digest(self, file: Path) -> str:
        """SHA-256 of an image; empty if it cannot be read."""
        known = self._look_at(file)
        if known is None:
            return file_digest(file)
        if not known.digest:
            known = self._new[str(file)] = msgspec.structs.replace(known, digest=file_digest(file))
            self._sent.discard(str(file))
        return known.digest

    def _look_at(self, file: Path) -> _Measured | None:
        """What is known of a file as it is now; None if nothing can be kept of it."""
        name = str(file)
        try:
            # a path that is no text, as some are where the system's language is none, names no row
            name.encode()
            stamp = stamp_of(file.stat(), with_changed=True)
        except (OSError, ValueError):
            return None
        known = self._new.get(name) or self._known.get(name)
        if known is None or known.stamp != stamp:
            known = self._new[name] = _Measured(stamp, measure_image(file))
        return known

    def load(self) -> None:
        """Read what is kept, before processes are forked: in these, rows are not to be touched."""
        _ = self._known

    def take_new(self) -> bytes:
        """What was measured since this was asked last, for `add` in another process; empty for nothing."""
        fresh = {name: one for name, one in self._new.items() if name not in self._sent}
        self._sent.update(fresh)
        return msgspec.msgpack.encode(fresh) if fresh else b""

    def add(self, data: bytes) -> None:
        """Take over what `take_new` gave."""
        self._new |= _decode(data)

    def save(self) -> None:
        """Keep what was measured; files that are gone are forgotten with the next one that is new."""
        youngest = time.time_ns() - _DOUBT_NS
        new = {
            name: one
            for name, one in self._new.items()
            if max(one.stamp.modified_ns, one.stamp.changed_ns) < youngest
        }
        if new:
            old = {name: one for name, one in self._known.items() if Path(name).exists()}
            data = msgspec.msgpack.encode({**old, **new})
            self._rows.put(_KIND, _NAME, Row(self._rows.program, data))


def _decode(data: bytes) -> dict[str, _Measured]:
    with suppress(msgspec.MsgspecError):
        return msgspec.msgpack.decode(data, type=dict[str, _Measured])
    return {}
