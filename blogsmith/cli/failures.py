"""Conversion of exceptions that end a command to a message and an exit code."""

from __future__ import annotations

import sys
import traceback

import click

from ..base.diagnostics.format import printable, wants_color
from ..base.diagnostics.listing import print_diagnostics
from ..base.diagnostics.model import SiteError
from . import terminal


def report_failure(error: Exception, *, verbose: bool) -> int:
    """Print the error and return the exit code. verbose: for an internal error, also print the traceback."""
    match error:
        case click.Abort():
            return 130
        case click.ClickException():
            error.show()
            return error.exit_code
        case SiteError():
            print_diagnostics(error.diagnostics, sys.stderr, wants_color(sys.stderr))
            return 1
        case OSError():
            # An error of the operating system: no permission, disk full, a folder that was removed.
            terminal.warn(f"error: {printable(str(error))}")
            return 1
    return _report_bug(error, verbose=verbose)


def _report_bug(error: Exception, *, verbose: bool) -> int:
    """Print one line for an internal error, and the traceback only if `verbose`. Return the exit code."""
    if verbose:
        traceback.print_exception(error)
    summary = f"{type(error).__name__}: {error}".splitlines()[0]
    terminal.warn(f"blogsmith has a bug: {summary}")
    terminal.warn("please report it together with what `-v` shows" if not verbose else "please report it")
    return 70
