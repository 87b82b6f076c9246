"""Digests of sources, kept with the stamps of their files: a build reads only those that are new or saved.

The text of another one is read when it is asked for, which a page that is taken from its row never does.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import cast

import msgspec

from ...base.diagnostics.model import Diagnostic, SiteError
from ...base.storage.stamps import FileStamp, stamp_of
from ...model.decode import decode
from ...model.documents import Source
from .row_store import Row, RowStore

_KIND = "sources"
_NAME = "digests"
DOUBT_NS = 2_000_000_000
"""A file that was saved this short a time ago may be saved again, and its stamp be the same."""


class _KeptSource(msgspec.Struct, frozen=True, array_like=True):
    stamp: FileStamp
    digest: str
    """As in `Source`."""


class KeptSources:
    """Belongs to one pipeline. All is read at once, when the first is asked for, and written at the end."""

    def __init__(self, rows: RowStore) -> None:
        self._rows = rows
        self._new: dict[str, FileStamp] = {}
        """Stamps of files that are read now, from before that."""

    @cached_property
    def _known(self) -> dict[str, _KeptSource]:
        row = self._rows.get(_KIND, _NAME)
        if row and row.key == self._rows.program:
            with suppress(msgspec.MsgspecError):
                return msgspec.msgpack.decode(row.data, type=dict[str, _KeptSource])
        return {}

    def find(self, path: PurePosixPath, file: Path) -> Source | None:
        """The source in a file that is as it was; None: it is to be read.

        Its text may raise SiteError or OSError when it is read: the file may be another one by then.
        """
        name = str(path)
        with suppress(OSError, ValueError):
            # a path that is no text, as some are where the system's language is none, names no row
            name.encode()
            stamp = stamp_of(file.stat(), with_changed=True)
            known = self._known.get(name)
            if known and known.stamp == stamp:
                # a dataclass knows no fields that take more than they give
                text = cast("str", partial(_read_text, path, file, known.digest))
                return Source(path, text, known.digest)
            if max(stamp.modified_ns, stamp.changed_ns) < time.time_ns() - DOUBT_NS:
                self._new[name] = stamp
        return None

    def save(self, sources: Iterable[Source]) -> None:
        """Keep what was read; files that are gone are forgotten with the next one that is new.

        sources: all there are.
        """
        if not self._new:
            return
        digests = {str(source.path): source.digest for source in sources}
        kept = {name: known for name, known in self._known.items() if name in digests}
        kept |= {
            name: _KeptSource(stamp, digests[name]) for name, stamp in self._new.items() if name in digests
        }
        self._rows.put(_KIND, _NAME, Row(self._rows.program, msgspec.msgpack.encode(kept)))


def _read_text(path: PurePosixPath, file: Path, digest: str) -> str:
    problem = "was saved while the site was being built"
    try:
        data = file.read_bytes()
        if hashlib.sha256(data).hexdigest() == digest:
            return decode(data, str(path))
    except OSError as error:
        problem = f"cannot be read: {error.strerror or error}"
    raise SiteError(Diagnostic("unreadable", problem, str(path), hint="build again"))
