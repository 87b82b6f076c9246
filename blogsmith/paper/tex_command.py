"""`blogsmith tex`: write a post as LaTeX for arXiv."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ..api.commands import (
    CommandClock,
    ProgressBar,
    drafts_option,
    format_path,
    future_option,
    is_quiet,
    print_messages,
    site_option,
    site_root,
    terminal,
    verbosity_options,
)


@click.command()
@click.argument("post", type=click.Path(), metavar="POST")
@click.option(
    "--template",
    default="",
    metavar="NAME",
    help="Use `article`, `amsart` or a LaTeX file with marked places.  [default: article]",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="PATH",
    help="Folder to write.  [default: title with -tex, in the current folder]",
)
@click.option("--force", is_flag=True, help="Write into a folder that is not empty.")
@site_option
@drafts_option
@future_option
@verbosity_options
@click.pass_obj
def tex(
    clocks: CommandClock,
    post: str,
    template: str,
    output: Path | None,
    force: bool,
    site: Path | None,
    drafts: bool,
    future: bool,
) -> int:
    """Write POST as a folder with LaTeX.

    The folder contains main.tex, main.bbl, figures and a 00README for arXiv. Numbers, references and recorded
    results are those of the page. No code runs. SVG images need the package `typst`.

    POST is a source file or folder of the site.
    """
    root = site_root(site)
    from ..api.books import BuildOptions, plural, write_book
    from .site_latex import make_latex

    options = BuildOptions(now=clocks.now(), drafts=drafts, future=future, use_cache=True)
    with ProgressBar(sys.stderr, is_quiet=is_quiet()) as progress:
        made = make_latex(root, post, options, template=template, progress=progress)
    print_messages(made.warnings)
    target = (output or Path(made.name)).absolute()
    if not force and target.is_dir() and any(target.iterdir()):
        raise click.UsageError(f"folder {format_path(target)} is not empty; add --force to write into it")
    for name, data in made.files.items():
        write_book(target / name, data, make=True)
    terminal.print_line(f"{format_path(target)} written: {plural(len(made.files), 'file')}")
    return 0
