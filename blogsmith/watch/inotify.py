"""Events of Linux. They are read by `watchdog.observers.inotify_c`, which is also used by watchdog's
observer.

The observer itself waits half a second for the second event of a move before it reports anything. It does not
report lost events, and watches every folder below the requested ones. That module is not documented, so
pyproject.toml requires one minor version of watchdog.
"""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Set
from dataclasses import dataclass

from watchdog.observers import inotify_c
from watchdog.observers.inotify_c import CallbackId, InotifyConstants, InotifyEvent, InotifyFD, Mask

from .hints import HintQueue, WatchError
from .tree import is_ignored_name

_WRITING = InotifyConstants.IN_CREATE | InotifyConstants.IN_MODIFY
_ENDED = (
    InotifyConstants.IN_CLOSE_WRITE
    | InotifyConstants.IN_MOVE
    | InotifyConstants.IN_DELETE
    | InotifyConstants.IN_DELETE_SELF
    | InotifyConstants.IN_MOVE_SELF
)
# without events for opening and reading files, and for changes of times and permissions
_MASK = Mask(
    _WRITING
    | _ENDED
    | InotifyConstants.IN_ONLYDIR
    | InotifyConstants.IN_DONT_FOLLOW
    | InotifyConstants.IN_EXCL_UNLINK
)
_NO_WATCH = -1
"""Return value of `add_callback` for an unreadable folder."""
_LIMITS = {
    errno.ENOSPC: "the limit fs.inotify.max_user_watches is reached",
    errno.EMFILE: "the limit fs.inotify.max_user_instances is reached",
    errno.ENFILE: "too many files are open",
    errno.ENOMEM: "the kernel is out of memory",
}
_QUIET = logging.NullHandler()


@dataclass(eq=False, slots=True)
class _Folder:
    """One watched folder. While a folder is being moved, it is watched under both names."""

    path: str
    inode: int
    hints: HintQueue
    watch: int = _NO_WATCH
    has_ended: bool = False
    """Whether the kernel has ended the watch."""

    def on_event(self, event: InotifyEvent) -> None:
        """Add a hint for an event. watchdog's thread calls this."""
        if not event.name:
            # the folder was deleted or moved; a new one may have its name
            self.hints.add(self.path)
            return
        name = os.fsdecode(event.name)
        if not is_ignored_name(name):
            writing = bool(event.mask & _WRITING) and not event.is_directory
            self.hints.add(f"{self.path}/{name}", writing=writing)

    def on_watch_deleted(self, wd: int) -> None:
        """Record that the kernel ended the watch. watchdog's thread calls this."""
        self.has_ended = True

    def on_queue_overflow(self) -> None:
        """Add a hint that events were lost. watchdog's thread calls this."""
        self.hints.add_overflow()


class InotifyNotifier:
    """An inotify instance and the thread that reads it. Each folder has its own watch."""

    def __init__(self, notices: HintQueue) -> None:
        self._notices = notices
        self._folders: dict[str, _Folder] = {}
        # without a handler Python prints the warning about lost events, which we handle by comparing all
        # files
        inotify_c.logger.addHandler(_QUIET)
        try:
            self._inotify = InotifyFD()
        except OSError as error:
            raise WatchError(_reason(error)) from error
        self._inotify.start()

    def watch(self, folder: str, inode: int, *, alone: bool) -> None:
        """Watch a folder, see `Notifier`. A folder that was deleted or is unreadable is skipped."""
        known = self._folders.get(folder)
        if known is not None and known.inode == inode and not known.has_ended:
            return
        new = _Folder(folder, inode, self._notices)
        try:
            new.watch = self._inotify.add_callback(os.fsencode(folder), _MASK, new, _id(new))
        except OSError as error:
            if error.errno in _LIMITS:
                raise WatchError(_reason(error)) from error
            return
        if new.watch == _NO_WATCH:
            self._drop(new)
            return
        self._folders[folder] = new
        if known is not None:
            self._drop(known)

    def keep_only(self, folders: Set[str]) -> None:
        """Stop watching all folders except these; see `Notifier`."""
        for folder in self._folders.keys() - folders:
            self._drop(self._folders.pop(folder))

    def stop(self) -> None:
        """Release all resources, see `Notifier`."""
        self._inotify.stop()
        self._inotify.join()

    def _drop(self, folder: _Folder) -> None:
        """Remove the callback of a folder. The last callback of a watch ends the watch."""
        if not folder.has_ended:
            self._inotify.remove_callbacks([(inotify_c.WatchDescriptor(folder.watch), _id(folder))])


def _id(folder: _Folder) -> CallbackId:
    return CallbackId(id(folder))


def _reason(error: OSError) -> str:
    return _LIMITS.get(error.errno or 0, error.strerror or str(error))
