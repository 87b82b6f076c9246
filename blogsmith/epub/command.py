"""`blogsmith epub`: write posts of the site as an e-book."""

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


@click.command()
@posts_options("book", ".epub")
@page_options
def epub(
    root: Path, options: BuildOptions, posts: tuple[str, ...], series: str, title: str, output: Path | None
) -> int:
    """Write POSTS as an EPUB book.

    Formulas are MathML. Images and recorded results are the same as on the pages. No code runs.

    POSTS are source files or folders of the site.  [default: all posts with a date, oldest first]
    """
    from ..api.books import format_size, plural, write_book
    from .site_book import make_site_book

    with ProgressBar(sys.stderr, is_quiet=is_quiet()) as progress:
        book = make_site_book(root, posts, options, series=series, title=title, progress=progress)
    print_messages(book.warnings)
    target = output or Path(f"{book.name}.epub")
    write_book(target.absolute(), book.data)
    chapters = plural(book.chapters, "chapter")
    terminal.print_line(
        f"{format_path(target.absolute())} written: {chapters}, {format_size(len(book.data))}"
    )
    return 0
