"""`blogsmith check --fix`: the difference is shown, then files are changed, then all is checked again.

What could not be applied together, and what a fix brings to light, is done in further rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from ..base.diagnostics.counts import plural
from ..base.diagnostics.format import printable, wants_color
from ..project.fixed_files import FileChange, plan_changes, write_change
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
