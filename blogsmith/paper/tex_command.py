"""`blogsmith tex`: write a post as LaTeX for arXiv."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..api.commands import ProgressBar, format_path, is_quiet, page_options, print_messages, terminal

if TYPE_CHECKING:
    from ..api.books import BuildOptions


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
@page_options
def tex(root: Path, options: BuildOptions, post: str, template: str, output: Path | None, force: bool) -> int:
    """Write POST as a folder with LaTeX.

    The folder contains main.tex, main.bbl, figures and a 00README for arXiv. Numbers, references and recorded
    results are those of the page. No code runs. SVG images need the package `typst`.

    POST is a source file or folder of the site.
    """
    from ..api.books import plural, write_book
    from .site_latex import make_latex

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
