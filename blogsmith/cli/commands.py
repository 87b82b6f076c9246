"""The commands by name, and the small ones themselves. Each is imported when it is asked for."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

import click

from .. import __version__
from ..diagnostics.counts import plural
from . import terminal
from .clock import Clocks
from .options import (
    find_site,
    output_option,
    site_config,
    site_option,
    site_root,
    verbose_option,
)
from .site_folder import format_path

_MODULES: Mapping[str, str] = MappingProxyType(
    {
        **{"build": "build", "check": "build", "execute": "build", "freeze": "freeze", "math": "math"},
        **{"cite": "cite", "epub": "epub", "images": "images", "import": "import_site", "lsp": "lsp"},
        **{"pyodide": "pyodide", "schema": "schema", "serve": "serve", "theme": "theme", "trust": "trust"},
    }
)
"""Command → the module here that holds it, under the same name."""
_FUNCTIONS: Mapping[str, str] = MappingProxyType({"import": "import_site"})
"""Command → its name in Python, where that may not have the same."""


class _Commands(click.Group):
    """Imports a command when it is asked for: most starts need one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*_MODULES, *self.commands})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        # of a name that nothing has, the nearest among all is suggested
        names = [cmd_name] if cmd_name in {*_MODULES, *self.commands} else _MODULES
        for name in names:
            if name not in self.commands:
                self.add_command(
                    getattr(import_module(f".{_MODULES[name]}", __package__), _FUNCTIONS.get(name, name))
                )
        return super().get_command(ctx, cmd_name)


@click.group(
    cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, message="%(prog)s %(version)s")
def cli() -> None:
    """Turn Markdown posts with formulas and code into a web site."""


@cli.group()
def new() -> None:
    """Start a site, a post or a theme."""


@new.command("site")
@click.argument("folder", type=click.Path(path_type=Path))
@click.pass_obj
def new_site_command(clocks: Clocks, folder: Path) -> int:
    """Make FOLDER a site with a configuration and a first post."""
    import shlex

    from ..diagnostics.format import wants_color
    from ..diagnostics.listing import print_diagnostics
    from ..diagnostics.model import SiteError
    from ..schema.files import keep_schemas
    from ..trust.consent import trust as record_trust
    from .new import new_site

    written = new_site(folder, clocks.now().date())
    # the first line of its settings names one of them
    keep_schemas(folder)
    try:
        # what one begins oneself is one's own code
        record_trust(folder)
    except SiteError as error:
        print_diagnostics(error.diagnostics, sys.stderr, wants_color(sys.stderr))
    terminal.print_line(
        f"{plural(len(written), 'file')} written; next: cd {shlex.quote(str(folder))} && blogsmith serve"
    )
    return 0


@new.command("post")
@click.argument("title")
@click.option("--section", default="posts", help="Folder under content/ it goes to; by default posts.")
@click.option(
    "--bundle", is_flag=True, help="Make a folder with room for the post's images; by default a single file."
)
@site_option
@click.pass_obj
def new_post_command(clocks: Clocks, title: str, section: str, bundle: bool, site: Path | None) -> int:
    """Write a draft with the given TITLE and print its path."""
    from zoneinfo import ZoneInfo

    from .new import new_post

    root = site_root(site)
    today = clocks.now().astimezone(ZoneInfo(site_config(root).timezone)).date()
    terminal.print_line(format_path(new_post(root, title, today, section=section, bundle=bundle)))
    return 0


@new.command("theme")
@click.argument("name")
@site_option
def new_theme_command(name: str, site: Path | None) -> int:
    """Write a small theme that extends paper into themes/NAME/ of the site."""
    from .new_theme import new_theme

    written = new_theme(site_root(site), name)
    terminal.print_line(f"{plural(len(written), 'file')} written; next: theme: {name} in blogsmith.yaml")
    return 0


@cli.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@verbose_option
def tokens(file: Path) -> int:
    """Print how FILE is read.

    One line for each Markdown token, with its line and column.
    """
    from ..pipeline.build import tokens_of

    terminal.print_line(tokens_of(file, find_site(file.resolve().parent)))
    return 0


@cli.command()
@output_option
@site_option
@verbose_option
def clean(output: Path | None, site: Path | None) -> int:
    """Remove the built site.

    Files in the output folder that blogsmith did not write are kept.
    """
    from ..pipeline.build_stamps import remove_stamps
    from ..pipeline.rows.row_store import remove_rows
    from ..write.output import clean as clean_output

    root = site_root(site)
    target = output.absolute() if output else root / site_config(root).output
    report = clean_output(target, root, is_chosen=output is not None)
    remove_rows(root)
    remove_stamps(str(root))
    terminal.print_line(f"{plural(report.removed, 'file')} removed from {format_path(target)}/")
    return 0


@cli.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> int:
    """Print the completion script for SHELL.

    For bash: blogsmith completion bash > ~/.local/share/bash-completion/completions/blogsmith
    """
    from click.shell_completion import get_completion_class

    completer = get_completion_class(shell)
    assert completer is not None, "click.Choice lets only known shells through"
    terminal.print_line(completer(cli, {}, "blogsmith", "_BLOGSMITH_COMPLETE").source())
    return 0
