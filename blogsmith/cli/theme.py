"""`blogsmith theme`: compare themes, and customize the theme of a site."""

from __future__ import annotations

import errno
from pathlib import Path

import click

from . import terminal
from .completion_types import ThemeFileType
from .options import site_config, site_option, site_root
from .site_folder import format_path
from .verbosity import verbosity_options


@click.group()
def theme() -> None:
    """List and compare themes; customize files of the site's theme."""


@theme.command("list")
@site_option
@verbosity_options
def list_command(site: Path | None) -> int:
    """List the themes that the site can use. The theme of the site has a star."""
    from .theme_preview import list_themes

    root = site_root(site)
    for line in list_themes(root, site_config(root).theme):
        terminal.print_line(line)
    return 0


@theme.command("preview")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    default=0,
    help="Port to listen on.  [default: any free port]",
)
@click.option("--open", "browser", is_flag=True, help="Open the page in the browser.")
@site_option
@verbosity_options
def preview_command(site: Path | None, port: int, browser: bool) -> int:
    """Show every element in each theme, with a menu to switch.

    The page is served to this machine only, until Ctrl-C. The site is not changed.
    """
    from .theme_preview import preview_themes

    def ready(url: str) -> None:
        terminal.print_line(url)
        if browser:
            click.launch(url)

    root = site_root(site)
    try:
        preview_themes(root, site_config(root).theme, port, ready)
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise click.ClickException(f"port {port} is in use: choose another with --port") from error
        raise
    return 0


@theme.command("copy")
@click.argument("file", type=ThemeFileType())
@site_option
@verbosity_options
def copy_command(file: str, site: Path | None) -> int:
    """Copy FILE of the theme to the site, and print its path.

    The copy overrides the file of the theme. FILE is a name in the theme's folder, such as
    layouts/post.html, partials/toc.html or theme.css. Existing files are never overwritten.
    """
    from .new_theme import copy_theme_file

    root = site_root(site)
    terminal.print_line(format_path(copy_theme_file(root, site_config(root), file)))
    return 0
