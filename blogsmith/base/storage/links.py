"""Symbolic links and Windows junctions, and checks that a name or path stays within a folder."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import PurePosixPath

_JUNCTION = 0xA0000003
"""IO_REPARSE_TAG_MOUNT_POINT of Windows."""


class UnexpectedLinkError(OSError):
    """A symbolic link or junction is where one of our files or folders should be."""

    def __init__(self, path: str) -> None:
        super().__init__(errno.ELOOP, "a link is in the way", path)


def is_link(status: os.stat_result) -> bool:
    """Return whether a result of `os.lstat` describes a symbolic link or a junction."""
    return stat.S_ISLNK(status.st_mode) or getattr(status, "st_reparse_tag", 0) == _JUNCTION


def is_junction(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry that `is_dir` calls a folder is a junction."""
    return os.name == "nt" and is_link(entry.stat(follow_symlinks=False))


def is_name(name: str) -> bool:
    """Return whether a string is the name of a single entry of a folder, not a path."""
    return bool(name) and name not in (".", "..") and not any(sign in name for sign in ("/", "\0", os.sep))


def split_path(path: str | PurePosixPath) -> list[str]:
    """Return the names in a relative path, `["."]` if there are none. For an absolute path, or one with `..`,
    at least one of the names is invalid (see `is_name`)."""
    text = str(path)
    if text.startswith("/"):
        return [text]
    return [name for name in text.split("/") if name not in ("", ".")] or ["."]
