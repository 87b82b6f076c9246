"""What a result depends on besides its page: environment, settings, files of the site."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from msgspec import Struct

from ..model.cells import FigureSettings
from ..model.paths import join_path
from .keys import DEFAULT_FIGURES

_NOT_SOURCES = frozenset((".blogsmith", ".git", "_freeze"))
"""Folders at the root that no pattern of `depends` reaches."""
_SMALL = 1024 * 1024
"""Bytes below which a file is read in one piece, which is several times faster."""


class Environment(Struct, frozen=True):
    """Handed in, so that judging a page needs neither disk nor clock."""

    environment: Mapping[str, str]
    """The declared variables that are set, with their values."""
    digest_of: Callable[[str], str | None]
    """Path relative to the site root → hex SHA-256 of the file; None if it is gone."""
    matches: Callable[[str, PurePosixPath], tuple[str, ...]]
    """Pattern of `depends`, and the post it stands in → files it matches, relative to the site root."""
    figures: FigureSettings = DEFAULT_FIGURES
    versions: Mapping[str, str] | None = None
    """Import name → version installed; given only if other versions make a result stale."""
    running: bool = False
    """Whether cells may run: only then `freeze: false` makes a result stale."""


@dataclass(slots=True)
class FileDigests:
    """Files of the site as they were when first asked for; lives as long as one build."""

    root: Path
    _digests: dict[str, str | None] = field(default_factory=dict)
    _matches: dict[tuple[str, PurePosixPath], tuple[str, ...]] = field(default_factory=dict)

    def digest(self, path: str) -> str | None:
        """Hex SHA-256 of a file, read once; None if there is no regular file."""
        if path not in self._digests:
            self._digests[path] = _file_digest(self.root / path)
        return self._digests[path]

    def matches(self, pattern: str, post: PurePosixPath) -> tuple[str, ...]:
        """Files that `pattern`, relative to the post, matches; relative to the site root."""
        key = (pattern, post.parent)
        if key not in self._matches:
            self._matches[key] = _glob(self.root, pattern, post.parent)
        return self._matches[key]


def _file_digest(file: Path) -> str | None:
    try:
        status = file.stat()
        # not a device or a pipe, whose reading may never end
        if not stat.S_ISREG(status.st_mode):
            return None
        with file.open("rb", buffering=0) as stream:
            if status.st_size < _SMALL:
                return hashlib.sha256(stream.readall()).hexdigest()
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return None


def _glob(root: Path, pattern: str, folder: PurePosixPath) -> tuple[str, ...]:
    path = join_path(folder, pattern)
    parts = [*path.parts] if path else []
    if not parts or parts[0] in _NOT_SOURCES:
        return ()
    if parts[-1] == "**":  # pathlib takes that for folders only
        parts.append("*")
    try:
        found = [file.relative_to(root).as_posix() for file in root.glob("/".join(parts)) if file.is_file()]
    except (OSError, ValueError):
        return ()
    return tuple(sorted({path for path in found if path.partition("/")[0] not in _NOT_SOURCES}))
