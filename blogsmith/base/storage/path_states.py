"""States of the paths that a recorded result depends on, as strings that can be compared later.

Each state is stored under a key, the path relative to the site root. Keys of paths outside the site start
with `/`, or with `~/` in the user's home folder. A key that ends in `/` means the names in a folder, and a
key with `*`, `?` or `[` the names that match it.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from .stamps import file_digest

NONE, FOLDER, CHANGED = "none", "folder", "changed"
"""States: the path does not exist; it is a folder; it changed while the cell ran, so the state never matches
again."""
STATE = (
    rf"{NONE}|{FOLDER}|{CHANGED}|size [0-9]{{1,18}}|link [^\x00]{{1,4096}}"
    r"|names [0-9a-f]{64}|[0-9a-f]{64}"
)
"""Regular expression of a state: one of the above, a size in bytes, the target of a link, or a digest of
names or of content."""
STATE_KEY = r"(?s)^(?!(?:.*/)?\.\.(?:/|\Z))[^\x00]{1,4096}\Z"
"""Regular expression of a key, which contains no `..`."""
OWN_NAMES = frozenset((".blogsmith", ".git", "_freeze"))
"""Names in the site root that a listing of its names leaves out."""
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
_LIVE = ("/proc/", "/sys/", "/dev/")
_SHARED_MEMORY = "/dev/shm/"
_MAX_DIGEST_BYTES = 64 * 1024 * 1024
"""Size in bytes above which a file outside the site is compared by its size alone."""
_MAX_DEPTH = 64
"""Maximum depth of folders that a pattern with `**` searches."""


def is_outside(key: str) -> bool:
    """Return whether a key names a path outside the site, which other machines may not have."""
    return key.startswith(("/", "~"))


def key_path(root: Path, key: str) -> str:
    """Return the absolute path of a key. If the key is a pattern, return it with an absolute beginning."""
    return str(Path(key).expanduser()) if is_outside(key) else f"{root}/{key}"


def read_state(root: Path, key: str, like: str = "", ignored: Collection[str] = ()) -> str:
    """Return the current state of a key, to be compared with an earlier state. like: the earlier state; the
    result has the same form (digest, size or target of a link). If it is empty, the result for a file is its
    digest. ignored: names in the site root to leave out, because blogsmith creates them."""
    path = key_path(root, key)
    if key.startswith(_LIVE) and not key.startswith(_SHARED_MEMORY):
        return NONE
    try:
        if key.endswith("/"):
            return _names_state(_list_names(root, path, ignored))
        if any(character in key for character in "*?["):
            return NONE if is_outside(key) else _names_state(_match_names(root, key, ignored))
        if like.startswith("link "):
            return f"link {Path(path).readlink()}"
        status = Path(path).stat()
    except (OSError, ValueError, RuntimeError):  # RuntimeError: the home folder is unknown
        return NONE
    if stat.S_ISDIR(status.st_mode):
        return FOLDER
    if not stat.S_ISREG(status.st_mode):
        return NONE
    by_content = (not like or _DIGEST.match(like)) and not (
        is_outside(key) and status.st_size > _MAX_DIGEST_BYTES
    )
    return file_digest(Path(path)) or NONE if by_content else f"size {status.st_size}"


def _names_state(names: Iterable[str]) -> str:
    # sorted, because a folder lists its names in any order
    text = "\0".join(sorted(names))
    return f"names {hashlib.sha256(text.encode('utf-8', 'surrogateescape')).hexdigest()}"


def _list_names(root: Path, path: str, ignored: Collection[str]) -> Iterator[str]:
    is_root = os.path.normpath(path) == str(root)
    with os.scandir(path) as entries:
        for entry in entries:
            if not (is_root and entry.name in ignored):
                yield f"{entry.name}{'/' if entry.is_dir() else ''}"


def _match_names(root: Path, pattern: str, ignored: Collection[str]) -> Iterator[str]:
    """Yield the paths that match a pattern, relative to the site root. After `**` only the last part of the
    pattern is compared, with the names in all folders below. Links to folders are not followed, so the search
    always ends."""
    parts = pattern.split("/")
    fixed = next(index for index, part in enumerate(parts) if any(character in part for character in "*?["))
    top = root.joinpath(*parts[:fixed])
    depth = _MAX_DEPTH if "**" in parts else len(parts) - fixed
    wanted = parts[-1:] if "**" in parts else parts[fixed:]
    for folder, folders, files in os.walk(top):
        below = Path(folder).relative_to(top).parts
        if Path(folder) == root:
            folders[:] = [name for name in folders if name not in ignored]
        for name in (*folders, *files):
            found = (*below, name)
            is_level = "**" in parts or len(found) == len(wanted)
            matched = zip(found[-len(wanted) :], wanted, strict=False)
            if is_level and all(fnmatchcase(one, part if part != "**" else "*") for one, part in matched):
                yield "/".join((*parts[:fixed], *found))
        if len(below) + 1 >= depth:
            folders.clear()
