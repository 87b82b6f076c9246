"""What of a source is copied: regular files of its own that can be read, and are no larger than a site's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .model import ImportedFile, Notice, SiteImport
from .source_files import open_file, outer_links

LARGEST = 500_000_000
"""Bytes of one file; hosts of sites take no larger ones, and one with holes costs nobody anything to make."""

FOLDERS = ("content", "static")
"""Where files of a source may stand in the new site: nothing there is code that runs, as in `plugins/`."""
BIBLIOGRAPHIES = "bibliography"
"""Beside them, for `.bib` files alone: they are data, and are not published."""


def with_files_that_can_be_read(site: SiteImport) -> SiteImport:
    """The import without files that cannot be copied, each with a notice; so have links that lead out."""
    problems = {file: problem for file in site.files if (problem := _problem(file))}
    files = tuple(file for file in site.files if file not in problems)
    notices = [Notice("missing", why, str(file.path)) for file, why in problems.items()]
    return replace(site, files=files, notices=(*site.notices, *notices, *_links(site)))


def _problem(file: ImportedFile) -> str:
    """Why a file is not copied; empty if it is."""
    is_bibliography = file.path.parent.as_posix() == BIBLIOGRAPHIES and file.path.suffix == ".bib"
    if not (file.path.parts[0] in FOLDERS or is_bibliography) or ".." in file.path.parts:
        return "the file has no place in the new site"
    try:
        with open_file(file.file):
            size = file.file.stat().st_size
    except (OSError, ValueError) as error:
        return f"the file cannot be read: {getattr(error, 'strerror', '') or error}"
    return f"the file is larger than {LARGEST // 1_000_000} MB, and not copied" if size > LARGEST else ""


def _links(site: SiteImport) -> Iterator[Notice]:
    for path in outer_links(site.root):
        yield Notice("missing", "a link that leads out of the site is not followed", str(path))
