"""inotify of Linux, which Python's standard library lacks, called through the C library; see inotify(7)."""

from __future__ import annotations

import ctypes
import os
import select
import struct
from collections.abc import Iterator
from dataclasses import dataclass

MODIFY = 0x2
CLOSE_WRITE = 0x8
MOVED_FROM = 0x40
MOVED_TO = 0x80
CREATE = 0x100
DELETE = 0x200
DELETE_SELF = 0x400
MOVE_SELF = 0x800
OVERFLOW = 0x4000
"""Events were lost; of no watch."""
IGNORED = 0x8000
"""The watch has ended; no other will ever have its number."""
ONLY_FOLDERS = 0x0100_0000
FOLLOW_NO_LINK = 0x0200_0000
NOT_UNLINKED = 0x0400_0000
"""Nothing of files without a name, though they are open."""
OF_FOLDER = 0x4000_0000

_HEAD = struct.Struct("iIII")
_BUFFER_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class InotifyEvent:
    """`struct inotify_event`, but for what pairs the ends of a move."""

    watch: int
    mask: int
    name: bytes
    """In the watched folder; empty for the folder itself."""


class Inotify:
    """One instance. OSError as the system gives it, also where there is none."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None, use_errno=True)
        self._descriptor = self._call("inotify_init1", os.O_CLOEXEC | os.O_NONBLOCK)
        self._wake_out, self._wake_in = os.pipe()
        self._poll = select.poll()
        for descriptor in (self._descriptor, self._wake_out):
            self._poll.register(descriptor, select.POLLIN)

    def add(self, folder: str, mask: int) -> int:
        """The number of the watch: that of an older one if the folder is watched under another name."""
        return self._call("inotify_add_watch", self._descriptor, os.fsencode(folder), mask)

    def remove(self, watch: int) -> None:
        """End a watch; OSError if it has ended."""
        self._call("inotify_rm_watch", self._descriptor, watch)

    def events(self) -> Iterator[InotifyEvent]:
        """What happens, until `wake` is called."""
        while self._wake_out not in dict(self._poll.poll()):
            data, at = os.read(self._descriptor, _BUFFER_BYTES), 0
            while at < len(data):
                watch, mask, _, length = _HEAD.unpack_from(data, at)
                at += _HEAD.size + length
                yield InotifyEvent(watch, mask, data[at - length : at].rstrip(b"\0"))

    def wake(self) -> None:
        """Let `events` end; any thread may call this."""
        os.write(self._wake_in, b"!")

    def close(self) -> None:
        """End all watches, when nobody waits for events any more."""
        for descriptor in (self._descriptor, self._wake_out, self._wake_in):
            os.close(descriptor)

    def _call(self, name: str, *arguments: object) -> int:
        function = getattr(self._library, name, None)
        if function is None:
            raise OSError(f"the C library has no {name}")
        result = int(function(*arguments))
        if result < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        return result
