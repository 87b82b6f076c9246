"""State of everything that results depend on outside their page: environment variables, settings, files of
the site."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from msgspec import Struct

from ..base.storage.path_states import NONE, OWN_NAMES, is_outside, read_state
from ..model.cells import FigureSettings
from ..model.paths import join_path
from .keys import DEFAULT_FIGURES

_EXCLUDED_FOLDERS = frozenset((".blogsmith", ".git", "_freeze"))
"""Folders in the site root that no pattern of `depends` matches."""
_SMALL_BYTES = 1024 * 1024
"""Size in bytes below which a file is read in one call, which is several times faster."""


class Environment(Struct, frozen=True):
    """Values and functions that give the state of dependencies outside the page. They are parameters, so that
    a page can be judged without access to disk and clock."""

    environment: Mapping[str, str]
    """Declared variables that are set, with their values."""
    digest_of: Callable[[str], str | None]
    """Function from a path relative to the site root to the hex SHA-256 of the file. None if the file does
    not exist."""
    matches: Callable[[str, PurePosixPath], tuple[str, ...]]
    """Function from a `depends` pattern and the path of its post to matching files, relative to the site
    root."""
    state_of: Callable[[str, str], str]
    """Function that returns the current state of a path. Arguments: key of `Uses.states`, and its recorded
    state."""
    figures: FigureSettings = DEFAULT_FIGURES
    versions: Mapping[str, str] | None = None
    """Import name → installed version. None if a changed version does not make a result stale."""
    passed: Mapping[str, str | None] = MappingProxyType({})
    """Environment variable that cells may read although the site does not declare it → its value; None if it
    is not set."""
    ignored: frozenset[str] = OWN_NAMES
    """Names in the site root that are left out when a folder's names are compared."""
    running: bool = False
    """Whether cells may run. Only then does `freeze: false` make a result stale."""


@dataclass(slots=True)
class FileDigests:
    """Digests of the site's files, each computed at the first request. Valid for one build."""

    root: Path
    ignored: frozenset[str] = OWN_NAMES
    """Names in the site root that are left out when a folder's names are compared."""
    reads_outside: Callable[[], bool] = lambda: False
    """Function that returns whether files outside the site may be read. A record from another person could
    name any file."""
    _digests: dict[str, str | None] = field(default_factory=dict)
    _matches: dict[tuple[str, PurePosixPath], tuple[str, ...]] = field(default_factory=dict)

    def digest(self, path: str) -> str | None:
        """Return the hex SHA-256 of a file. None if it is not a regular file. Each file is read only once."""
        if path not in self._digests:
            self._digests[path] = _file_digest(self.root / path)
        return self._digests[path]

    def state(self, key: str, like: str) -> str:
        """Return the current state of a path, in the form of its recorded state `like`. key: key of
        `Uses.states`. Return NONE for a path outside the site that may not be read; the caller then does not
        compare it."""
        if is_outside(key) and not self.reads_outside():
            return NONE
        return read_state(self.root, key, like, self.ignored)

    def matches(self, pattern: str, post: PurePosixPath) -> tuple[str, ...]:
        """Return the files that match `pattern`, which is relative to the post. Results are relative to the
        site root."""
        key = (pattern, post.parent)
        if key not in self._matches:
            self._matches[key] = _glob(self.root, pattern, post.parent)
        return self._matches[key]


def _file_digest(file: Path) -> str | None:
    try:
        status = file.stat()
        # Reading a device or a pipe may never end.
        if not stat.S_ISREG(status.st_mode):
            return None
        with file.open("rb", buffering=0) as stream:
            if status.st_size < _SMALL_BYTES:
                return hashlib.sha256(stream.readall()).hexdigest()
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (OSError, ValueError):  # ValueError: the path contains a NUL
        return None


def _glob(root: Path, pattern: str, folder: PurePosixPath) -> tuple[str, ...]:
    path = join_path(folder, pattern)
    parts = [*path.parts] if path else []
    if not parts or parts[0] in _EXCLUDED_FOLDERS:
        return ()
    if parts[-1] == "**":  # pathlib matches only folders with a final `**`
        parts.append("*")
    try:
        found = [file.relative_to(root).as_posix() for file in root.glob("/".join(parts)) if file.is_file()]
    except (OSError, ValueError):
        return ()
    return tuple(sorted({path for path in found if path.partition("/")[0] not in _EXCLUDED_FOLDERS}))
