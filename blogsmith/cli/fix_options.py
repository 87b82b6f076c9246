"""Options of `blogsmith check` that fix errors, and checks of their combinations."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

import click

from .report_format import TEXT
from .verbosity import is_quiet


class FixRequest(NamedTuple):
    """Fix options from the command line."""

    is_dry_run: bool
    """Whether to show the changes without making them."""
    assume_yes: bool
    """Whether to change files without asking."""
    include_proposals: bool
    """Whether to also apply fixes that only the author can confirm to be right."""


_OPTIONS = (
    click.option(
        "--fix",
        is_flag=True,
        help="Apply safe fixes: show the changes, ask for confirmation, and report the remaining problems.",
    ),
    click.option(
        "--diff",
        is_flag=True,
        help="Show what --fix would change; change nothing. Exit with 1 if there are changes.",
    ),
    click.option("-y", "--yes", is_flag=True, help="Apply fixes without asking."),
    click.option(
        "--unsafe-fixes",
        is_flag=True,
        help='With --fix or --diff: also apply suggestions, such as "did you mean …?".',
    ),
)


def fix_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options above to a command. The command must pass them to `fix_request`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def fix_request(
    *, fix: bool, diff: bool, yes: bool, unsafe_fixes: bool, output_format: str
) -> FixRequest | None:
    """Return the fix options; None if the command is not asked to fix or show anything. Raise UsageError if
    they contradict each other."""
    if not fix and not diff:
        if yes or unsafe_fixes:
            raise click.UsageError("--yes and --unsafe-fixes have no effect without --fix or --diff")
        return None
    if diff and output_format != TEXT:
        raise click.UsageError("--diff and --format cannot be combined")
    if not diff and not yes and not can_ask():
        raise click.UsageError("--fix needs confirmation on a terminal: add --yes")
    if not diff and not yes and is_quiet():
        raise click.UsageError("--fix needs confirmation, which -q does not allow: add --yes")
    return FixRequest(is_dry_run=diff, assume_yes=yes, include_proposals=unsafe_fixes)


def can_ask() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()
