"""The command line: options, exit codes, and where the clock and the terminal enter.

Exit codes: 0 done, 1 the site has errors, 2 wrong usage, 3 stale results under `--frozen`, 70 an internal
error, 130 interrupted. Results go to stdout, messages to stderr. What a command needs is imported when it
runs, so that `--help` and shell completion stay quick.
"""

from __future__ import annotations

import shlex
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import click

from .. import __version__
from ..diagnostics.format import plural, print_diagnostics, printable, wants_color
from ..diagnostics.model import SiteError
from . import terminal
from .build import build, check, execute
from .clock import Clocks
from .freeze import freeze
from .math import math
from .new import new_post, new_site
from .options import (
    find_site,
    format_path,
    output_option,
    site_config,
    site_option,
    site_root,
    verbose_option,
)
from .pyodide import pyodide
from .serve import serve
from .trust import trust


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="%(prog)s %(version)s")
def cli() -> None:
    """Turn Markdown posts with formulas and code into a web site."""


for _command in (build, check, execute, freeze, math, pyodide, serve, trust):
    cli.add_command(_command)


@cli.group()
def new() -> None:
    """Start a site or a post."""


@new.command("site")
@click.argument("folder", type=click.Path(path_type=Path))
@click.pass_obj
def new_site_command(clocks: Clocks, folder: Path) -> int:
    """Make FOLDER a site with a configuration and a first post."""
    from ..trust.consent import trust as record_trust

    written = new_site(folder, clocks.now().date())
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

    root = site_root(site)
    today = clocks.now().astimezone(ZoneInfo(site_config(root).timezone)).date()
    terminal.print_line(format_path(new_post(root, title, today, section=section, bundle=bundle)))
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
    from ..pipeline.row_store import remove_rows
    from ..write.output import clean as clean_output

    root = site_root(site)
    target = output.absolute() if output else root / site_config(root).output
    report = clean_output(target, root, is_chosen=output is not None)
    remove_rows(root)
    remove_stamps(root)
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


def main(argv: Sequence[str] | None = None, clocks: Clocks | None = None) -> int:
    """Run one command; the one place where an outcome becomes an exit code."""
    terminal.prepare_streams()
    arguments = sys.argv[1:] if argv is None else list(argv)
    try:
        outcome = cli.main(arguments, prog_name="blogsmith", standalone_mode=False, obj=clocks or Clocks())
        return outcome if isinstance(outcome, int) else 0
    except SystemExit as finished:  # click ends completion and writing to a closed pipe this way
        return finished.code if isinstance(finished.code, int) else 1
    except (click.Abort, KeyboardInterrupt):
        return 130
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except SiteError as error:
        print_diagnostics(error.diagnostics, sys.stderr, wants_color(sys.stderr))
        return 1
    except OSError as error:
        # The machine refuses: no permission, disk full, a folder that went away.
        terminal.warn(f"error: {printable(str(error))}")
        return 1
    except Exception as error:
        return _report_bug(error, verbose=not {"-v", "--verbose"}.isdisjoint(arguments))


def _report_bug(error: Exception, verbose: bool) -> int:
    """One line for the author; the traceback only when asked for."""
    if verbose:
        traceback.print_exc()
    summary = f"{type(error).__name__}: {error}".splitlines()[0]
    terminal.warn(f"blogsmith has a bug: {summary}")
    terminal.warn("please report it together with what `-v` shows" if not verbose else "please report it")
    return 70
