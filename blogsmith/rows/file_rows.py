"""Cache rows with data of files, such as digests of sources and sizes of images. Only new and changed files
are opened."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import Generic, TypeVar, cast

import msgspec

from ..base.diagnostics.model import Diagnostic, SiteError
from ..base.storage.site_cache import CacheInterface, Kind, Row, is_text
from ..base.storage.stamps import FileStamp, file_digest, make_stamp
from ..model.documents import Source
from ..model.pictures import ImageInfo
from ..read.source_text import source_text
from ..render.images import ImageError, ImageSize, data_size, image_size
from ..write.photos.encoder import MOST_PIXELS

Value = TypeVar("Value")

UNCERTAIN_STAMP_NS = 2_000_000_000
"""Time in nanoseconds. If a file is saved again within this time, its stamp may stay the same."""
_NAME = "all files"


class StampedValues(Generic[Value]):
    """Values computed from files, with the stamps of the files. They are a single row of the cache, read at
    first use and written at the end."""

    def __init__(self, rows: CacheInterface, kind: Kind, type_of: type[Value]) -> None:
        self._rows = rows
        self._kind = kind
        self._type = dict[str, tuple[FileStamp, type_of]]  # type: ignore[valid-type]
        self._new: dict[str, tuple[FileStamp, Value]] = {}
        self._exported: set[str] = set()

    @cached_property
    def _known(self) -> dict[str, tuple[FileStamp, Value]]:
        row = self._rows.get(self._kind, _NAME)
        return self._decode(row.data) if row and row.key == self._rows.program else {}

    def find(self, name: str, stamp: FileStamp) -> Value | None:
        """Return the value of an unchanged file, or None."""
        known = self._new.get(name) or self._known.get(name)
        return known[1] if known and known[0] == stamp else None

    def put(self, name: str, stamp: FileStamp, value: Value) -> None:
        """Store a new value. stamp: stamp that the file had before it was read."""
        self._new[name] = (stamp, value)
        self._exported.discard(name)

    def forget(self, name: str) -> None:
        """Drop the value of a file that was saved, whose stamp may be the same as before."""
        self._known.pop(name, None)
        self._new.pop(name, None)

    def load(self) -> None:
        """Read the cached values before the process forks, because forked processes must not read rows."""
        _ = self._known

    def take_new(self) -> bytes:
        """Return the values added since the last call, encoded for `add` in another process; empty if there
        are none."""
        fresh = {name: one for name, one in self._new.items() if name not in self._exported}
        self._exported.update(fresh)
        return msgspec.msgpack.encode(fresh) if fresh else b""

    def add(self, data: bytes) -> None:
        """Add the values that `take_new` of another process returned."""
        self._new |= self._decode(data)

    def save(self, is_there: Callable[[str], bool]) -> None:
        """Write new values to the cache, and drop the values of removed files. is_there: function that
        returns whether the site still has the file of a name."""
        youngest_ns = time.time_ns() - UNCERTAIN_STAMP_NS
        new = {
            name: (stamp, value)
            for name, (stamp, value) in self._new.items()
            if max(stamp.modified_ns, stamp.changed_ns) < youngest_ns
        }
        if new:
            kept = {**{name: one for name, one in self._known.items() if is_there(name)}, **new}
            self._rows.put(self._kind, _NAME, Row(self._rows.program, msgspec.msgpack.encode(kept)))

    def _decode(self, data: bytes) -> dict[str, tuple[FileStamp, Value]]:
        if not data:
            return {}
        try:
            found: dict[str, tuple[FileStamp, Value]] = msgspec.msgpack.decode(data, type=self._type)
        except msgspec.MsgspecError:
            return {}
        return found


# The digest of each source is cached with the stamp of its file, so that a build reads only new or changed
# sources. The text of other sources is read when it is needed; for a page that is taken from the cache,
# never.


class SourceCache:
    """Cache of the digests of sources, for one build or one preview."""

    def __init__(self, rows: CacheInterface) -> None:
        self._values = StampedValues(rows, "sources", str)
        """Source path → digest of the source."""
        self._new: dict[str, FileStamp] = {}
        """Path → stamp, taken before reading, of files that were read in this build."""

    def find(self, path: PurePosixPath, file: Path) -> Source | None:
        """Return the source of an unchanged file, or None if the file must be read. Reading its text later
        may raise SiteError or OSError, because the file may have changed by then."""
        name = str(path)
        with suppress(OSError, ValueError):
            stamp = make_stamp(file.stat(), with_changed=True)
            digest = self._values.find(name, stamp)
            if digest:
                # the field also accepts a function that reads the text later, which the type of the dataclass
                # cannot express
                text = cast("str", partial(_read_text, path, file, digest))
                return Source(path, text, digest)
            if is_text(name):
                self._new[name] = stamp
        return None

    def save(self, sources: Iterable[Source]) -> None:
        """Write the digests of new files to the cache. sources: all sources of the site."""
        digests = {str(source.path): source.digest for source in sources}
        for name, stamp in self._new.items():
            if name in digests:
                self._values.put(name, stamp, digests[name])
        self._values.save(digests.__contains__)


def _read_text(path: PurePosixPath, file: Path, digest: str) -> str:
    problem = "the file changed during the build"
    try:
        data = file.read_bytes()
        if hashlib.sha256(data).hexdigest() == digest:
            return source_text(path, data)
    except OSError as error:
        problem = f"cannot read the file: {error.strerror or error}"
    raise SiteError(Diagnostic("unreadable", problem, str(path), hint="run the build again"))


# The size of each image is cached with the stamp of its file, so that a build opens only new or changed
# images.


_LEAST_BYTES = 50_000
"""Minimum file size of an image that gets smaller copies, in bytes. A page of text is about as large."""
_DIVISIBLE = ("PNG", "JPEG", "WEBP", "AVIF")


class _ImageRow(msgspec.Struct, frozen=True, array_like=True):
    found: ImageInfo | str
    digest: str = ""
    """SHA-256 of the file; empty if not computed yet."""


def measure_image(file: Path) -> ImageInfo | str:
    """Return the data of an image except for its URL, or an error message."""
    try:
        size = image_size(file)
    except ImageError as problem:
        return str(problem)
    length = file.stat().st_size
    is_divisible = size.kind in _DIVISIBLE and not size.is_animated and length >= _LEAST_BYTES
    digest = file_digest(file) if is_divisible and _pixels(size) <= MOST_PIXELS else ""
    return ImageInfo(
        "",
        size.width_px,
        size.height_px,
        size.has_location,
        bytes=length,
        is_animated=size.is_animated,
        digest=digest,
    )


def measure_data(data: bytes | str, name: str) -> ImageInfo | str:
    """Return the data of an image that is not a file except for its URL, or an error message.

    data: an empty string for an image of unknown size. name: its file name on the page.
    """
    if isinstance(data, str):
        return ImageInfo("", None, None)
    try:
        size = data_size(data, name)
    except ImageError as problem:
        return str(problem)
    return ImageInfo("", size.width_px, size.height_px, size.has_location, is_animated=size.is_animated)


def _pixels(size: ImageSize) -> int:
    return (size.width_px or 0) * (size.height_px or 0)


class ImageSizes:
    """Cache of the sizes of images, for one build or one preview."""

    def __init__(self, rows: CacheInterface) -> None:
        self.values = StampedValues(rows, "images", _ImageRow)
        """Absolute path of an image → its size and digest."""
        self._seen: dict[Path, tuple[FileStamp, _ImageRow]] = {}
        """Images already looked up since `begin_update`, because a thousand pages may show the same image."""

    def forget(self, file: Path) -> None:
        """Drop the values of a file that was saved, whose stamp may be the same as before."""
        self.values.forget(str(file))

    def begin_update(self) -> None:
        """Compare the stamps of all files again from now on. Call this before each update of the site, and
        when a page is saved."""
        self._seen.clear()

    def measure(self, file: Path) -> ImageInfo | str:
        """Return the data of an image except for its URL, or an error message."""
        known = self._find_or_measure(file)
        return known[1].found if known else measure_image(file)

    def digest(self, file: Path) -> str:
        """Return the SHA-256 of an image; empty if it cannot be read."""
        known = self._find_or_measure(file)
        if known is None:
            return file_digest(file)
        stamp, measured = known
        if not measured.digest:
            measured = msgspec.structs.replace(measured, digest=file_digest(file))
            self.values.put(str(file), stamp, measured)
            self._seen[file] = (stamp, measured)
        return measured.digest

    def save(self) -> None:
        """Write new sizes to the cache."""
        self.values.save(lambda name: Path(name).exists())

    def _find_or_measure(self, file: Path) -> tuple[FileStamp, _ImageRow] | None:
        """Return stamp and size of a file, measured if necessary; None if they cannot be cached."""
        known = self._seen.get(file)
        if known:
            return known
        name = str(file)
        try:
            stamp = make_stamp(file.stat(), with_changed=True)
        except (OSError, ValueError):
            return None
        if not is_text(name):
            return None
        measured = self.values.find(name, stamp)
        if measured is None:
            measured = _ImageRow(measure_image(file))
            self.values.put(name, stamp, measured)
        self._seen[file] = (stamp, measured)
        return stamp, measured
