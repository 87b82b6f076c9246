"""Selection of the files and folders to watch, by a walk through a folder, and their fingerprints.

The same names and links are followed as in a build. Hidden files, the output, packages of other tools and
virtual environments are skipped. Paths are strings, because a site may have ten thousand of them and this
runs every few seconds.

If a digest is known, it decides whether a file has changed. Size and times decide for files that are too
large to read at every save, and for files that have not been read yet.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ..base.storage.file_names import MAX_FOLDER_DEPTH, PUBLISHED_HIDDEN, is_temporary_name
from ..base.storage.stamps import FileStamp, make_stamp
from ..base.storage.symlinks import LinkRejectedError, Links

MAX_DIGESTED_BYTES = 8_000_000
"""Maximum size in bytes of a file that is digested. Reading and hashing takes about 1 ms per MB."""

_YOUNG_NS = 2_000_000_000
"""Resolution in nanoseconds of times on FAT, the coarsest file system in use. A second write within this time
may leave the stamp unchanged."""
_UNREADABLE = b""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The state of a file at one moment."""

    stamp: FileStamp
    digest: bytes | None
    """BLAKE2b digest of the content. None: the file was not read; empty: it could not be read."""
    is_uncertain: bool
    """Whether the bytes may change, or the file may become readable, without a change of `stamp`."""

    @property
    def size(self) -> int:
        """Size in bytes."""
        return self.stamp.size


def watch_stamp(status: os.stat_result) -> FileStamp:
    """Return a stamp that includes the change time, which programs cannot reset. It may differ without a
    change of the bytes; then the file is read once more."""
    return make_stamp(status, with_changed=True)


def unread_fingerprint(stamp: FileStamp) -> Fingerprint:
    """Return the fingerprint of a file by its stamp alone."""
    return Fingerprint(stamp, None, _is_young(stamp))


def read_fingerprint(file: str) -> Fingerprint | None:
    """Return the fingerprint of a regular file, with a digest unless it is large; None if there is none.

    Symbolic links are not followed.
    """
    try:
        status = os.lstat(file)
        if not stat.S_ISREG(status.st_mode):
            return None
        # a pipe may have replaced the file, and opening it must not wait
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return _unreadable(file)
    try:
        with open(descriptor, "rb", buffering=0) as opened:  # noqa: PTH123 - of a descriptor
            # before reading: a write during the read then changes the stamp
            stamp = watch_stamp(os.fstat(descriptor))
            small = stamp.size <= MAX_DIGESTED_BYTES
            digest = hashlib.blake2b(opened.read(), digest_size=16).digest() if small else None
    except OSError:
        return _unreadable(file)
    return Fingerprint(stamp, digest, _is_young(stamp))


def is_same(old: Fingerprint | None, new: Fingerprint | None) -> bool:
    """Return whether both have the same bytes, as far as they can show it."""
    if old is None or new is None:
        return old is new
    if old.digest is not None and new.digest is not None:
        return old.digest == new.digest
    return old.stamp.written == new.stamp.written


def _unreadable(file: str) -> Fingerprint | None:
    try:
        return Fingerprint(watch_stamp(os.lstat(file)), _UNREADABLE, True)
    except OSError:
        return None


def _is_young(stamp: FileStamp) -> bool:
    return abs(time.time_ns() - stamp.modified_ns) < _YOUNG_NS


# ruff: noqa: PTH116, PTH118


VIRTUAL_ENVIRONMENT = "pyvenv.cfg"
"""Name of a file that marks its folder as a virtual environment, which is skipped."""

Enter = Callable[[str, int], None]
"""Function that is called with the real path and inode of a folder before its entries are read."""


def is_ignored_name(name: str) -> bool:
    """Return whether files and folders of this name are not watched."""
    return (is_temporary_name(name) and name not in PUBLISHED_HIDDEN) or name == "node_modules"


@dataclass(slots=True)
class WalkResult:
    """The result of a walk. Places are paths as the author sees them."""

    files: dict[str, FileStamp] = field(default_factory=dict)
    folders: dict[str, str] = field(default_factory=dict)
    """Place of a folder, as the author sees its path → real path of the folder."""
    links: dict[str, str] = field(default_factory=dict)
    """Place of a symbolic link → its target, even if that does not exist yet."""
    linked_folders: bool = False
    """Whether a link points to a folder."""


@dataclass(slots=True)
class Walk:
    """A walk below one of the watched folders."""

    top: str
    """Real path of the watched folder. Nothing outside of it is visited."""
    outputs: frozenset[str]
    """Folders to skip, with links resolved."""
    enter: Enter
    found: WalkResult = field(default_factory=WalkResult)
    links: Links = field(init=False)

    def __post_init__(self) -> None:
        self.links = new_links(self.top)

    def folder(self, place: str, real: str, above: Sequence[str] = ()) -> None:
        """Visit a folder and everything below it. above: real paths of the folders above it."""
        if real in self.outputs or len(above) > MAX_FOLDER_DEPTH:
            return
        try:
            # in this order, because every change after the listing causes an event
            self.enter(real, os.lstat(real).st_ino)
            with os.scandir(real) as listed:
                entries = sorted(listed, key=lambda entry: entry.name)
        except OSError:
            return
        if any(entry.name == VIRTUAL_ENVIRONMENT for entry in entries):
            return
        self.found.folders[place] = real
        for entry in entries:
            if not above:
                # a build visits each top folder of the site separately, so a link may be followed again in
                # each
                self.links = new_links(self.top)
            if not is_ignored_name(entry.name):
                self._visit_entry(entry, os.path.join(place, entry.name), (*above, real))

    def _visit_entry(self, entry: os.DirEntry[str], place: str, above: Sequence[str]) -> None:
        try:
            if entry.is_symlink():
                self._link(place, entry.path, above)
            elif entry.is_dir(follow_symlinks=False):
                self.folder(place, entry.path, above)
            elif entry.is_file(follow_symlinks=False):
                self.found.files[place] = watch_stamp(entry.stat(follow_symlinks=False))
        except OSError:
            # the folder was removed since it was listed, which causes an event
            return

    def _link(self, place: str, link: str, above: Sequence[str]) -> None:
        target = follow_link(link, above, self.links, self.outputs)
        aim = target or inner_target(link, self.top)
        if aim is not None:
            self.found.links[place] = aim
        if target is None:
            return
        status = os.stat(target)
        if stat.S_ISDIR(status.st_mode):
            self.found.linked_folders = True
            self.folder(place, target, above)
        elif stat.S_ISREG(status.st_mode):
            self.found.files[place] = watch_stamp(status)


def new_links(top: str) -> Links:
    """Return an empty record of the links that a walk below `top` follows."""
    # there may be several output folders, which `follow_link` checks
    return Links(Path(top), output=".blogsmith")


def follow_link(link: str, above: Sequence[str], links: Links, outputs: frozenset[str]) -> str | None:
    """Return the target of a symbolic link that a build follows. above: real paths of folders above it."""
    try:
        # only the name of this path is used; `above` contains its folder
        target = str(links.resolve(PurePosixPath(link), tuple(map(Path, above))))
    except (LinkRejectedError, OSError):
        return None
    return None if any(is_below(target, output) for output in outputs) else target


def is_below(place: str, folder: str) -> bool:
    """Return whether a path is a folder or something in it."""
    return place == folder or place.startswith(os.path.join(folder, ""))


def inner_target(link: str, top: str) -> str | None:
    """Return the target of a link, which need not exist; None if it is not below `top`."""
    aim = os.path.realpath(link)
    return aim if aim.startswith(os.path.join(top, "")) else None
