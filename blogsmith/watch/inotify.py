"""Hints from Linux.

watchdog's observer is left to other systems. When a file is moved away it holds back all events for half a
second to find the other end of the move (we look at both ends on their own), it keeps the loss of events to
itself, and it watches all folders below the watched ones, wanted or not.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Set
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock, Thread

from .hints import HintQueue
from .inotify_calls import (
    CLOSE_WRITE,
    CREATE,
    DELETE,
    DELETE_SELF,
    FOLLOW_NO_LINK,
    IGNORED,
    MODIFY,
    MOVE_SELF,
    MOVED_FROM,
    MOVED_TO,
    NOT_UNLINKED,
    OF_FOLDER,
    ONLY_FOLDERS,
    OVERFLOW,
    Inotify,
    InotifyEvent,
)
from .notifier import CannotWatch
from .walk import is_passed_over

_WRITING = CREATE | MODIFY
_ENDED = CLOSE_WRITE | MOVED_FROM | MOVED_TO | DELETE | DELETE_SELF | MOVE_SELF
# No event for what is opened, read, or only given other times or rights.
_MASK = _WRITING | _ENDED | ONLY_FOLDERS | FOLLOW_NO_LINK | NOT_UNLINKED
_LIMITS = {
    errno.ENOSPC: "the limit fs.inotify.max_user_watches is reached",
    errno.EMFILE: "the limit fs.inotify.max_user_instances is reached",
    errno.ENFILE: "too many files are open",
    errno.ENOMEM: "the kernel has no memory for it",
}


@dataclass(frozen=True, slots=True)
class _Folder:
    """One watched folder. A folder that has moved has its watch under both names until the old one goes."""

    path: str
    inode: int
    watch: int


class InotifyNotifier:
    """One inotify instance and the thread that reads it; each folder is watched on its own."""

    def __init__(self, notices: HintQueue) -> None:
        self._notices = notices
        self._lock = Lock()
        self._folders: dict[str, _Folder] = {}
        self._by_watch: dict[int, list[_Folder]] = {}
        """Those whose watch has not ended."""
        try:
            self._inotify = Inotify()
        except OSError as error:
            raise CannotWatch(_reason(error)) from error
        self._thread = Thread(target=self._read, name="inotify", daemon=True)
        self._thread.start()

    def watch(self, folder: str, inode: int, *, alone: bool) -> None:
        """See `Notifier`. A folder that is gone again, or may not be read, is passed over."""
        # an event may come before its watch has been noted
        with self._lock:
            known = self._folders.get(folder)
            if known is not None and known.inode == inode and known in self._by_watch.get(known.watch, ()):
                return
            try:
                new = _Folder(folder, inode, self._inotify.add(folder, _MASK))
            except OSError as error:
                if error.errno in _LIMITS:
                    raise CannotWatch(_reason(error)) from error
                return
            self._by_watch.setdefault(new.watch, []).append(new)
            self._folders[folder] = new
            if known is not None:
                self._drop(known)

    def keep(self, folders: Set[str]) -> None:
        """See `Notifier`."""
        with self._lock:
            for folder in self._folders.keys() - folders:
                self._drop(self._folders.pop(folder))

    def stop(self) -> None:
        """See `Notifier`."""
        self._inotify.wake()
        self._thread.join()
        self._inotify.close()

    def _drop(self, folder: _Folder) -> None:
        """End the watch of a folder that is noted under no name any more."""
        names = self._by_watch.get(folder.watch, [])
        if folder in names:
            names.remove(folder)
            if not names:
                del self._by_watch[folder.watch]
                with suppress(OSError):  # it has just ended
                    self._inotify.remove(folder.watch)

    def _read(self) -> None:
        for event in self._inotify.events():
            if event.mask & OVERFLOW:
                self._notices.overflow()
                continue
            with self._lock:
                folders = tuple(self._by_watch.get(event.watch, ()))
                if event.mask & IGNORED:
                    self._by_watch.pop(event.watch, None)
            for folder in folders:
                self._add(folder.path, event)

    def _add(self, folder: str, event: InotifyEvent) -> None:
        if not event.name:
            # it is gone or has moved; there may be a new one of its name
            self._notices.add(folder)
            return
        name = os.fsdecode(event.name)
        if not is_passed_over(name):
            writing = bool(event.mask & _WRITING) and not event.mask & OF_FOLDER
            self._notices.add(f"{folder}/{name}", writing=writing)


def _reason(error: OSError) -> str:
    return _LIMITS.get(error.errno or 0, error.strerror or str(error))
