"""What several commands share: the options they have in common, and the site that `--site` means."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .site_folder import CONFIG_FILE, find_site_folder

if TYPE_CHECKING:
    from ..config.schema import Config

STALE = 3
"""Exit code: nothing is wrong but results that are missing or stale."""

site_option = click.option(
    "--site",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    help=f"Folder of the site; by default the current one or the nearest above that holds {CONFIG_FILE}.",
)
drafts_option = click.option(
    "--drafts", is_flag=True, help="Include posts with `draft: true`, and expired ones."
)
future_option = click.option("--future", is_flag=True, help="Include posts dated in the future.")
output_option = click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Output folder; by default the setting output, which is public. It may lie outside the site.",
)


def find_site(start: Path) -> Path | None:
    """The nearest folder at or above `start`, a whole path, that holds the configuration, or None."""
    found = find_site_folder(str(start))
    return Path(found) if found else None


def site_root(given: Path | None) -> Path:
    """The site to work on; wrong usage if there is none."""
    start = (given or Path()).resolve()
    root = find_site(start)
    if root is None:
        message = f"no {CONFIG_FILE} in {start} or a folder above; `blogsmith new site FOLDER` makes a site"
        raise click.UsageError(message)
    return root


def files_of(root: Path, names: Sequence[str]) -> tuple[str, ...]:
    """Files and folders of the site that a command names, relative to it; wrong usage for anything else."""
    from ..project.focus import UnknownFile, select_files

    try:
        return select_files(root, names)
    except UnknownFile as problem:
        from ..base.diagnostics.format import printable

        raise click.UsageError(printable(str(problem))) from problem


def site_config(root: Path) -> Config:
    """The site's configuration; stops with its errors, if it has any."""
    from ..base.diagnostics.model import SiteError
    from ..config.load import load_config

    loaded = load_config(root)
    if any(diagnostic.severity == "error" for diagnostic in loaded.diagnostics):
        raise SiteError(*loaded.diagnostics)
    return loaded.config
