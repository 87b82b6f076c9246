"""`blogsmith pdf`: write posts of the site as a PDF."""

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
    help="Title of the document.  [default: title of the post, series or section]",
)
@click.option(
    "--template",
    default="",
    metavar="NAME",
    help="Use `article`, `lecture-notes` or a Typst file.  [default: article for one post]",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="PATH",
    help="File to write.  [default: title with .pdf, in the current folder]",
)
@site_option
@drafts_option
@future_option
@verbosity_options
@click.pass_obj
def pdf(
    clocks: CommandClock,
    posts: tuple[str, ...],
    series: str,
    title: str,
    template: str,
    output: Path | None,
    site: Path | None,
    drafts: bool,
    future: bool,
) -> int:
    """Write POSTS as a PDF.

    Numbers, references and recorded results are those of the pages. No code runs. Needs the package `typst`.

    POSTS are source files or folders of the site.  [default: all posts with a date, oldest first]
    """
    if posts and series:
        raise click.UsageError("POSTS and --series exclude each other")
    root = site_root(site)
    from ..api.books import BuildOptions, format_size, plural, write_book
    from .site_paper import make_paper

    options = BuildOptions(now=clocks.now(), drafts=drafts, future=future, use_cache=True)
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
