"""The option `--format`, which prints diagnostics for people on stderr, or for a program on stdout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..base.version import __version__
from . import terminal
from .verbosity import is_quiet, with_stdout

if TYPE_CHECKING:
    from ..base.diagnostics.model import Diagnostic

TEXT = "text"
format_option = click.option(
    "--format",
    "output_format",
    type=click.Choice([TEXT, "json", "sarif", "github"]),
    default=TEXT,
    help="Format of the report: text for people, on stderr, or json, sarif or github (workflow annotations) "
    "for programs, as the only output on stdout.  [default: text]",
)


def print_for_program(diagnostics: Sequence[Diagnostic], output_format: str, root: Path) -> None:
    """Print all diagnostics on stdout in a format for programs, even after `-q`."""
    with with_stdout():
        _print_format(diagnostics, output_format, root)


def _print_format(diagnostics: Sequence[Diagnostic], output_format: str, root: Path) -> None:
    if output_format == "json":
        from ..base.diagnostics.report_formats import format_json

        manual = _manual_url(root)
        terminal.print_line(format_json(diagnostics, root.as_posix(), __version__, manual))
    elif output_format == "sarif":
        from ..base.diagnostics.report_formats import format_sarif

        manual = _manual_url(root)
        terminal.print_line(format_sarif(diagnostics, _repository_prefix(root), __version__, manual))
    elif diagnostics:
        from ..base.diagnostics.report_formats import format_annotations

        terminal.print_line(format_annotations(diagnostics, _repository_prefix(root)))


def summary_printer(output_format: str) -> Callable[[str], None]:
    """Return the function that prints summaries. It uses stdout, or stderr if diagnostics for a program are
    on stdout. After `-q`, it prints nothing."""
    if is_quiet():
        return _print_nothing
    return terminal.print_line if output_format == TEXT else terminal.warn


def _print_nothing(text: str) -> None:
    """Discard the text."""


def _manual_url(root: Path) -> str:
    """Return the URL of the manual that the site's settings name; empty if there is none."""
    from ..config.load import load_config

    return load_config(root).config.diagnostics.documentation


def _repository_prefix(root: Path) -> str:
    """Return the path of the site in its repository, with a trailing slash. Return an empty string if the
    site is at the root of the repository, or if there is no repository. Code hosts need paths relative to the
    repository, not to the current folder."""
    for folder in (root, *root.parents):
        # `.git` is a file in a worktree or submodule.
        if (folder / ".git").exists():
            below = root.relative_to(folder).as_posix()
            return "" if below == "." else f"{below}/"
    return ""
