"""States of paths that a session depends on, in addition to the files that it reads: paths that it queried,
folders that it listed, and files outside the site.

A key is a path relative to the site root. Outside the site, it starts with `/`, or with `~/` in the user's
home folder. The key of a listed folder ends in `/`, and the key of a pattern contains `*`, `?` or `[`. A
state is `none`, `folder`, `size` and a number of bytes, `link` and a target, or `names` and the time when a
listed folder last changed. The builder computes digests of files and names.
"""

from __future__ import annotations

import os
from os import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

NONE, FOLDER = "none", "folder"
_SYSTEM = (
    "/dev/",
    "/proc/",
    "/sys/",
    "/run/",
    "/etc/",
    "/usr/",
    "/lib/",
    "/lib64/",
    "/bin/",
    "/opt/",
    "/var/",
)
"""Folders outside the site whose files matter only if the author's own code names them."""
_LIVE = ("/proc/", "/sys/")
"""Folders of the system whose content always changes."""
_IGNORED = ("/dev/", "/run/")
_SHARED_MEMORY = "/dev/shm/"
"""Folder for shared memory. Unlike those of other system folders, its files always matter."""
_MAX_OUTSIDE = 1000
LATER, WITHDRAWN, UNSURE = "", "-", "?"
"""Values sent instead of a state.

`LATER`: the builder must compute it at the end of the session. `WITHDRAWN`: the session has changed the path
itself. `UNSURE` is a prefix of a state and means that another program may have changed the path since.
"""


class PathStates:
    """States of paths that one session found.

    name_of: converts an absolute path to its name relative to the site root; empty if it is ignored.
    is_installed: returns whether a path for which `name_of` returns an empty string belongs to Python or to a
    package. ignored: folders, each with a final slash, that contain no sources. root: site root. folder:
    working folder at the start.
    home: home folder of the user; empty if unknown.
    """

    def __init__(
        self,
        name_of: Callable[[str], str],
        is_installed: Callable[[str], bool],
        ignored: tuple[str, ...],
        root: str,
        folder: str,
        home: str,
    ) -> None:
        self._name_of = name_of
        self._is_installed = is_installed
        self._ignored = ignored
        self._roots = (os.path.normpath(root), os.path.realpath(root))
        self._folder = os.path.normpath(folder) + "/"
        self._home = os.path.normpath(home) + "/" if home and home != "/" else ""
        self._known: dict[str, str] = {}
        self._new: dict[str, str] = {}
        self._changed: set[str] = set()
        """Keys of paths and folders that the session may have changed, including those not queried yet."""
        self._outside = 0
        self.is_cut = False
        """Whether the session used files outside the site that are not recorded."""

    def key_of(self, path: str) -> str:
        """Return the key of a path. Empty if results do not depend on it."""
        path = os.path.normpath(path)
        if path in self._roots:
            return "."
        if f"{path}/".startswith(self._ignored):
            return ""
        name = self._name_of(path)
        if name or self._is_installed(path):
            return name
        if self._home and path.startswith(self._home):
            return f"~/{path[len(self._home) :]}"
        return "" if path.startswith(_IGNORED) and not path.startswith(_SHARED_MEMORY) else path

    def is_quiet(self, path: str) -> bool:
        """Return whether a path outside the site matters only if the author's own code names it.

        These are files of the system, and hidden files and folders of the user, where packages keep settings
        and caches.
        """
        if self._home and path.startswith(self._home):
            return path[len(self._home) :].startswith(".")
        return path.startswith(_SYSTEM) and not path.startswith(_SHARED_MEMORY)

    def look(self, path: str, state: str) -> None:
        """Add the state of a queried path."""
        key = self.key_of(path)
        # Folders that contain the post always exist.
        is_known = state == FOLDER and self._folder.startswith(os.path.normpath(path) + "/")
        if key and not is_known and not any(character in key for character in "*?["):
            self._add(key, state)

    def list_folder(self, path: str, stamp: str) -> None:
        """Add a folder whose names were listed. stamp: time of its last change in ns, before the names were
        read."""
        key = self.key_of(path)
        if key:
            self._add(f"{key}/", f"names {stamp}")

    def match(self, pattern: str) -> None:
        """Add a pattern whose matches were listed. pattern: absolute path. If the searched folder is outside
        the site, only set `is_cut`, since a search there may be endless."""
        folder = pattern
        while any(character in folder for character in "*?["):
            folder = folder.rpartition("/")[0]
        key = self.key_of(folder or "/")
        if key[:1] in ("~", "/"):
            self.is_cut = True
        elif key:
            rest = pattern[len(folder) :]
            self._add(rest.lstrip("/") if key == "." else key + rest, LATER)

    def use_outside(self, path: str) -> None:
        """Add a file outside the site that was read or imported."""
        key = self.key_of(path)
        if key and key not in self._known:
            self._outside += 1
            self.is_cut = self.is_cut or self._outside > _MAX_OUTSIDE
            if self._outside <= _MAX_OUTSIDE:
                self._add(key, LATER)

    def change(self, path: str) -> None:
        """Note that the session changes a path. The session's own changes do not make a result stale."""
        key, parent = self.key_of(path), self.key_of(path.rpartition("/")[0])
        self._change(key, WITHDRAWN)
        self._change(f"{parent}/" if parent else "", LATER)

    def _change(self, key: str, state: str) -> None:
        if key and key not in self._changed:
            self._changed.add(key)
            if key in self._known:
                self._new[key] = state

    def change_all(self) -> None:
        """Note that another program, which may change any path, has started."""
        for key, state in self._known.items():
            if key not in self._changed and state:
                self._new[key] = UNSURE + state

    def is_written(self, key: str) -> bool:
        """Return whether the session itself has changed a path."""
        return key in self._changed

    def take_new(self) -> dict[str, str]:
        """Map the key of each path to its state, for paths that are new since the last call. An empty state
        must be computed by the builder."""
        new, self._new = self._new, {}
        return new

    def _add(self, key: str, state: str) -> None:
        if key in self._known:
            return
        self._known[key] = state
        if key not in self._changed:
            self._new[key] = state
        elif key.endswith("/"):
            self._new[key] = LATER


def is_live(path: str) -> bool:
    """Return whether the content of a file describes the current state of the machine."""
    return path.startswith(_LIVE)


def state_of_status(status: Any, path: str) -> str:
    """Return the state of a path from its `os.stat`; empty for devices and other special files. status: None
    if the path does not exist."""
    if status is None:
        return NONE
    kind = status.st_mode & 0o170000
    if kind == 0o040000:
        return FOLDER
    if kind == 0o120000:
        try:
            return f"link {os.readlink(path)}"  # noqa: PTH115 - pathlib costs 5 ms
        except OSError:
            return ""
    return f"size {status.st_size}" if kind == 0o100000 else ""


def folder_stamp(path: str) -> str:
    """Return the time of the last change of a folder in ns; empty if it does not exist."""
    try:
        return str(stat(path).st_mtime_ns)  # noqa: PTH116
    except (OSError, ValueError):
        return ""
