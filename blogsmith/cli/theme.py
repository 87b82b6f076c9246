"""`blogsmith theme`: what there is to do with the theme of a site."""

from __future__ import annotations

from pathlib import Path

import click

from . import terminal
from .completion_types import ThemeFileType
from .options import site_config, site_option, site_root
from .site_folder import format_path
from .verbosity import verbosity_options


@click.group()
def theme() -> None:
    """Change files of the site's theme."""


@theme.command("copy")
@click.argument("file", type=ThemeFileType())
@site_option
@verbosity_options
def copy_command(file: str, site: Path | None) -> int:
    """Copy FILE of the site's theme to change it, and print its path.

    The copy takes the place of that file. FILE is named as in the theme's folder: layouts/post.html,
    partials/toc.html, theme.css. Nothing is ever written over a file that is there.
    """
    from .new_theme import copy_theme_file

    root = site_root(site)
    terminal.print_line(format_path(copy_theme_file(root, site_config(root), file)))
    return 0
