"""Files of the new site. Determines their content, and writes them to the folder where the import is
built."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from io import BufferedReader, BytesIO
from pathlib import Path, PurePosixPath

from ..api.importing import (
    Diagnostic,
    Folder,
    Progress,
    SiteError,
    bundled_folder,
    lazy_pattern,
    open_folder,
    printable,
)
from .kept_lines import keep_lines
from .model import ImportedPage, SiteImport
from .source_files import open_file
from .text.data import format_yaml

RECORD = "import-report.json"
REPORT = "import-report.md"
_UNUSUAL = lazy_pattern(r"[^\n -~]+")


def site_files(site: SiteImport) -> dict[str, bytes | Path]:
    """Return path → content for all files of the new site, sorted by path. The content is bytes, or the path
    of a file to copy."""
    ignored = bundled_folder("starter").joinpath("gitignore").read_bytes()
    files: dict[str, bytes | Path] = {
        ".gitignore": ignored,
        "blogsmith.yaml": format_yaml(site.settings).encode(),
    }
    files |= {str(file.path): file.file for file in site.files}
    files |= {str(made.path): made.data for made in site.made}
    files |= {str(page.path): page_text(page).encode("utf-8", "replace") for page in site.pages}
    return dict(sorted(files.items()))


def page_text(page: ImportedPage) -> str:
    """Return the text of a page file."""
    written = format_yaml(page.front)
    head = f"---\n{keep_lines(page.head, written) if page.head else written}---\n\n" if page.front else ""
    return f"{head}{page.text.strip()}\n"


def write_site_files(
    files: Mapping[str, bytes | Path],
    into: Path,
    progress: Progress,
    written: Mapping[str, str] | None = None,
) -> Mapping[str, str]:
    """Write a site to a temporary folder. Return path → digest for all files.

    written: path → digest of the files already in the folder. Raise SiteError if a file cannot be read, or
    the folder cannot be written.
    """
    done = written or {}
    digests = _digests(files, done)
    try:
        with open_folder(into) as top:
            for number, (path, content) in enumerate(files.items()):
                progress("write", number, len(files))
                if done.get(path) != digests[path]:
                    replace_file(top, path, content)
            for place in sorted(map(PurePosixPath, done.keys() - digests.keys())):
                with top.enter(place.parent) as folder:
                    folder.remove(place.name)
    except OSError as error:
        raise write_error(into, error) from error
    return digests


def write_error(into: Path, error: OSError) -> SiteError:
    """Return the error for a folder that cannot be written."""
    hint = "check the permissions of the folder and the free space"
    return SiteError(Diagnostic("new-write", f'cannot write "{into}": {error.strerror or error}', hint=hint))


def write_reports(reports: Mapping[str, bytes], into: Path) -> None:
    """Write the reports to a folder that contains the imported site."""
    try:
        with open_folder(into) as top:
            for name, data in reports.items():
                top.replace(name, data)
    except OSError as error:
        raise write_error(into, error) from error


def record_text(data: Mapping[str, object]) -> bytes:
    """Return the JSON of a record."""
    text = json.dumps(data, indent=1, ensure_ascii=False) + "\n"
    # escape control characters of terminals and invisible characters
    return _UNUSUAL.sub(lambda found: _escaped(found[0]), text).encode("utf-8")


def _escaped(text: str) -> str:
    return "".join(char if printable(char) == char else json.dumps(char)[1:-1] for char in text)


def _digests(files: Mapping[str, bytes | Path], written: Mapping[str, str]) -> dict[str, str]:
    """Return path → digest for all files. A file to copy is not read again if its digest is in `written`."""
    found: dict[str, str] = {}
    for path, content in files.items():
        known = written.get(path) if isinstance(content, Path) else None
        try:
            found[path] = known or digest_content(content)
        except OSError as error:
            message = f'cannot read "{content!s}": {error.strerror or error}'
            hint = "import again: the source changed during the import"
            raise SiteError(Diagnostic("import-source", message, hint=hint)) from error
    return found


def replace_file(top: Folder, path: str, content: bytes | Path, *, is_durable: bool = False) -> None:
    """Replace a file below `top` atomically. is_durable: whether the file must survive a power failure, which
    is slow for thousands of files."""
    place = PurePosixPath(path)
    with top.enter(place.parent, make=True) as folder, _stream(content) as stream:
        folder.replace(place.name, stream, is_durable=is_durable)


def digest_content(content: bytes | Path | BufferedReader) -> str:
    """Return the SHA-256 of bytes or of a file, in hexadecimal."""
    if isinstance(content, BufferedReader):
        return hashlib.file_digest(content, "sha256").hexdigest()
    with _stream(content) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _stream(content: bytes | Path) -> BufferedReader | BytesIO:
    return BytesIO(content) if isinstance(content, bytes) else open_file(content)
