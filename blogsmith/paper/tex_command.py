"""`blogsmith tex`: write posts as LaTeX, for arXiv or as a book."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..api.commands import (
    ProgressBar,
    format_path,
    is_quiet,
    page_options,
    posts_options,
    print_messages,
    terminal,
)

if TYPE_CHECKING:
    from ..api.books import BuildOptions


_template_option = click.option(
    "--template",
    default="",
    metavar="NAME",
    help="Use `article`, `lecture-notes`, `amsart` or a LaTeX file with marked places.  "
    "[default: article for one post]",
)
_force_option = click.option("--force", is_flag=True, help="Write into a folder that is not empty.")


@click.command()
@posts_options("document", "-tex", _template_option, _force_option, is_folder=True)
@page_options
def tex(
    root: Path,
    options: BuildOptions,
    posts: tuple[str, ...],
    series: str,
    title: str,
    template: str,
    output: Path | None,
    force: bool,
) -> int:
    """Write POSTS as a folder with LaTeX.

    The folder contains main.tex, main.bbl, figures and a 00README for arXiv. Numbers, references and recorded
    results are those of the pages. No code runs. SVG images need the package `typst`.

    POSTS are source files or folders of the site.  [default: all posts with a date, oldest first]
    """
    from ..api.books import plural, write_book
    from .site_latex import make_latex

    with ProgressBar(sys.stderr, is_quiet=is_quiet()) as progress:
        made = make_latex(
            root, posts, options, series=series, title=title, template=template, progress=progress
        )
    print_messages(made.warnings)
    target = (output or Path(made.name)).absolute()
    if not force and target.is_dir() and any(target.iterdir()):
        raise click.UsageError(f'folder "{format_path(target)}" is not empty; add --force to write into it')
    for name, data in made.files.items():
        write_book(target / name, data, make=True)
    written = f"{plural(made.pages, 'post')}, {plural(len(made.files), 'file')}"
    terminal.print_line(f"{format_path(target)} written: {written}")
    return 0
