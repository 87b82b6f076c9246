"""Which files and folders are watched: one walk through a folder.

The same names and links as a build takes, and no others: hidden ones, the output, packages of other tools and
virtual environments would only cost time. Paths are text here: a site may have ten thousand of them, and this
runs every few seconds.
"""

# Paths are text here: a site has thousands, and all are compared every few seconds.
# ruff: noqa: PTH116, PTH118

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ..base.storage.file_names import KEPT_HIDDEN, MAX_FOLDERS, is_litter
from ..base.storage.stamps import FileStamp
from ..base.storage.symlinks import LinkRefused, Links
from .fingerprint import watch_stamp

VIRTUAL_ENVIRONMENT = "pyvenv.cfg"
"""A folder that holds this is nobody's writing."""

Enter = Callable[[str, int], None]
"""Told a folder with links resolved, and its inode, just before its names are read."""


def is_passed_over(name: str) -> bool:
    """Whether nothing of this name is watched."""
    return (is_litter(name) and name not in KEPT_HIDDEN) or name == "node_modules"


@dataclass(slots=True)
class FoundFile:
    """What a walk came across. Places are paths as the author sees them."""

    files: dict[str, FileStamp] = field(default_factory=dict)
    folders: dict[str, str] = field(default_factory=dict)
    """Place → where it really is."""
    links: dict[str, str] = field(default_factory=dict)
    """Place of a symbolic link → where it leads, also if nothing is there yet."""
    linked_folders: bool = False
    """Whether one of the links leads to a folder."""


@dataclass(slots=True)
class Walk:
    """One walk below one of the watched folders."""

    top: str
    """The watched folder, links resolved: nothing outside is looked at."""
    outputs: frozenset[str]
    """Folders not to enter, links resolved."""
    enter: Enter
    found: FoundFile = field(default_factory=FoundFile)
    links: Links = field(init=False)

    def __post_init__(self) -> None:
        self.links = new_links(self.top)

    def folder(self, place: str, real: str, above: Sequence[str] = ()) -> None:
        """Everything at and below a folder; above: the folders that lead there, links resolved."""
        if real in self.outputs or len(above) > MAX_FOLDERS:
            return
        try:
            # in this order: what comes after the listing makes an event
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
                # a build walks through each folder of the root on its own terms, and not through all of them
                self.links = new_links(self.top)
            if not is_passed_over(entry.name):
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
            # gone since it was listed, which makes an event
            return

    def _link(self, place: str, link: str, above: Sequence[str]) -> None:
        target = follow_link(link, above, self.links, self.outputs)
        aim = target or aim_inside(link, self.top)
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
    """The rules for symbolic links below a folder, none followed yet."""
    # there may be several folders of output, which `follow_link` looks at
    return Links(Path(top), output=".blogsmith")


def follow_link(link: str, above: Sequence[str], links: Links, outputs: frozenset[str]) -> str | None:
    """Where a symbolic link leads if a build follows it; above: the folders that lead to it, resolved."""
    try:
        # of this path only the name is read: where its folder is, `above` says
        target = str(links.resolve(PurePosixPath(link), tuple(map(Path, above))))
    except (LinkRefused, OSError):
        return None
    return None if any(is_below(target, output) for output in outputs) else target


def is_below(place: str, folder: str) -> bool:
    """Whether a path is that of a folder or of something in it."""
    return place == folder or place.startswith(os.path.join(folder, ""))


def aim_inside(link: str, top: str) -> str | None:
    """Where a link would lead if something were there, provided that it is below `top`."""
    aim = os.path.realpath(link)
    return aim if aim.startswith(os.path.join(top, "")) else None
