"""Options and steps shared by the commands that write pages of the site as one file: EPUB, PDF and LaTeX."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import click

from .clock import CommandClock
from .options import drafts_option, future_option, site_option, site_root
from .verbosity import verbosity_options

_Run = Callable[..., int]
"""Function that runs a command and returns its exit code."""


def posts_options(
    noun: str, ending: str, *options: Callable[[_Run], _Run], is_folder: bool = False
) -> Callable[[_Run], _Run]:
    """Return a decorator that adds POSTS, --series, --title, `options` and -o to a command. noun: kind of the
    written text. ending: end of the name of the written file or folder, such as `.pdf`."""
    added: tuple[Callable[[_Run], _Run], ...] = (
        click.argument("posts", nargs=-1, type=click.Path(), metavar="[POSTS]..."),
        click.option(
            "--series",
            default="",
            metavar="NAME",
            help="Include the parts of the series NAME, in their order.",
        ),
        click.option(
            "--title",
            default="",
            metavar="TITLE",
            help=f"Title of the {noun}.  [default: title of the post, series or section]",
        ),
        *options,
        click.option(
            "-o",
            "--output",
            type=click.Path(file_okay=not is_folder, dir_okay=is_folder, path_type=Path),
            metavar="PATH",
            help=f"{'Folder' if is_folder else 'File'} to write.  "
            f"[default: title with {ending}, in the current folder]",
        ),
    )

    def add_all(command: _Run) -> _Run:
        return functools.reduce(lambda made, add: add(made), reversed(added), command)

    return add_all


def page_options(command: _Run) -> _Run:
    """Add --site, --drafts, --future, -q and -v to a command. The decorated function is called with the site
    root, the options of the build, and its own arguments. Raise UsageError if `posts` and `series` are both
    given."""

    @click.pass_obj
    def run(clocks: CommandClock, /, site: Path | None, drafts: bool, future: bool, **own: object) -> int:
        if own.get("posts") and own.get("series"):
            raise click.UsageError("POSTS and --series cannot be combined")
        root = site_root(site)
        from ..project.report import BuildOptions

        options = BuildOptions(now=clocks.now(), drafts=drafts, future=future, use_cache=True)
        return command(root, options, **own)

    functools.update_wrapper(run, command)
    return site_option(drafts_option(future_option(verbosity_options(run))))
