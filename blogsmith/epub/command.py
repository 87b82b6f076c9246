"""`blogsmith epub`: write posts of the site as an e-book."""

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
@click.argument("posts", nargs=-1, type=click.Path(), metavar="[POSTS]...")
@click.option(
    "--series", default="", metavar="NAME", help="Include the parts of the series NAME, in their order."
)
@click.option(
    "--title",
    default="",
    metavar="TITLE",
    help="Title of the book.  [default: title of the post, series or section]",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="PATH",
    help="File to write.  [default: title with .epub, in the current folder]",
)
@site_option
@drafts_option
@future_option
@verbosity_options
@click.pass_obj
def epub(
    clocks: CommandClock,
    posts: tuple[str, ...],
    series: str,
    title: str,
    output: Path | None,
    site: Path | None,
    drafts: bool,
    future: bool,
) -> int:
    """Write POSTS as an EPUB book.

    Formulas are MathML. Images and recorded results are the same as on the pages. No code runs.

    POSTS are source files or folders of the site.  [default: all posts with a date, oldest first]
    """
    if posts and series:
        raise click.UsageError("POSTS and --series exclude each other")
    root = site_root(site)
    from ..api.books import BuildOptions, format_size, plural, write_book
    from .site_book import make_site_book

    options = BuildOptions(now=clocks.now(), drafts=drafts, future=future, use_cache=True)
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
