"""Cache rows of facts about files: sources, image sizes, digests; only new and saved files are opened."""

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
from ..base.storage.site_cache import Kind, Row, Rows, is_text
from ..base.storage.stamps import FileStamp, file_digest, stamp_of
from ..model.decode import decode
from ..model.documents import Source
from ..model.pictures import ImageInfo
from ..render.images import ImageProblem, ImageSize, image_size
from ..write.photos.encoder import MOST_PIXELS

Value = TypeVar("Value")

DOUBT_NS = 2_000_000_000
"""A file that was saved this short a time ago may be saved again, and its stamp be the same."""
_NAME = "all files"


class StampedValues(Generic[Value]):
    """Values of files, for one pipeline. They are one row, read at first use and written at the end."""

    def __init__(self, rows: Rows, kind: Kind, type_of: type[Value]) -> None:
        self._rows = rows
        self._kind = kind
        self._type = dict[str, tuple[FileStamp, type_of]]  # type: ignore[valid-type]
        self._new: dict[str, tuple[FileStamp, Value]] = {}
        self._sent: set[str] = set()

    @cached_property
    def _known(self) -> dict[str, tuple[FileStamp, Value]]:
        row = self._rows.get(self._kind, _NAME)
        return self._decode(row.data) if row and row.key == self._rows.program else {}

    def find(self, name: str, stamp: FileStamp) -> Value | None:
        """Return the value of an unchanged file."""
        known = self._new.get(name) or self._known.get(name)
        return known[1] if known and known[0] == stamp else None

    def keep(self, name: str, stamp: FileStamp, value: Value) -> None:
        """Store a new value. stamp: of the file before it was read."""
        self._new[name] = (stamp, value)
        self._sent.discard(name)

    def forget(self, name: str) -> None:
        """A file that was saved: its stamp may be the same."""
        self._known.pop(name, None)
        self._new.pop(name, None)

    def load(self) -> None:
        """Read what is kept, before processes are forked: in these, rows are not to be touched."""
        _ = self._known

    def take_new(self) -> bytes:
        """What was found out since this was asked last, for `add` in another process; empty for nothing."""
        fresh = {name: one for name, one in self._new.items() if name not in self._sent}
        self._sent.update(fresh)
        return msgspec.msgpack.encode(fresh) if fresh else b""

    def add(self, data: bytes) -> None:
        """Take over what `take_new` gave."""
        self._new |= self._decode(data)

    def save(self, is_there: Callable[[str], bool]) -> None:
        """Keep the new values, and none of files that are gone. is_there: whether a file exists."""
        youngest_ns = time.time_ns() - DOUBT_NS
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


# Digests of sources, kept with the stamps of their files: a build reads only those that are new or saved.
#
# The text of another one is read when it is asked for, which a page that is taken from its row never does.


class KeptSources:
    """Belongs to one pipeline."""

    def __init__(self, rows: Rows) -> None:
        self._values = StampedValues(rows, "sources", str)
        """Source path → digest of the source."""
        self._new: dict[str, FileStamp] = {}
        """Stamps of files that are read now, from before that."""

    def find(self, path: PurePosixPath, file: Path) -> Source | None:
        """The source in a file that is as it was; None: it is to be read.

        Its text may raise SiteError or OSError when it is read: the file may be another one by then.
        """
        name = str(path)
        with suppress(OSError, ValueError):
            stamp = stamp_of(file.stat(), with_changed=True)
            digest = self._values.find(name, stamp)
            if digest:
                # a dataclass knows no fields that take more than they give
                text = cast("str", partial(_read_text, path, file, digest))
                return Source(path, text, digest)
            if is_text(name):
                self._new[name] = stamp
        return None

    def save(self, sources: Iterable[Source]) -> None:
        """Keep what was read. sources: all there are."""
        digests = {str(source.path): source.digest for source in sources}
        for name, stamp in self._new.items():
            if name in digests:
                self._values.keep(name, stamp, digests[name])
        self._values.save(digests.__contains__)


def _read_text(path: PurePosixPath, file: Path, digest: str) -> str:
    problem = "was saved while the site was being built"
    try:
        data = file.read_bytes()
        if hashlib.sha256(data).hexdigest() == digest:
            return decode(data, str(path))
    except OSError as error:
        problem = f"cannot be read: {error.strerror or error}"
    raise SiteError(Diagnostic("unreadable", problem, str(path), hint="build again"))


# Sizes of images, kept with the stamps of their files: a build opens only those that are new or saved.


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
