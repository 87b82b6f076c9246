"""Archives as sources. A `.tar.gz` from arXiv is unpacked to a temporary folder.

Only regular files with relative paths are unpacked: no links, devices and absolute paths.
"""

from __future__ import annotations

import gzip
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from ..api.importing import Diagnostic, Folder, SiteError, open_folder, temporary_folder

SUFFIXES = (".tar.gz", ".tgz", ".tar", ".tar.bz2", ".tar.xz", ".gz")
_MAX_BYTES = 500_000_000
_MAX_FILES = 10_000


def archive_suffix(name: str) -> str:
    """Return the suffix of an archive's name; empty if it is not an archive."""
    return next((suffix for suffix in SUFFIXES if name.lower().endswith(suffix)), "")


@contextmanager
def unpacked_source(source: Path) -> Iterator[Path]:
    """Yield the folder to import. This is `source` itself or, for an archive, a temporary folder with its
    content.

    Raise SiteError if the archive is damaged, or contains too many or too large files.
    """
    if not (archive_suffix(source.name) and source.is_file()):
        yield source
        return
    with temporary_folder() as parent:
        name = source.name[: -len(archive_suffix(source.name))] or "source"
        with open_folder(parent / name, make=True) as folder:
            try:
                _unpack(source, folder)
            except (OSError, EOFError, tarfile.TarError, zlib.error) as error:
                message = f'invalid archive "{source}"'
                hint = "unpack it, and import the folder"
                raise SiteError(Diagnostic("import-source", message, hint=hint)) from error
        yield parent / name


def _unpack(source: Path, folder: Folder) -> None:
    left, count = _MAX_BYTES, 0
    if not tarfile.is_tarfile(source):
        # arXiv compresses a paper of one file without tar
        with gzip.open(source) as compressed:
            data = compressed.read(_MAX_BYTES + 1)
        _reject_size(source, _MAX_BYTES - len(data), 1)
        folder.replace("paper.tex", data)
        return
    with tarfile.open(source) as archive:
        for member in archive:
            path = PurePosixPath(member.name)
            if not member.isreg() or path.is_absolute() or ".." in path.parts or not path.name:
                continue
            left, count = left - member.size, count + 1
            _reject_size(source, left, count)
            stream = archive.extractfile(member)
            if stream is not None:
                with folder.enter(path.parent, make=True) as inner:
                    inner.replace(path.name, stream.read(), is_durable=False)


def _reject_size(source: Path, left: int, count: int) -> None:
    if left < 0 or count > _MAX_FILES:
        message = f'too many files or bytes in the archive "{source}"'
        hint = "unpack the files of the paper, and import their folder"
        raise SiteError(Diagnostic("import-source", message, hint=hint))
