"""`blogsmith pdf`: write posts of the site as a PDF."""

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
    help="Use `article`, `lecture-notes` or a Typst file.  [default: article for one post]",
)


@click.command()
@posts_options("document", ".pdf", _template_option)
@page_options
def pdf(
    root: Path,
    options: BuildOptions,
    posts: tuple[str, ...],
    series: str,
    title: str,
    template: str,
    output: Path | None,
) -> int:
    """Write POSTS as a PDF.

    Numbers, references and recorded results are those of the pages. No code runs. Needs the package `typst`.

    POSTS are source files or folders of the site.  [default: all posts with a date, oldest first]
    """
    from ..api.books import format_size, plural, write_book
    from .site_paper import make_paper

    with ProgressBar(sys.stderr, is_quiet=is_quiet()) as progress:
        paper = make_paper(
            root, posts, options, series=series, title=title, template=template, progress=progress
        )
    print_messages(paper.warnings)
    target = (output or Path(f"{paper.name}.pdf")).absolute()
    write_book(target, paper.data)
    size = format_size(len(paper.data))
    terminal.print_line(f"{format_path(target)} written: {plural(paper.pages, 'post')}, {size}")
    return 0
