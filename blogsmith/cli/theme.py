"""`blogsmith theme`: what there is to do with the theme of a site."""

from __future__ import annotations

from pathlib import Path

import click

from . import terminal
from .options import site_config, site_option, site_root
from .site_folder import format_path


@click.group()
def theme() -> None:
    """Change files of the site's theme."""


@theme.command("copy")
@click.argument("file")
@site_option
def copy_command(file: str, site: Path | None) -> int:
    """Copy FILE of the site's theme to where it takes that one's place, and print its path.

    FILE is named as in the theme's folder: layouts/post.html, partials/toc.html, theme.css. Nothing is ever
    written over a file that is there.
    """
    from .new_theme import copy_theme_file

    root = site_root(site)
    terminal.print_line(format_path(copy_theme_file(root, site_config(root), file)))
    return 0
