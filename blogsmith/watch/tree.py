"""The last known state of the watched files, and its comparison with the files on disk.

A *place* is a path as the author sees it. Events have real paths; with symbolic links, several places can
have the same real path. This module starts no threads and never waits.

A walk reads the same names and follows the same links as a build. Hidden files, the output, packages of other
tools and virtual environments are skipped. Paths are strings, because a site may have ten thousand of them
and a walk runs every few seconds. If a digest of a file is known, it decides whether the file has changed.
Size and times decide for files that are too large to read at every save, and for files that have not been
read yet.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ..base.storage.file_names import MAX_FOLDER_DEPTH, PUBLISHED_HIDDEN, is_temporary_name
from ..base.storage.links import LinkRejectedError, Links
from ..base.storage.stamps import FileStamp, make_stamp
from .hints import Notifier

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
    """Return a stamp that includes the change time, which programs cannot reset. The stamp may change
    although the bytes do not; the file is then read once more."""
    return make_stamp(status, with_changed=True)


def unread_fingerprint(stamp: FileStamp) -> Fingerprint:
    """Return the fingerprint of a file that has not been read. It consists of the stamp alone."""
    return Fingerprint(stamp, None, _is_young(stamp))


def read_fingerprint(file: str) -> Fingerprint | None:
    """Return the fingerprint of a regular file; None if there is no such file. It contains a digest unless
    the file is large.

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
    """Return whether the file has the same bytes in both states. Compare digests if both have one, otherwise
    stamps."""
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
    """Place of a folder → its real path."""
    links: dict[str, str] = field(default_factory=dict)
    """Place of a symbolic link → its target, which need not exist yet."""
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
    """Return the target of a symbolic link; None if a build does not follow the link. above: real paths of
    folders above it."""
    try:
        # only the name of this path is used; `above` contains its folder
        target = str(links.resolve(PurePosixPath(link), tuple(map(Path, above))))
    except (LinkRejectedError, OSError):
        return None
    return None if any(is_below(target, output) for output in outputs) else target


def is_below(place: str, folder: str) -> bool:
    """Return whether a path is `folder` itself or is inside it."""
    return place == folder or place.startswith(os.path.join(folder, ""))


def inner_target(link: str, top: str) -> str | None:
    """Return the target of a link, which need not exist; None if it is not below `top`."""
    aim = os.path.realpath(link)
    return aim if aim.startswith(os.path.join(top, "")) else None


# Paths are strings here: a site has thousands of files, and all are compared every few seconds.
# ruff: noqa: PTH112, PTH114, PTH116, PTH118, PTH119, PTH120


LEARNED_BYTES = 256_000
"""Maximum size in bytes of a file that is read while nothing else happens. If the file is later saved without
a change, this is then recognized. The limit includes posts and stylesheets, but not galleries."""

ChangedStamps = dict[str, FileStamp | None]
"""Places to check, each with its current stamp; None if the file is gone."""


