"""Options of `blogsmith check` by which mistakes are fixed, and which of them go together."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

import click

from .report_format import TEXT
from .verbosity import is_quiet


class FixRequest(NamedTuple):
    """What the command line asks for."""

    only_diff: bool
    """Show what would be changed."""
    is_agreed: bool
    """Do not ask."""
    proposals: bool
    """Apply also what only an author can know to be meant."""


_OPTIONS = (
    click.option(
        "--fix",
        is_flag=True,
        help="Apply the fixes that are certain: the difference is shown, you are asked, and what remains is "
        "reported.",
    ),
    click.option(
        "--diff",
        is_flag=True,
        help="Show what --fix would change, change nothing, and exit with 1 if it would.",
    ),
    click.option("-y", "--yes", is_flag=True, help="Do not ask before --fix changes files."),
    click.option(
        "--unsafe-fixes",
        is_flag=True,
        help='With --fix or --diff: apply proposals too, such as "did you mean …?".',
    ),
)


def fix_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options above; it takes what `fix_request` makes of them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def fix_request(
    *, fix: bool, diff: bool, yes: bool, unsafe_fixes: bool, output_format: str
) -> FixRequest | None:
    """What is to be fixed, None for nothing; wrong usage where the options contradict each other."""
    if not fix and not diff:
        if yes or unsafe_fixes:
            raise click.UsageError("--yes and --unsafe-fixes go with --fix or --diff")
        return None
    if diff and output_format != TEXT:
        raise click.UsageError("--diff shows a difference and no mistakes: leave --format out")
    if not diff and not yes and not is_terminal():
        raise click.UsageError("--fix asks before it changes files, and nobody can answer here: add --yes")
    if not diff and not yes and is_quiet():
        raise click.UsageError("--fix shows what it changes and asks, which -q forbids: add --yes")
    return FixRequest(only_diff=diff, is_agreed=yes, proposals=unsafe_fixes)


def is_terminal() -> bool:
    """Whether somebody can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()
