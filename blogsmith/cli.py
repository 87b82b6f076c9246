"""The command line: options, exit codes, and where the clock and the terminal enter.

Exit codes: 0 done, 1 the site has errors, 2 wrong usage, 70 a bug of ours, 130 interrupted.
Results go to stdout, messages to stderr. What a command needs is imported when it runs, so that
`--help` and shell completion stay quick.
"""

from __future__ import annotations

import shlex
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from . import __version__, terminal
from .clocks import Clocks
from .errors import SiteError
from .ledger import BuildOptions
from .math_command import math
from .new import new_post, new_site
from .options import find_site, site_config, site_option, site_root, verbose_option
from .progress import ProgressBar
from .report import plural, print_diagnostics, printable, wants_color
from .summary import scheduled_lines, summary_line, timing_table

# Options of every command that builds, in the order of the help text.
_BUILD_OPTIONS = (
    site_option,
    click.option("--drafts", is_flag=True, help="Include posts with `draft: true`; by default left out."),
    click.option("--future", is_flag=True, help="Include posts dated in the future; by default left out."),
    click.option("--strict", is_flag=True, help="Treat warnings as errors; by default they are only shown."),
    click.option(
        "--base-url", metavar="URL", help="Address the site will have; by default the setting base_url."
    ),
    click.option(
        "--timings", is_flag=True, help="Show the seconds spent in each stage; by default not shown."
    ),
    verbose_option,
)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="%(prog)s %(version)s")
def cli() -> None:
    """Turn Markdown posts with formulas and code into a web site."""


cli.add_command(math)


@cli.group()
def new() -> None:
    """Start a site or a post."""


@new.command("site")
@click.argument("folder", type=click.Path(path_type=Path))
@click.pass_obj
def new_site_command(clocks: Clocks, folder: Path) -> int:
    """Make FOLDER a site with a configuration and a first post."""
    written = new_site(folder, clocks.now().date())
    terminal.say(
        f"{plural(len(written), 'file')} written; next: cd {shlex.quote(str(folder))} && blogsmith build"
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
    terminal.say(_shown(new_post(root, title, today, section=section, bundle=bundle)))
    return 0


def _building(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of every command that builds."""
    for option in reversed(_BUILD_OPTIONS):
        command = option(command)
    return command


@cli.command()
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder to write to; by default the setting output, which is public.",
)
@_building
@click.pass_obj
def build(clocks: Clocks, /, output: Path | None, **options: Any) -> int:
    """Build the site."""
    return _build(clocks, output=output and output.absolute(), write=True, **options)


@cli.command()
@_building
@click.pass_obj
def check(clocks: Clocks, /, **options: Any) -> int:
    """Report what is wrong or doubtful, and write nothing.

    Tells what a build would tell, and warns of unused macros and labels, of dollar signs that may mean
    something else, and of formulas that do not keep to the site's notation.
    """
    return _build(clocks, output=None, write=False, **options)


@cli.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@verbose_option
def tokens(file: Path) -> int:
    """Print how FILE is read.

    One line for each Markdown token, with its line and column.
    """
    from .build import tokens_of

    terminal.say(tokens_of(file, find_site(file.resolve().parent)))
    return 0


@cli.command()
@site_option
@verbose_option
def clean(site: Path | None) -> int:
    """Remove the built site.

    Files in the output folder that blogsmith did not write are kept.
    """
    from .write.output import clean as clean_output

    root = site_root(site)
    target = root / site_config(root).output
    report = clean_output(target, root)
    terminal.say(f"{plural(report.removed, 'file')} removed from {_shown(target)}/")
    return 0


@cli.command()
@site_option
def trust(site: Path | None) -> int:
    """Allow the site's own plugins to run.

    Plugins are Python code that runs when the site is built; read them first. Consent is kept outside
    the site and ends when their code changes.
    """
    from .trust import trust as record_trust

    root = site_root(site)
    record_trust(root)
    terminal.say(f"plugins of {root} may run until their code changes")
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
    terminal.say(completer(cli, {}, "blogsmith", "_BLOGSMITH_COMPLETE").source())
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


def _build(clocks: Clocks, *, site: Path | None, timings: bool, **options: Any) -> int:
    """Build with `options`, which are fields of BuildOptions, and report what came of it."""
    root = site_root(site)
    from .build import build_site

    settings = BuildOptions(now=clocks.now(), **options)
    started = clocks.seconds()
    with ProgressBar(sys.stderr) as progress:
        report = build_site(root, settings, progress)
    seconds = clocks.seconds() - started
    print_diagnostics(report.diagnostics, sys.stderr, wants_color(sys.stderr))
    for line in scheduled_lines(report):
        terminal.warn(line)
    if report.ok:
        terminal.say(summary_line(report, seconds, _target(root, settings)))
    if timings:
        terminal.say(timing_table(report.timings))
    return 0 if report.ok else 1


def _target(root: Path, settings: BuildOptions) -> str:
    """The folder that was written to, for the summary; empty if nothing is written."""
    if not settings.write:
        return ""
    return f"{_shown(settings.output or root / site_config(root).output)}/"


def _shown(path: Path) -> str:
    """The path as the author would type it here: relative if it is below the current folder."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _report_bug(error: Exception, verbose: bool) -> int:
    """One line for the author; the traceback only when asked for."""
    if verbose:
        traceback.print_exc()
    summary = f"{type(error).__name__}: {error}".splitlines()[0]
    terminal.warn(f"blogsmith has a bug: {summary}")
    terminal.warn("please report it together with what `-v` shows" if not verbose else "please report it")
    return 70