@dataclass(slots=True)
class WatchedTree:
    """All watched files. Used by one thread at a time."""

    root: str
    """Absolute path of the site."""
    outputs: frozenset[str]
    """Folders that are not watched, with links resolved."""
    notifier: Notifier | None = None
    """Watches every folder; None if there are no events."""
    extra_folders: frozenset[str] = frozenset()
    """Real paths of further watched folders, as passed to the notifier."""
    fingerprints: dict[str, Fingerprint] = field(default_factory=dict)
    """Place of each file → its fingerprint."""
    _unread: list[str] = field(default_factory=list)
    """Places of files that have not been read yet."""
    _tops: dict[str, str] = field(default_factory=dict)
    """Requested path → the same path with links resolved. The site root is first."""
    _folders: dict[str, str] = field(default_factory=dict)
    """Place of every folder → its real path."""
    _links: dict[str, str] = field(default_factory=dict)
    """Place of every symbolic link → its target. Includes links that are not followed yet because their
    targets do not exist."""
    _linked_folders: bool = False

    def __post_init__(self) -> None:
        self._tops[self.root] = os.path.realpath(self.root)

    @property
    def exists(self) -> bool:
        """Whether the root exists."""
        return self.root in self._folders

    @property
    def is_fully_read(self) -> bool:
        """Whether `read_unread_files` has nothing to do."""
        return not self._unread

    def reset(self) -> None:
        """Record the current state of all files, without reporting changes."""
        self._update(self.scan())

    def watch_also(self, places: Iterable[str]) -> None:
        """Watch further absolute paths, beginning with their current state. A folder includes everything
        below it."""
        for place in places:
            if place not in self._tops and place not in self._folders and not self._is_inside(place):
                self._tops[place] = os.path.realpath(place)
                self._update(self._scan_top(place))

    def scan(self) -> ChangedStamps:
        """Compare the stamps of all files. Return the places whose stamps have changed."""
        self._linked_folders = False
        differing: ChangedStamps = {}
        for place in list(self._tops):
            self._tops[place] = os.path.realpath(place)
            differing |= self._scan_top(place)
        return differing

    def affected_files(self, reals: Iterable[str]) -> set[str]:
        """Return the files that may have changed after events at these real paths."""
        files: set[str] = set()
        folders: set[str] = set()
        for place in (place for real in reals for place in self.places(real)):
            if os.path.basename(place) == VIRTUAL_ENVIRONMENT:
                folders.add(os.path.dirname(place))
            elif place in self._folders or os.path.isdir(place):
                folders.add(place)
            else:
                files.add(place)
        outermost = [folder for folder in folders if folders.isdisjoint(_parents(folder))]
        if any(map(self._needs_all, outermost)):
            return files | self.scan().keys()
        return files.union(*map(self._scan_folder, outermost))

    def places(self, real: str) -> Iterator[str]:
        """Yield every watched place of a real path."""
        for names in (self._tops, self._links):
            for name, leads_to in names.items():
                if is_below(real, leads_to):
                    place = name + real[len(leads_to) :]
                    if place in self._tops or self._is_inside(place):
                        yield place

    def read_fingerprint(self, place: str) -> Fingerprint | None:
        """Return the current fingerprint of the file at a place; None if there is none."""
        if place in self._tops:
            return read_fingerprint(os.path.realpath(place))
        folder = self._folders.get(os.path.dirname(place))
        if folder is None:
            return None
        real = os.path.join(folder, os.path.basename(place))
        if not os.path.islink(real):
            self._links.pop(place, None)
            return read_fingerprint(real)
        above = self._parent_folders(place)
        target = follow_link(real, above, new_links(above[0]), self.outputs)
        aim = target or inner_target(real, above[0])
        if aim is not None:
            self._links[place] = aim
        return read_fingerprint(target) if target else None

    def read_unread_files(self, enough: Callable[[], bool]) -> set[str]:
        """Read files that have not been read yet, until `enough()` is true. Return the files that have
        changed since their stamps were taken."""
        changed = set()
        while self._unread and not enough():
            place = self._unread.pop()
            known = self.fingerprints.get(place)
            if known is None or known.digest is not None:
                continue
            new = self.read_fingerprint(place)
            if new is not None and new.stamp == known.stamp:
                self.fingerprints[place] = new
            else:
                changed.add(place)
        return changed

    def _update(self, differing: ChangedStamps) -> None:
        for place, stamp in differing.items():
            if stamp is None:
                self.fingerprints.pop(place, None)
                continue
            self.fingerprints[place] = found = unread_fingerprint(stamp)
            if found.is_uncertain and (read := self.read_fingerprint(place)) is not None:
                self.fingerprints[place] = read
            elif found.size <= LEARNED_BYTES:
                self._unread.append(place)

    def _is_inside(self, place: str) -> bool:
        """Return whether a walk would reach this place if a file existed there."""
        return os.path.dirname(place) in self._folders and not is_ignored_name(os.path.basename(place))

    def _parent_folders(self, place: str) -> tuple[str, ...]:
        """Return the real paths of the folders above a place, outermost first."""
        folders = [self._folders[parent] for parent in _parents(place) if parent in self._folders]
        return tuple(reversed(folders))

    def _needs_all(self, folder: str) -> bool:
        """Return whether a comparison of this folder alone may be wrong, so that all files must be
        compared."""
        # a folder is followed through one link only, and only a walk through everything shows which one
        return folder in self._tops or self._linked_folders or os.path.islink(folder)

    def _scan_folder(self, place: str) -> ChangedStamps:
        """Compare a folder and everything below it. `place` may be that of a removed folder. Return the
        places whose stamps have changed."""
        above = self._parent_folders(place)
        walk = Walk(above[0], self.outputs, self._enter)
        walk.folder(place, os.path.join(above[-1], os.path.basename(place)), above)
        return self.scan() if walk.found.linked_folders else self._replace(place, walk.found)

    def _scan_top(self, place: str) -> ChangedStamps:
        real = self._tops[place]
        walk = Walk(real, self.outputs, self._enter)
        walk.folder(place, real)
        if not walk.found.folders and place != self.root:
            walk.found.files |= self._single_file(place, real)
        self._linked_folders |= walk.found.linked_folders
        return self._replace(place, walk.found)

    def _single_file(self, place: str, real: str) -> dict[str, FileStamp]:
        try:
            folder = os.path.dirname(real)
            if self.notifier is not None:
                self.notifier.watch(folder, os.stat(folder).st_ino, alone=True)
            status = os.lstat(real)
        except OSError:
            return {}
        return {place: watch_stamp(status)} if stat.S_ISREG(status.st_mode) else {}

    def _enter(self, real: str, inode: int) -> None:
        if self.notifier is not None:
            # subfolders of the root that are not watched must not cost time
            self.notifier.watch(real, inode, alone=real == self._tops[self.root])

    def _replace(self, place: str, found: WalkResult) -> ChangedStamps:
        inner = [top for top in self._tops if top != place and is_below(top, place)]

        def outside(other: str) -> bool:
            return not is_below(other, place) or any(is_below(other, top) for top in inner)

        self._folders = {p: real for p, real in self._folders.items() if outside(p)} | found.folders
        self._links = {p: real for p, real in self._links.items() if outside(p)} | found.links
        if self.notifier is not None:
            files = {os.path.dirname(real) for top, real in self._tops.items() if top not in self._folders}
            self.notifier.keep_only({*self._folders.values(), *files, *self.extra_folders})
        differing: ChangedStamps = dict.fromkeys(
            p for p in self.fingerprints if p not in found.files and not outside(p)
        )
        return differing | {p: stamp for p, stamp in found.files.items() if self._differs(p, stamp)}

    def _differs(self, place: str, stamp: FileStamp) -> bool:
        known = self.fingerprints.get(place)
        return known is None or known.is_uncertain or known.stamp != stamp


def _parents(place: str) -> Iterator[str]:
    while (parent := os.path.dirname(place)) != place:
        yield parent
        place = parent
