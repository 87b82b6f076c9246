"""The text of a bibliography or a style of citations, which may lie anywhere in the site but in the output.

A page names it by a path: beside the page, else from the root of the site. Nothing outside the site is read,
no hidden file, and nothing that is no regular file.
"""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from msgspec import Struct

from ..base.diagnostics.model import SiteError
from ..base.patterns import lazy_pattern
from ..base.storage.stamps import FileStamp, stamp_of
from ..model.decode import decode, normalize_line_ends
from ..model.paths import join_path

MAX_BYTES = 20_000_000
_OF_HOME = lazy_pattern(r"~|[A-Za-z]:[\\/]")
"""Start of a path in a home folder, or of one on Windows."""


class TextFile(Struct, frozen=True):
    """A file that was read, or why it was not."""

    text: str = ""
    digest: str = ""
    """Hex SHA-256 of its bytes."""
    problem: str = ""
    """In the author's terms; empty if it was read."""
    is_outside: bool = False
    """The problem: the file is outside the site."""


def candidate_paths(written: str, page: PurePosixPath | None) -> Iterator[PurePosixPath]:
    """Where a path that an author wrote may lead, from the root of the site; the first that is there counts.

    page: the file that names it; None: the settings do.
    """
    path = PurePosixPath(written)
    folders = [PurePosixPath()] if path.is_absolute() or page is None else [page.parent, PurePosixPath()]
    for folder in (*folders, PurePosixPath("content")):
        found = join_path(folder, written)
        if found is not None:
            yield found


def is_outside_site(root: Path, written: str, page: PurePosixPath | None) -> bool:
    """Return whether a path that an author wrote leads out of the site.

    A path that begins with a slash is one of the machine if the site lacks its first folder. Files outside
    the site are not looked up. page: as in `candidate_paths`.
    """
    if _OF_HOME.match(written):
        return True
    parts = PurePosixPath(written).parts
    if parts[:1] == ("/",):
        return len(parts) > 2 and not (root / parts[1]).exists()
    return join_path(page.parent if page else PurePosixPath(), written) is None


def file_stamp(root: Path, path: PurePosixPath) -> FileStamp | None:
    """What tells of a change; None if there is no file."""
    try:
        return stamp_of((root / path).stat(), with_changed=True)
    except (OSError, ValueError):
        return None


def open_text_file(text: str) -> TextFile:
    """A file that an editor has open."""
    data = text.encode("utf-8", "replace")
    return TextFile(normalize_line_ends(text.removeprefix("\ufeff")), hashlib.sha256(data).hexdigest())


def read_text_file(root: Path, output: str, path: PurePosixPath) -> TextFile | None:
    """The file at a path relative to the root; None if there is none."""
    try:
        base = root.resolve()
        file = (base / path).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        return None
    if not file.is_relative_to(base):
        return TextFile(problem=f'"{path}" is a link to a file outside the site', is_outside=True)
    inside = file.relative_to(base)
    if any(part.startswith(".") for part in inside.parts) or inside.is_relative_to(output):
        return TextFile(problem=f"{path} is hidden, or part of the built site")
    try:
        status = file.stat()
        if not stat.S_ISREG(status.st_mode):
            return TextFile(problem=f"{path} is no file")
        if status.st_size > MAX_BYTES:
            return TextFile(problem=f"{path} is larger than {MAX_BYTES // 1_000_000} MB")
        data = file.read_bytes()
        text = normalize_line_ends(decode(data, str(path)).removeprefix("\ufeff"))
    except SiteError as error:
        return TextFile(problem=f"{path}: {error.diagnostics[0].message}")
    except OSError as error:
        return TextFile(problem=f"{path} cannot be read: {error.strerror or type(error).__name__}")
    return TextFile(text, hashlib.sha256(data).hexdigest())
