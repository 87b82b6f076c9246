"""Table of commands, and the small commands themselves. The modules of the other commands are imported when
they run."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

import click

from ..base.diagnostics.counts import plural
from ..base.installed import COMMANDS, installed_parts
from ..base.version import __version__
from . import terminal
from .options import (
    find_site,
    output_option,
    site_config,
    site_option,
    site_root,
)
from .site_folder import format_path
from .verbosity import verbosity_options

_MODULES: Mapping[str, str] = MappingProxyType(
    {
        "build": "build",
        "check": "build",
        "cite": "cite",
        "completion": "completion",
        "execute": "build",
        "explain": "explain",
        "freeze": "freeze",
        "images": "images",
        "math": "math",
        "new": "new",
        "pyodide": "pyodide",
        "schema": "schema",
        "serve": "serve",
        "theme": "theme",
        "trust": "trust",
        "vendor": "vendor",
        "verify": "verify",
    }
)
"""Command → module of this folder that defines it under the same name. Commands of other packages come from
entry points."""

_GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Write": ("new", "serve", "check", "import", "theme"),
        "Build": ("build", "execute", "freeze", "verify", "trust", "clean"),
        "Publish": ("publish", "epub", "pdf", "tex"),
        "Tools": (
            "cite",
            "completion",
            "explain",
            "images",
            "lsp",
            "math",
            "pyodide",
            "schema",
            "tokens",
            "vendor",
        ),
    }
)
"""Maps a heading of the help text to its commands. Each command has exactly one heading."""
_COMMAND_HINTS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("create", "init", "quickstart"), "run `blogsmith new site FOLDER`"),
        **dict.fromkeys(("add", "post"), "run `blogsmith new post TITLE`"),
        **dict.fromkeys(
            ("dev", "preview", "run", "server", "start", "watch"), "run `blogsmith serve --drafts --open`"
        ),
        **dict.fromkeys(("compile", "generate", "make", "render"), "run `blogsmith build`"),
        **dict.fromkeys(("lint", "test", "validate"), "run `blogsmith check`"),
        **dict.fromkeys(("deploy", "gh-deploy", "upload"), "run `blogsmith publish`"),
        **dict.fromkeys(("convert", "migrate"), "run `blogsmith import FOLDER`"),
        "help": "run `blogsmith --help`",
        "version": "run `blogsmith --version`",
    }
)
"""Maps the name of a command in other generators to a hint."""


class _Commands(click.Group):
    """Click group that imports the module of a command only when it is needed, because most runs need only
    one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if hint := _COMMAND_HINTS.get(args[0]):
            ctx.fail(f'unknown command "{args[0]}": {hint}')
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, self.list_commands(ctx)))
        grouped = {name for names in _GROUPS.values() for name in names}
        others = tuple(name for name in self.list_commands(ctx) if name not in grouped)
        for heading, names in {**_GROUPS, **({"Installed": others} if others else {})}.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            with formatter.section(heading):
                formatter.write_dl(
                    [
                        (name.ljust(width), command.get_short_help_str(formatter.width - width - 6))
                        for name, command in commands
                        if command
                    ]
                )

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*_MODULES, *self.commands, *installed_parts(COMMANDS)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        # if the name is unknown, click suggests similar ones, so it needs all names
        known = {*_MODULES, *self.commands}
        names = [cmd_name] if cmd_name in known else {*known, *installed_parts(COMMANDS)}
        for name in [cmd_name] if cmd_name in names else names:
            if name not in self.commands:
                self.add_command(_load_command(name), name)
        return super().get_command(ctx, cmd_name)


def _load_command(name: str) -> click.Command:
    """Return a command of this folder or of an installed package."""
    if name in _MODULES:
        command: click.Command = getattr(import_module(f".{_MODULES[name]}", __package__), name)
        return command
    part = installed_parts(COMMANDS)[name]
    try:
        found = getattr(import_module(part.module), part.attribute)
        if isinstance(found, click.Command):
            return found
        reason = f'"{part.value}" is not a click command'
    except Exception as error:
        # a package with an error must not break `--help` and other commands
        reason = f"{type(error).__name__}: {error}"
    return _broken_command(name, f"cannot load {part.label}: {reason}")


def _broken_command(name: str, message: str) -> click.Command:
    """Return a command that only reports why the real one cannot run."""

    def fail(**_: object) -> int:
        terminal.warn(message)
        return 1

    ignored = {"ignore_unknown_options": True, "allow_extra_args": True}
    return click.Command(name, callback=fail, help=f"{message}.", context_settings=ignored)


@click.group(
    cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, "-V", "--version", message="%(prog)s %(version)s")
def cli() -> None:
    """Turn Markdown posts with formulas and code into a website."""


@cli.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@verbosity_options
def tokens(file: Path) -> int:
    """Print the Markdown tokens of FILE.

    Prints one line per token, with its line and column.
    """
    from ..build.site import describe_tokens

    terminal.print_line(describe_tokens(file, find_site(file.resolve().parent)))
    return 0


@cli.command()
@output_option
@site_option
@verbosity_options
def clean(output: Path | None, site: Path | None) -> int:
    """Remove the built site.

    Files in the output folder that blogsmith did not write are kept.
    """
    from ..base.storage.cache_file import remove_site_cache
    from ..write.output import clean as clean_output

    root = site_root(site)
    target = output.absolute() if output else root / site_config(root).output
    report = clean_output(target, root, is_chosen=output is not None)
    remove_site_cache(root)
    terminal.print_line(f"{plural(report.removed, 'file')} removed from {format_path(target)}/")
    return 0
