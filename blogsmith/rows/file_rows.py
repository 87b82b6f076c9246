"""Cache rows about files: digests of sources, image sizes. Only new and changed files are opened."""

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
from ..model.decode import decode
from ..model.documents import Source
from ..model.pictures import ImageInfo
from ..render.images import ImageError, ImageSize, image_size
from ..write.photos.encoder import MOST_PIXELS

Value = TypeVar("Value")

UNCERTAIN_STAMP_NS = 2_000_000_000
"""Nanoseconds after a save in which another save may not change the stamp of the file."""
_NAME = "all files"


class StampedValues(Generic[Value]):
    """Values of files, for one pipeline. They are a single row, read at first use and written at the end."""

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
        """Store a new value. stamp: of the file before it was read."""
        self._new[name] = (stamp, value)
        self._exported.discard(name)

    def forget(self, name: str) -> None:
        """Drop the value of a saved file. Its stamp may be unchanged."""
        self._known.pop(name, None)
        self._new.pop(name, None)

    def load(self) -> None:
        """Read the cached values before processes are forked, since these must not access rows."""
        _ = self._known

    def take_new(self) -> bytes:
        """Return new values since the last call, encoded for `add` in another process; empty if there are
        none."""
        fresh = {name: one for name, one in self._new.items() if name not in self._exported}
        self._exported.update(fresh)
        return msgspec.msgpack.encode(fresh) if fresh else b""

    def add(self, data: bytes) -> None:
        """Add the values from `take_new`."""
        self._new |= self._decode(data)

    def save(self, is_there: Callable[[str], bool]) -> None:
        """Write new values to the cache, and drop those of removed files. is_there: whether a file exists."""
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


# Digests of sources, cached with the stamps of their files: a build reads only new or changed sources.
#
# The text of other sources is read on first access. A page taken from its row never accesses it.


class SourceCache:
    """The cached digests of sources, used by a single pipeline."""

    def __init__(self, rows: CacheInterface) -> None:
        self._values = StampedValues(rows, "sources", str)
        """Source path → digest of the source."""
        self._new: dict[str, FileStamp] = {}
        """Stamps of files that are read in this build, taken before reading."""

    def find(self, path: PurePosixPath, file: Path) -> Source | None:
        """Return the source of an unchanged file, or None if the file must be read.

        Access to its text may raise SiteError or OSError, since the file may have changed by then.
        """
        name = str(path)
        with suppress(OSError, ValueError):
            stamp = make_stamp(file.stat(), with_changed=True)
            digest = self._values.find(name, stamp)
            if digest:
                # the field accepts a function for deferred reading, which the type of the dataclass cannot
                # express
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
            return decode(data, str(path))
    except OSError as error:
        problem = f"cannot read the file: {error.strerror or error}"
    raise SiteError(Diagnostic("unreadable", problem, str(path), hint="run the build again"))


# Sizes of images, cached with the stamps of their files: a build opens only new or changed images.


_LEAST_BYTES = 50_000
"""Minimum size of an image for which smaller copies are worth making; a page of text has about this size."""
_DIVISIBLE = ("PNG", "JPEG", "WEBP", "AVIF")


class _ImageRow(msgspec.Struct, frozen=True, array_like=True):
    found: ImageInfo | str
    digest: str = ""
    """SHA-256 of the file; empty if not computed yet."""


def measure_image(file: Path) -> ImageInfo | str:
    """Return the size of an image without its URL, or an error message."""
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


def _pixels(size: ImageSize) -> int:
    return (size.width_px or 0) * (size.height_px or 0)


class ImageSizes:
    """The cached sizes of images, used by a single pipeline."""

    def __init__(self, rows: CacheInterface) -> None:
        self.values = StampedValues(rows, "images", _ImageRow)
        """Absolute path of an image → its size and digest."""
        self._seen: dict[Path, tuple[FileStamp, _ImageRow]] = {}
        """Images checked since `begin_update`, since a thousand pages may show the same image."""

    def forget(self, file: Path) -> None:
        """Drop the values of a saved file. Its stamp may be unchanged."""
        self.values.forget(str(file))

    def begin_update(self) -> None:
        """Check files again. Call this before each update of the site, and when a page is saved."""
        self._seen.clear()

    def measure(self, file: Path) -> ImageInfo | str:
        """Return the size of an image without its URL, or an error message."""
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
