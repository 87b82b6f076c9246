"""`blogsmith check --fix` shows the differences, changes the files, then checks the site again.

If fixes conflict, or the changes reveal new errors, further rounds apply the remaining fixes.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click
from msgspec import Struct

from ..base.diagnostics.counts import plural
from ..base.diagnostics.edits import FixedText, apply_fixes, unified_diff
from ..base.diagnostics.format import printable, wants_color
from ..base.diagnostics.model import Diagnostic
from ..base.storage.folder import open_folder
from ..base.storage.tree import OpenFolderPath
from . import terminal

if TYPE_CHECKING:
    from ..project.report import BuildReport
    from .fix_options import FixRequest

_MAX_ROUNDS = 10


def fix_site(
    root: Path,
    report: BuildReport,
    rebuild: Callable[[], BuildReport],
    asked: FixRequest,
    stream: TextIO,
) -> BuildReport:
    """Apply fixes and return the report of the fixed site. Print differences to `stream`. rebuild: function
    that checks the site again. asked: fix options."""
    fixed = 0
    for _ in range(_MAX_ROUNDS):
        changes = plan_changes(root, report.diagnostics, proposals=asked.include_proposals)
        print_diff(changes, stream)
        if not changes or not (asked.assume_yes or _confirm(changes)):
            break
        written = [change for change in changes if _write(root, change)]
        fixed += sum(len(change.fixed) for change in written)
        if not written:
            break
        report = rebuild()
    if fixed:
        terminal.warn(f"fixed {plural(fixed, 'problem')}")
    return report


def show_fixes(root: Path, report: BuildReport, asked: FixRequest, stream: TextIO) -> int:
    """Print the changes of the first round of `fix_site`. Return the exit code: 1 if there are changes,
    otherwise 0."""
    changes = plan_changes(root, report.diagnostics, proposals=asked.include_proposals)
    print_diff(changes, stream)
    count = sum(len(change.fixed) for change in changes)
    terminal.warn(f"would fix {count:,} of {plural(len(report.diagnostics), 'problem')}")
    return 1 if changes else 0


def print_diff(changes: Sequence[FileChange], stream: TextIO) -> None:
    """Print a unified diff of all files, coloured on a terminal. Control characters are escaped."""
    color = wants_color(stream)
    for change in changes:
        for line in _diff_lines(change):
            print(click.style(line, fg=_line_color(line)) if color else line, file=stream)


def _diff_lines(change: FileChange) -> Iterator[str]:
    yield f"--- {printable(change.path)}"
    yield f"+++ {printable(change.path)}"
    yield from (printable(line, keep="\t") for line in change.diff)


def _line_color(line: str) -> str | None:
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])


def _confirm(changes: Sequence[FileChange]) -> bool:
    count = plural(sum(len(change.fixed) for change in changes), "problem")
    return click.confirm(f"Fix {count} in {plural(len(changes), 'file')}?", default=True, err=True)


def _write(root: Path, change: FileChange) -> bool:
    try:
        is_written = write_change(root, change)
    except OSError as error:
        terminal.warn(f"error: cannot write {printable(change.path)}: {error.strerror or error}")
        return False
    if not is_written:
        terminal.warn(f"{printable(change.path)} was not fixed: it has changed in the meantime")
    return is_written


# Application of fixes to the files of a site. All changes are planned first, so that they can be shown. We
# change only regular files inside the site that are not reached through a link. If a file has changed since
# the plan was made, it is skipped. Each file is replaced in one step, so an interrupted run leaves no partial
# file.


_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""Byte order mark at the start of a file. It is not removed."""
_MAX_BYTES = 20_000_000


class FileChange(Struct, frozen=True):
    """Planned change of one file."""

    path: str
    """Path relative to the site."""
    before: bytes
    after: bytes
    fixed: tuple[Diagnostic, ...]
    diff: tuple[str, ...]
    """Lines of a unified diff, unescaped and without its header."""


def plan_changes(root: Path, diagnostics: Iterable[Diagnostic], *, proposals: bool) -> tuple[FileChange, ...]:
    """Return the changes that fixes make, one per file, sorted by path. Write nothing. proposals: include
    fixes that only the author can confirm to be right."""
    by_path: dict[str, list[Diagnostic]] = {}
    for found in diagnostics:
        if found.fix and found.path and (found.fix.is_safe or proposals):
            by_path.setdefault(found.path, []).append(found)
    return tuple(_plan(root, by_path))


def write_change(root: Path, change: FileChange) -> bool:
    """Replace the content of the file and return True. Return False if the file has changed since the plan
    was made. Raise OSError if it cannot be written."""
    with open_folder(root) as top, OpenFolderPath(top) as descent:
        folder, name = descent.parent(change.path)
        status = folder.status(name)
        if status is None or folder.read(name, _MAX_BYTES) != change.before:
            return False
        folder.replace(name, change.after, stat.S_IMODE(status.st_mode))
    return True


def _plan(root: Path, by_path: dict[str, list[Diagnostic]]) -> Iterator[FileChange]:
    with open_folder(root) as top, OpenFolderPath(top) as descent:
        for path, found in sorted(by_path.items()):
            # Skip files outside the site, files reached through links, and files that are not UTF-8.
            with suppress(OSError, UnicodeDecodeError):
                folder, name = descent.parent(path)
                before = folder.read(name, _MAX_BYTES)
                mark = _BYTE_ORDER_MARK if before.startswith(_BYTE_ORDER_MARK) else b""
                text = before[len(mark) :].decode("utf-8")
                fixed = apply_fixes(text, found)
                if fixed.fixed:
                    yield _change(path, before, mark, text, fixed)


def _change(path: str, before: bytes, mark: bytes, text: str, fixed: FixedText) -> FileChange:
    after = mark + fixed.text.encode("utf-8")
    return FileChange(path, before, after, fixed.fixed, tuple(unified_diff(text, fixed.changes)))
