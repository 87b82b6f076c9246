"""How much a command says: `-q` and `-v`, which every command has, and what they come to."""

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
"""In the context of a command with `-q`: stdout as it was."""


def _silence(context: click.Context, _: click.Parameter, is_quiet: bool) -> None:
    """Throw away what the command prints as its result, until it ends."""
    if is_quiet:
        context.meta[_QUIET] = sys.stdout
        nowhere = context.with_resource(terminal.open_devnull())
        context.with_resource(redirect_stdout(nowhere))


quiet_option = click.option(
    "-q",
    "--quiet",
    is_flag=True,
    expose_value=False,
    callback=_silence,
    help="Print errors only, and nothing on success.",
)
# Read by `cli.main`, because a bug may strike before any command has its options.
_verbose_option = click.option(
    "-v",
    "--verbose",
    is_flag=True,
    expose_value=False,
    help="Show the traceback if blogsmith itself fails.",
)


def verbosity_options(command: Command) -> Command:
    """Give a command `-q` and `-v`."""
    return quiet_option(_verbose_option(command))


def is_quiet() -> bool:
    """Whether the command that runs was given `-q`."""
    context = click.get_current_context(silent=True)
    return bool(context and context.meta.get(_QUIET))


def with_stdout() -> AbstractContextManager[object]:
    """Print inside on stdout, also after `-q`: what is asked for by a program that reads it."""
    context = click.get_current_context(silent=True)
    stream = context.meta.get(_QUIET) if context else None
    return redirect_stdout(stream) if stream else nullcontext()


def print_messages(diagnostics: Iterable[Diagnostic]) -> None:
    """Print them on stderr; only the errors after `-q`."""
    from ..base.diagnostics.format import wants_color
    from ..base.diagnostics.listing import print_diagnostics

    told = [one for one in diagnostics if one.severity == "error" or not is_quiet()]
    print_diagnostics(told, sys.stderr, wants_color(sys.stderr))
