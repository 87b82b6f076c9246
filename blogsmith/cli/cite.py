"""`blogsmith cite`: print citations of the site's posts."""

from __future__ import annotations

from pathlib import Path

import click

from ..base.diagnostics.format import printable
from . import terminal
from .clock import CommandClock
from .options import site_option, site_root
from .verbosity import verbosity_options


@click.command()
@click.argument("posts", nargs=-1, required=True, type=click.Path(), metavar="POSTS...")
@site_option
@verbosity_options
@click.pass_obj
def cite(clocks: CommandClock, posts: tuple[str, ...], site: Path | None) -> int:
    """Print BibTeX for POSTS.

    A post is given by its file, or by its name below content/.
    """
    root = site_root(site)
    from ..features.citing import cite_posts

    for entry in cite_posts(root, posts, clocks.now()):
        for line in entry.split("\n"):
            terminal.print_line(printable(line))
    return 0
