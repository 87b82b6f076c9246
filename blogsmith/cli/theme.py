"""`blogsmith theme`: customize the theme of a site."""

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
    """Customize files of the site's theme."""


@theme.command("copy")
@click.argument("file", type=ThemeFileType())
@site_option
@verbosity_options
def copy_command(file: str, site: Path | None) -> int:
    """Copy FILE of the theme to the site to change it, and print its path.

    The copy overrides the file of the theme. FILE is a name in the theme's folder, such as
    layouts/post.html, partials/toc.html or theme.css. Existing files are never overwritten.
    """
    from .new_theme import copy_theme_file

    root = site_root(site)
    terminal.print_line(format_path(copy_theme_file(root, site_config(root), file)))
    return 0
