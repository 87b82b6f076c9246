"""Options `-q` and `-v` of all commands."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from typing import TYPE_CHECKING, TypeVar

import click

from . import terminal

if TYPE_CHECKING:
    from ..base.diagnostics.model import Diagnostic

Command = TypeVar("Command", bound=Callable[..., object])

_QUIET = "blogsmith.quiet"
"""Key in the context of a command run with `-q`; its value is the original stdout."""


def _redirect_stdout(context: click.Context, _: click.Parameter, is_quiet: bool) -> None:
    """Discard the command's output on stdout until it ends."""
    if is_quiet:
        context.meta[_QUIET] = sys.stdout
        nowhere = context.with_resource(terminal.open_devnull())
        context.with_resource(redirect_stdout(nowhere))


quiet_option = click.option(
    "-q",
    "--quiet",
    is_flag=True,
    expose_value=False,
    callback=_redirect_stdout,
    help="Print errors only, and nothing on success.",
)
# `cli.main` evaluates `-v` itself, because an internal error may occur before options are parsed.
_verbose_option = click.option(
    "-v",
    "--verbose",
    is_flag=True,
    expose_value=False,
    help="Show the traceback if blogsmith itself fails.",
)


def verbosity_options(command: Command) -> Command:
    """Add `-q` and `-v` to a command."""
    return quiet_option(_verbose_option(command))


def is_quiet() -> bool:
    """Return whether the current command has `-q`."""
    context = click.get_current_context(silent=True)
    return bool(context and context.meta.get(_QUIET))


def with_stdout() -> AbstractContextManager[object]:
    """Restore stdout in the `with` block, even after `-q`. Used for output that a program reads."""
    context = click.get_current_context(silent=True)
    stream = context.meta.get(_QUIET) if context else None
    return redirect_stdout(stream) if stream else nullcontext()


def print_messages(diagnostics: Iterable[Diagnostic]) -> None:
    """Print diagnostics on stderr. After `-q`, print only errors."""
    from ..base.diagnostics.format import wants_color
    from ..base.diagnostics.listing import print_diagnostics

    told = [one for one in diagnostics if one.severity == "error" or not is_quiet()]
    print_diagnostics(told, sys.stderr, wants_color(sys.stderr))
