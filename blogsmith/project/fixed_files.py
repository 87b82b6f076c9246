"""Fixes of diagnostics, applied to the files of a site: planned first, so that they can be shown.

Only regular files inside the site that no link leads to are changed, and only while they hold what the plan
was made from. A file is replaced in one step: a run that is broken off leaves old and new files, no halves.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from ..base.diagnostics.edits import FixedText, apply_fixes, unified_diff
from ..base.diagnostics.model import Diagnostic
from ..base.storage.folder import open_folder
from ..base.storage.tree import Descent

_MARK = b"\xef\xbb\xbf"
"""Byte order mark, which stays where it is."""
_MOST_BYTES = 20_000_000


class FileChange(Struct, frozen=True):
    """What fixes make of one file."""

    path: str
    """Relative to the site."""
    before: bytes
    after: bytes
    fixed: tuple[Diagnostic, ...]
    diff: tuple[str, ...]
    """Lines of a unified diff, as the file has them, without its head."""


def plan_changes(root: Path, diagnostics: Iterable[Diagnostic], *, proposals: bool) -> tuple[FileChange, ...]:
    """What fixes come to, a file at a time in the order of paths; nothing is written.

    proposals: also those of which only an author can know whether they are meant.
    """
    by_path: dict[str, list[Diagnostic]] = {}
    for found in diagnostics:
        if found.fix and found.path and (found.fix.is_safe or proposals):
            by_path.setdefault(found.path, []).append(found)
    return tuple(_plan(root, by_path))


def write_change(root: Path, change: FileChange) -> bool:
    """Replace the file; False if it is not the one any more that the plan was made from.

    Raises OSError where it cannot be written.
    """
    with open_folder(root) as top, Descent(top) as descent:
        folder, name = descent.parent(change.path)
        status = folder.status(name)
        if status is None or folder.read(name, _MOST_BYTES) != change.before:
            return False
        folder.replace(name, change.after, stat.S_IMODE(status.st_mode))
    return True


def _plan(root: Path, by_path: dict[str, list[Diagnostic]]) -> Iterator[FileChange]:
    with open_folder(root) as top, Descent(top) as descent:
        for path, found in sorted(by_path.items()):
            # what lies elsewhere, behind a link or is not UTF-8 is nothing to fix here
            with suppress(OSError, UnicodeDecodeError):
                folder, name = descent.parent(path)
                before = folder.read(name, _MOST_BYTES)
                mark = _MARK if before.startswith(_MARK) else b""
                text = before[len(mark) :].decode("utf-8")
                fixed = apply_fixes(text, found)
                if fixed.fixed:
                    yield _change(path, before, mark, text, fixed)


def _change(path: str, before: bytes, mark: bytes, text: str, fixed: FixedText) -> FileChange:
    after = mark + fixed.text.encode("utf-8")
    return FileChange(path, before, after, fixed.fixed, tuple(unified_diff(text, fixed.changes)))
