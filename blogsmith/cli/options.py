"""Options and functions shared by several commands, including the lookup of the site for `--site`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .site_folder import CONFIG_FILE, find_site_folder

if TYPE_CHECKING:
    from ..config.schema import Config

STALE = 3
"""Exit code if the only errors are missing or stale results."""

site_option = click.option(
    "--site",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    metavar="PATH",
    help=f"Folder of the site.  [default: the current folder, or the nearest parent with {CONFIG_FILE}]",
)
drafts_option = click.option(
    "--drafts", is_flag=True, help="Include posts with `draft: true` and expired posts."
)
future_option = click.option("--future", is_flag=True, help="Include posts dated in the future.")
output_option = click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="PATH",
    help="Output folder, inside or outside the site.  [default: output in blogsmith.yaml, or public]",
)


def find_site(start: Path) -> Path | None:
    """Return the nearest folder that contains the settings file: `start`, an absolute path, or a folder above
    it. None if there is none."""
    found = find_site_folder(str(start))
    return Path(found) if found else None


def site_root(given: Path | None) -> Path:
    """Return the root of the site to work on. Raise UsageError if there is none."""
    start = (given or Path()).resolve()
    root = find_site(start)
    if root is None:
        message = (
            f"no {CONFIG_FILE} in {start} or a parent folder: "
            "run `blogsmith new site FOLDER` to create a site"
        )
        raise click.UsageError(message)
    return root


def select_site_files(root: Path, names: Sequence[str]) -> tuple[str, ...]:
    """Return the files and folders named on the command line, relative to the site. Raise UsageError if one
    is not in the site."""
    from ..project.focus import UnknownFileError, select_files

    try:
        return select_files(root, names)
    except UnknownFileError as problem:
        from ..base.diagnostics.format import printable

        raise click.UsageError(printable(str(problem))) from problem


def site_config(root: Path) -> Config:
    """Return the settings of the site. Raise SiteError if they have errors."""
    from ..base.diagnostics.model import SiteError
    from ..config.load import load_config

    loaded = load_config(root)
    if any(diagnostic.severity == "error" for diagnostic in loaded.diagnostics):
        raise SiteError(*loaded.diagnostics)
    return loaded.config
