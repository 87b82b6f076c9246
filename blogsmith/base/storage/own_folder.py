"""`.blogsmith/` of a site, and files that only this user may write.

The cache is in another folder: see `cache_file.py`.

Anyone who can write the record of trust or the cache decides which code this user runs. So blogsmith sets the
permissions of these files independently of the umask. As OpenSSH does, it does not read a file that another
user owns or may write.
"""

from __future__ import annotations

import os
import shlex
import stat
import sys
from pathlib import Path

from .folder import Folder, open_folder

FOLDER_MODE = 0o700
FILE_MODE = 0o600
_OTHERS_WRITE = 0o022


class UnsafeFileError(Exception):
    """A file or folder of this user that must not be read. `str` gives the reason and the remedy."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason}; run `{remedy}`")
        self.reason = reason
        self.remedy = remedy
        """Command of a shell that repairs the permissions."""


def check_private(status: os.stat_result, place: str) -> None:
    """Raise UnsafeFileError if a file or folder is a link, or if another user owns it or may write to it.
    status: result of `os.lstat` for `place`."""
    if sys.platform == "win32":
        return
    path = shlex.quote(place)
    if stat.S_ISLNK(status.st_mode) or (stat.S_ISREG(status.st_mode) and status.st_nlink > 1):
        raise UnsafeFileError(f'invalid file "{place}": links are not allowed', f"rm {path}")
    if status.st_uid != os.geteuid():
        raise UnsafeFileError(
            f'invalid owner of "{place}": another user', f"sudo chown {os.geteuid()} {path}"
        )
    if status.st_mode & _OTHERS_WRITE:
        raise UnsafeFileError(
            f'invalid permissions of "{place}": other users can write to it', f"chmod go-w {path}"
        )


OWN_FOLDER = ".blogsmith"
"""Folder in the site root for files that belong to this machine only."""


def open_own_folder(root: Path | str, kind: str = ".", *, make: bool = True) -> Folder:
    """Open `.blogsmith/` of a site, or the folder `kind` in it. OSError if that fails. make: create missing
    folders."""
    with open_folder(root) as site:
        return site.enter(f"{OWN_FOLDER}/{kind}", make=make)
