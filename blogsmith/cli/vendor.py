"""`blogsmith vendor`: copy a library for interactive charts into the site.

The size and the SHA-256 of every file are constants, so a copy from any source is the same.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from ..base.diagnostics.counts import plural
from ..model.live_libraries import FOLDER, LIBRARIES, Library, LibraryFile
from ..project.report import Progress
from . import terminal
from .options import site_option, site_root
from .progress_bar import ProgressBar
from .site_folder import format_path
from .verbosity import is_quiet, verbosity_options

_NPM = "https://cdn.jsdelivr.net/npm/"
"""Base URL of npm packages on jsDelivr."""
_NOTICE = "NOTICE.txt"


@click.command()
@click.argument("library", type=click.Choice(sorted(LIBRARIES)))
@click.option(
    "--from",
    "given",
    metavar="PATH|URL",
    default="",
    help="Folder or https URL with the files of the library.  [default: npm, through jsdelivr.net]",
)
@site_option
@verbosity_options
def vendor(library: str, given: str, site: Path | None) -> int:
    """Copy a library for interactive charts into the site.

    Pages with charts of this library then show the button "Make interactive". Readers load the library from
    your site, after a click. The SHA-256 of every file is checked.
    """
    root = site_root(site)
    from ..base.storage.lock import site_lock
    from ..pyodide.source import SourceError
    from .pyodide_vendor import file_contents, replace_folder, vendor_error

    target = root / FOLDER / library
    if not target.parent.resolve().is_relative_to(root.resolve()):
        raise vendor_error(f'invalid folder "{FOLDER}": it is outside the site', "remove the link")
    found = LIBRARIES[library]
    try:
        with site_lock(root, 0), ProgressBar(sys.stderr, is_quiet=is_quiet()) as progress:
            files = {file.name: data for file, data in _read(found, given, target, progress)}
            files[_NOTICE] = _notice(found).encode()
            if others := file_contents(target).keys() - files.keys():
                message = f'unknown file "{min(others)}" in "{FOLDER}/{library}"'
                raise vendor_error(message, "move the file away")
            is_changed = file_contents(target) != files
            if is_changed:
                replace_folder(root, target, files)
    except SourceError as problem:
        raise vendor_error(str(problem), "nothing was changed") from problem
    except OSError as error:
        message = f'invalid folder "{FOLDER}/{library}": {error.strerror or error}'
        raise vendor_error(message, "nothing was changed") from error
    _print_summary(found, files, target, is_changed=is_changed)
    return 0


def _read(
    library: Library, given: str, target: Path, progress: Progress
) -> Iterator[tuple[LibraryFile, bytes]]:
    """Yield each file of the library with its checked content. A file that is already valid in `target` is
    not loaded again."""
    from ..pyodide.source import SourceError, WebSource, open_source
    from .pyodide_vendor import read_valid_file, sha256

    for number, file in enumerate(library.files):
        progress(file.name, number, len(library.files))
        data = read_valid_file(target / file.name, file.sha256)
        if data is None:
            folder, _, name = f"{file.package}/{file.path}".rpartition("/")
            source = open_source(given) if given else WebSource(f"{_NPM}{folder}/")
            data = source.read(file.name if given else name, file.size, lambda done: None)
            if sha256(data) != file.sha256:
                message = (
                    f'invalid "{file.name}" from "{source.name}": its SHA-256 differs from "{file.package}"'
                )
                raise SourceError(message)
        yield file, data


def _notice(library: Library) -> str:
    """Return the notice that the licence requires next to the files."""
    files = (f"{file.name}: {file.package}, {file.path} on npm" for file in library.files)
    return "\n".join([f"{library.title}, under the licence {library.licence}", "", *files, ""])


def _print_summary(library: Library, files: Mapping[str, bytes], target: Path, *, is_changed: bool) -> None:
    from ..model.units import format_size

    verb = "copied to" if is_changed else "already in"
    total = format_size(sum(map(len, files.values())))
    count = plural(len(files), "file")
    terminal.print_line(f"{library.title}: {count}, {total}, {verb} {format_path(target)}/")
