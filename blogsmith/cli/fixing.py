"""`blogsmith check --fix`: the difference is shown, then files are changed, then all is checked again.

What could not be applied together, and what a fix brings to light, is done in further rounds.
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
from ..base.storage.tree import Descent
from . import terminal

if TYPE_CHECKING:
    from ..project.report import BuildReport
    from .fix_options import FixRequest

_MOST_ROUNDS = 10


def fix_site(
    root: Path,
    report: BuildReport,
    rebuild: Callable[[], BuildReport],
    asked: FixRequest,
    stream: TextIO,
) -> BuildReport:
    """The report of the site as it is afterwards. stream: for differences."""
    fixed = 0
    for _ in range(_MOST_ROUNDS):
        changes = plan_changes(root, report.diagnostics, proposals=asked.proposals)
        print_diff(changes, stream)
        if not changes or not (asked.is_agreed or _confirm(changes)):
            break
        written = [change for change in changes if _write(root, change)]
        fixed += sum(len(change.fixed) for change in written)
        if not written:
            break
        report = rebuild()
    if fixed:
        terminal.warn(f"fixed {plural(fixed, 'mistake')}")
    return report


def show_fixes(root: Path, report: BuildReport, asked: FixRequest, stream: TextIO) -> int:
    """Print what `fix_site` would change at first; the exit code, 1 if there is anything."""
    changes = plan_changes(root, report.diagnostics, proposals=asked.proposals)
    print_diff(changes, stream)
    count = sum(len(change.fixed) for change in changes)
    terminal.warn(f"would fix {count:,} of {plural(len(report.diagnostics), 'mistake')}")
    return 1 if changes else 0


def print_diff(changes: Sequence[FileChange], stream: TextIO) -> None:
    """A unified difference of all files, coloured on a terminal, in which nothing acts on it."""
    color = wants_color(stream)
    for change in changes:
        for line in _diff_lines(change):
            print(click.style(line, fg=_tone(line)) if color else line, file=stream)


def _diff_lines(change: FileChange) -> Iterator[str]:
    yield f"--- {printable(change.path)}"
    yield f"+++ {printable(change.path)}"
    yield from (printable(line, keep="\t") for line in change.diff)


def _tone(line: str) -> str | None:
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])


def _confirm(changes: Sequence[FileChange]) -> bool:
    count = plural(sum(len(change.fixed) for change in changes), "mistake")
    return click.confirm(f"Fix {count} in {plural(len(changes), 'file')}?", default=True, err=True)


def _write(root: Path, change: FileChange) -> bool:
    try:
        is_written = write_change(root, change)
    except OSError as error:
        terminal.warn(f"error: {printable(change.path)} cannot be written: {error.strerror or error}")
        return False
    if not is_written:
        terminal.warn(f"{printable(change.path)} was changed meanwhile and stays as it is")
    return is_written


# Fixes of diagnostics, applied to the files of a site: planned first, so that they can be shown.
#
# Only regular files inside the site that no link leads to are changed, and only while they hold what the plan
# was made from. A file is replaced in one step: a run that is broken off leaves old and new files, no halves.


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
