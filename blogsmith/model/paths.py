"""Paths of files as texts name them, reckoned from the root of a site: no file is looked at."""

from __future__ import annotations

import posixpath
from pathlib import PurePosixPath


def join_path(folder: PurePosixPath, name: str) -> PurePosixPath | None:
    """`name` as written in a file of `folder`; None if it leads out of the root, or is the root."""
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
    """A path without `.` and `..`; what leads out of the root ends there."""
    return PurePosixPath(posixpath.normpath(f"/{path}").lstrip("/"))
