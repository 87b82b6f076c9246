"""Calculations on paths relative to the site root, as authors write them, without access to the disk."""

from __future__ import annotations

import posixpath
from pathlib import PurePosixPath


def join_path(folder: PurePosixPath, name: str) -> PurePosixPath | None:
    """Return the path of `name` as written in a file of `folder`, relative to the site root. None if the path
    is outside the root, or is the root itself."""
    parts = [*folder.parts]
    for part in PurePosixPath(name.lstrip("/")).parts:
        if part != "..":
            parts.append(part)
        elif parts:
            parts.pop()
        else:
            return None
    return PurePosixPath(*parts) if parts else None


def collapse_path(path: PurePosixPath | str) -> PurePosixPath:
    """Return a path without `.` and `..`. A `..` above the root is dropped."""
    return PurePosixPath(posixpath.normpath(f"/{path}").lstrip("/"))
