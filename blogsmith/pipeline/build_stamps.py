"""Whether nothing has changed since the last build: stamps of all it read and all it wrote, nothing else.

It is asked before anything that is slow to import, so this imports next to nothing; what it reads is written
by `build_record`. Each file is looked at once; a folder is listed only where its own stamp does not tell that
a name came or went. In any doubt the answer is no. The record is sealed as rows are: what it holds is said.
"""

from __future__ import annotations

import marshal
import os
import stat
from contextlib import suppress
from operator import attrgetter

from ..base.storage.cache import open_cache
from ..base.storage.digests import blake2b
from ..project.program import platform_digest, tools_digest
from ..project.trust.place import RECORD, state_folder
from ..project.trust.seal import read_sealer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

FILES = {True: "built.stamps", False: "checked.stamps"}
"""Whether a site was written → the file of the record."""
SEAL_BYTES = 32
PASSED_OVER = frozenset({".blogsmith", ".git", "node_modules", "__pycache__"})
"""Folders whose contents are of no build."""
_FORMAT = 5
_MARSHAL = 2
"""The last version of the format that writes equal values as equal bytes."""
_MOST_BYTES = 64 << 20
_fields = attrgetter("st_mode", "st_size", "st_mtime_ns", "st_ctime_ns", "st_ino")


class BuildComparison:
    """The last build, and what has changed since."""

    __slots__ = ("changed", "record", "stamps")

    def __init__(
        self, record: dict[str, Any], changed: tuple[str, ...], stamps: list[tuple[int, ...]]
    ) -> None:
        self.record = record
        """As `build_record` has written it."""
        self.changed = changed
        """Sources that were saved, relative to the root; nothing else has changed."""
        self.stamps = stamps
        """Of the paths of the record, now."""

    def stamp_of(self, path: str) -> tuple[int, ...] | None:
        """The stamp of one of the paths; None: it is none of them."""
        paths = self.record["paths"]
        return self.stamps[paths.index(path)] if path in paths else None

    @property
    def report(self) -> dict[str, Any]:
        """What was kept of its report."""
        found: dict[str, Any] = self.record["report"]
        return found


def compare_build(root: str, question: str, now_s: float, *, write: bool) -> BuildComparison | None:
    """What has changed since the last build; None in any doubt, or if it is more than texts of sources.

    question: names what the command line asks. now_s: the moment the build counts as now.
    """
    record = _read(root, FILES[write])
    if record is None:
        return None
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        is_same = (
            record["question"] == question
            and record["now"] <= now_s
            and (record["until"] is None or now_s < record["until"])
            and all(os.environ.get(name) == value for name, value in record["variables"].items())
            and record["program"] == program_text(root)
            and has_same_names(record, root)
        )
        if is_same and isinstance(record["report"], dict):
            stamps = stamps_of(record["paths"])
            changed = _changed_sources(record, root, stamps)
            return None if changed is None else BuildComparison(record, changed, stamps)
    return None


def _changed_sources(
    record: dict[str, Any], root: str, stamps: list[tuple[int, ...]]
) -> tuple[str, ...] | None:
    """The sources that were saved; None if anything else has changed. stamps: of all paths, now."""
    if stamps_digest(stamps) == record["stamps"]:
        return ()
    paths, stamps, changed = record["paths"], [*stamps], []
    for number, kept in record["sources"]:
        before, now = tuple(kept), stamps[number]
        if now != before:
            path = paths[number]
            if not now or stat.S_IFMT(now[0]) != stat.S_IFMT(before[0]):
                return None
            if not stat.S_ISDIR(now[0]):
                changed.append(os.path.relpath(path, root))
            elif names_in(path, root) != _names_below(path, paths):
                return None
            stamps[number] = before
    return tuple(changed) if stamps_digest(stamps) == record["stamps"] else None


def _names_below(folder: str, paths: Iterable[str]) -> list[str]:
    start = os.path.join(folder, "")
    names = (path[len(start) :] for path in paths if path.startswith(start))
    return sorted(name for name in names if os.sep not in name)


def has_own_outputs(root: str, output: str) -> bool:
    """Whether every file in the output folder is as the last build has left it; False in any doubt."""
    record = _read(root, FILES[True])
    with suppress(KeyError, TypeError, AttributeError):
        return (
            record is not None
            and record["output"] == output
            and has_same_names(record, root)
            and record["output_stamps"] == stamps_digest(stamps_of(record["paths"][record["first_output"] :]))
        )
    return False


def has_same_names(record: dict[str, Any], root: str) -> bool:
    """Whether there is nothing new that no stamp of a folder tells of."""
    return not any(map(stamp, record["absent"])) and all(
        names_in(folder, root) == names for folder, names in record["listed"].items()
    )


def stamp(path: str) -> tuple[int, ...]:
    """What tells of a change of what stands at a path: kind, size, written, changed, inode. Empty: nothing.

    Of a link itself; what it leads to may change unseen.
    """
    try:
        return _fields(os.lstat(path))
    except (FileNotFoundError, NotADirectoryError):
        return ()


def stamps_of(paths: Iterable[str]) -> list[tuple[int, ...]]:
    """Of each of them, in their order."""
    paths = [*paths]
    try:
        # of thousands, and as a rule all of them are there
        return [*map(_fields, map(os.lstat, paths))]
    except OSError:
        return [*map(stamp, paths)]


def stamps_digest(stamps: list[tuple[int, ...]]) -> bytes:
    """Of many at once: only whether all of them are as they were is of interest."""
    return blake2b(marshal.dumps(stamps, _MARSHAL), digest_size=16).digest()


def encode_record(record: dict[str, Any]) -> bytes:
    """A record as it is kept, behind a seal."""
    return marshal.dumps(record, _MARSHAL)


def names_in(folder: str, root: str) -> list[str]:
    """What there is in a folder and counts; of the folder of the site nothing that is hidden."""
    names = sorted(name for name in os.listdir(folder) if name not in PASSED_OVER)
    return [name for name in names if not name.startswith(".")] if folder == root else names


def program_text(root: str) -> str:
    """The program, what the user trusts, and which folder this is."""
    trusted = stamp(os.path.join(state_folder(), RECORD))
    return f"{platform_digest()} {tools_digest()} {os.stat(root).st_ino} {trusted}"


def seal_purpose(root: str) -> str:
    """What a seal of a record is for."""
    return f"stamps {_FORMAT} of {root}"


def remove_stamps(root: str) -> None:
    """Forget the last build and the last check."""
    for name in FILES.values():
        with suppress(OSError), open_cache(root, make=False) as folder:
            folder.remove(name)


def _read(root: str, name: str) -> dict[str, Any] | None:
    sealer = read_sealer(seal_purpose(root))
    if sealer is None:
        return None
    errors = (OSError, ValueError, EOFError, TypeError)
    with suppress(*errors), open_cache(root, make=False) as folder:
        data = folder.read(name, _MOST_BYTES)
        seal, text = data[:SEAL_BYTES], data[SEAL_BYTES:]
        # `marshal` trusts what it reads, so nothing is read that this user has not written
        found = marshal.loads(text) if sealer.holds(seal, text) else None
        return found if isinstance(found, dict) else None
    return None
