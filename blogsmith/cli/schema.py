"""`blogsmith schema`: print JSON Schemas of settings and front matter, for editors."""

from __future__ import annotations

from pathlib import Path

import click

from ..base.schema.files import SCHEMAS, schema_text
from . import terminal
from .site_folder import format_path
from .verbosity import verbosity_options


@click.command()
@click.argument("kind", type=click.Choice(SCHEMAS), default="config")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="PATH",
    help="File to write.  [default: print the schema]",
)
@verbosity_options
def schema(kind: str, output: Path | None) -> int:
    """Print a JSON Schema that editors use to complete and check keys.

    KIND is config, for blogsmith.yaml (the default), front-matter, or cell, for the options of cells. The
    manual's page on editors explains how to configure each editor.
    """
    text = schema_text(kind)
    if output is None:
        terminal.print_line(text.removesuffix("\n"))
        return 0
    from ..base.storage.folder import open_folder

    try:
        with open_folder(output.absolute().parent, make=True) as folder:
            folder.replace(output.name, text.encode())
    except OSError as error:
        raise click.ClickException(f'cannot write "{output}": {error.strerror or error}') from error
    terminal.print_line(format_path(output))
    return 0
