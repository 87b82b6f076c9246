"""Symbolic links and Windows junctions: which are followed, and checks that a path stays within a folder.

A link to a file or folder of the site is followed. A link that points outside, to hidden files, to the output
or to nothing is rejected, so that building a stranger's site publishes none of your files. Each folder is
followed through a link at most once, which also ends every cycle.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from msgspec import Struct, field

from ..diagnostics.model import Severity

if TYPE_CHECKING:
    from pathlib import PurePosixPath


class LinkRejectedError(Exception):
    """A link is not followed; the message gives the author the reason."""

    def __init__(self, message: str, hint: str = "", severity: Severity = "error") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.severity: Severity = severity


class Links(Struct):
    """The links that are followed during one search of a site's folders."""

    root: Path
    """Site root, with links resolved."""
    output: str
    """Output folder, relative to the site root."""
    followed: dict[Path, PurePosixPath] = field(default_factory=dict)
    """Resolved folder → the first link that pointed to it."""

    def resolve(self, path: PurePosixPath, above: tuple[Path, ...]) -> Path:
        """Return the file that `path` (relative to the root) resolves to. LinkRejectedError or OSError if it
        cannot be used. above: the resolved folders above `path`, outermost first."""
        file = (above[-1] / path.name) if above else self.root / path
        if not file.is_symlink():
            return file
        target = self._site_target(file)
        if target.is_dir():
            self._enter(target, path, above)
        return target

    def _site_target(self, file: Path) -> Path:
        """Return the target of a link. LinkRejectedError if it is not a publishable part of the site."""
        hint = "copy the file here"
        try:
            target = file.resolve(strict=True)
        # Python before 3.13 raises RuntimeError for a link to itself
        except (OSError, RuntimeError) as error:
            raise LinkRejectedError("broken symbolic link", "remove it, or correct its target") from error
        if not target.is_relative_to(self.root):
            raise LinkRejectedError("symbolic link points outside the site", hint)
        inside = target.relative_to(self.root)
        if any(part.startswith(".") for part in inside.parts):
            raise LinkRejectedError("symbolic link points to a hidden file or folder", hint)
        if inside.is_relative_to(Path(self.output)):
            raise LinkRejectedError("symbolic link points into the output folder", hint)
        return target

    def _enter(self, target: Path, path: PurePosixPath, above: tuple[Path, ...]) -> None:
        if target in above or any(folder.is_relative_to(target) for folder in above):
            message = "symbolic link is not followed because it points to a folder that contains it"
            raise LinkRejectedError(message, severity="warning")
        first = self.followed.setdefault(target, path)
        if first != path:
            message = f'symbolic link is not followed because "{first}" points to the same folder'
            raise LinkRejectedError(message, "copy the folder", severity="warning")


_JUNCTION = 0xA0000003
"""Tag of a junction among Windows' reparse points: IO_REPARSE_TAG_MOUNT_POINT."""


class UnexpectedLinkError(OSError):
    """A symbolic link or junction is where one of our files or folders should be."""

    def __init__(self, path: str) -> None:
        super().__init__(errno.ELOOP, "a link is in the way", path)


def is_link(status: os.stat_result) -> bool:
    """Return whether a result of `os.lstat` describes a symbolic link or a junction."""
    return stat.S_ISLNK(status.st_mode) or getattr(status, "st_reparse_tag", 0) == _JUNCTION


def is_junction(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry for which `is_dir` is true is a junction."""
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
