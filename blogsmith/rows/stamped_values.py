"""Cache facts about files with their sizes and times, so that only new and saved files are opened."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property
from typing import Generic, TypeVar

import msgspec

from ..base.storage.site_cache import Kind, Row, Rows
from ..base.storage.stamps import FileStamp

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
