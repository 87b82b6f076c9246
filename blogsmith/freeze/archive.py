"""Archives of recorded results, to copy results from a machine that cannot push. Also removes unused results.

An archive comes from another machine: it is read and checked completely before any file is written.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import tarfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from msgspec import Struct

from ..base.diagnostics.model import Diagnostic, SiteError
from ..base.storage.folder import Folder, open_folder
from ..base.storage.tree import scan
from .record import PageRecord
from .record_form import IMAGE_NAME
from .record_json import edit_error, find_record_edits, from_json, to_json
from .signatures import SIGNATURE
from .store import (
    FREEZE,
    OUTPUTS,
    freeze_lock,
    image_digests,
    page_folder,
    read_folder,
    read_signature,
    unreferenced_files,
    write_page_folder,
    write_problem,
)

MAX_BYTES = 256 * 1024 * 1024
"""Largest size of an archive in bytes, uncompressed, because all of it is in memory."""
ARCHIVE_ERRORS = (ValueError, EOFError, OSError, tarfile.TarError, zlib.error)
"""Exceptions raised by reading an archive that is damaged or hostile."""


class UnpackResult(Struct, frozen=True):
    """Outcome of unpacking an archive. Each field lists folders, relative to the site root."""

    placed: tuple[str, ...] = ()
    """Folders that were written, either as new ones or in place of another record."""
    same: tuple[str, ...] = ()
    """Folders whose existing results are equal to those in the archive, except perhaps for the date."""
    kept: tuple[str, ...] = ()
    """Folders whose existing results differ from those in the archive and were not replaced."""


class PackedPage(Struct, frozen=True):
    """Folder of one page in an archive, after it was checked."""

    outputs: bytes
    pictures: dict[str, bytes]
    record: PageRecord
    signature: bytes = b""
    """Signature of `outputs`; empty if there is none. The next build verifies it."""


def pack(root: Path, posts: Iterable[PurePosixPath], target: Path) -> tuple[str, ...]:
    """Write the recorded results of `posts` to the `.tar.gz` file `target`. Return the folders in it. The
    same results give the same bytes. Raises `SiteError` `freeze-archive` if the file cannot be written."""
    files: dict[str, bytes] = {}
    folders = sorted({page_folder(post) for post in posts})
    try:
        with freeze_lock(root):
            for folder in folders:
                files |= _folder_files(root, folder)
        with open_folder(target.parent) as here:
            here.replace(target.name, _tar(files))
    except OSError as error:
        raise _archive_error(f'cannot write archive "{target.name}": {error.strerror or error}') from error
    return tuple(str(folder) for folder in folders if f"{folder}/{OUTPUTS}" in files)


def _folder_files(root: Path, folder: PurePosixPath) -> dict[str, bytes]:
    record = read_folder(root, folder).record
    if record is None:
        return {}
    pictures = {f"{folder}/{name}": (root / folder / name).read_bytes() for name in image_digests(record)}
    signature = read_signature(root, folder, to_json(record))
    signed = {f"{folder}/{SIGNATURE}": signature} if signature else {}
    return {f"{folder}/{OUTPUTS}": to_json(record), **signed, **pictures}


def unpack(root: Path, source: Path, *, keep_existing: bool = False) -> UnpackResult:
    """Unpack the results of an archive. They replace other recorded results unless `keep_existing` is set.
    Return the folders concerned.

    Raises `SiteError` `freeze-archive` if the archive contains anything but complete, valid records. In this
    case no file is written.
    """
    try:
        with source.open("rb") as stream:
            folders = read_archive(stream)
    except ARCHIVE_ERRORS as error:
        raise _archive_error(f'invalid archive "{source.name}": {_format_error(error)}') from error
    placed, same, kept = [], [], []
    with freeze_lock(root):
        for name, folder in sorted(folders.items()):
            here = read_folder(root, PurePosixPath(name)).record
            if here is not None and here.timeless() == folder.record.timeless():
                same.append(name)
            elif here is not None and keep_existing:
                kept.append(name)
            else:
                named = image_digests(folder.record)
                place = PurePosixPath(name)
                write_page_folder(root, place, folder.outputs, folder.pictures, named, folder.signature)
                placed.append(name)
    return UnpackResult(tuple(placed), tuple(same), tuple(kept))


def prune(
    root: Path,
    pages: Collection[PurePosixPath],
    *,
    kept: Collection[PurePosixPath] = (),
    dry: bool = False,
) -> tuple[str, ...]:
    """Remove results of pages that are not among `pages`, and files in `_freeze/` that no record names.

    pages: all pages that have something to run, including drafts.
    kept: further folders with records that pages use.
    dry: whether to remove nothing and only return the messages.

    Return a message for each file or folder that is or would be removed. Files that blogsmith did not write
    are left alone.
    """
    wanted = {*map(str, kept), *(str(page_folder(page)) for page in pages)}
    said: list[str] = []
    with freeze_lock(root):
        try:
            with open_folder(root) as site:
                # nothing is recorded
                if site.status(FREEZE) is None:
                    return ()
                with site.enter(FREEZE) as records:
                    said += _prune(records, wanted, dry=dry)
        except OSError as error:
            raise write_problem(error, FREEZE) from error
    return tuple(said)


def _prune(records: Folder, wanted: Collection[str], *, dry: bool) -> Iterator[str]:
    """Yield a message for each file or folder removed below `_freeze/`."""
    for path in ["", *sorted(scan(records).folders)]:
        name = f"{FREEZE}/{path}".rstrip("/")
        # `_freeze/` itself belongs to no page, but an interrupted writer may have left a file there.
        is_wanted = name in wanted or not path
        with records.enter(path) as folder:
            gone = _find_leftovers(folder, is_wanted=is_wanted)
            if is_wanted:
                yield from (f"{name}/{file}: not used by any record" for file in gone)
            elif gone:
                yield f"{name}: no page with this path runs code"
            if not dry:
                for file in gone:
                    folder.remove(file)
        if gone and not dry:
            _remove_empty(records, path)


def _find_leftovers(folder: Folder, *, is_wanted: bool) -> list[str]:
    """Return the files in a folder that blogsmith wrote and that are no longer needed.

    is_wanted: whether a page needs the folder. If so, return the files that the folder's record does not
    name, or none if the record is unreadable. If not, return all files that blogsmith wrote.
    """
    named = [name for name in (OUTPUTS, SIGNATURE) if folder.status(name) is not None]
    if not is_wanted or OUTPUTS not in named:
        return [*unreferenced_files(folder, {}), *named]
    found = from_json(folder.read(OUTPUTS), folder.path.name)
    return unreferenced_files(folder, image_digests(found)) if isinstance(found, PageRecord) else []


def _remove_empty(records: Folder, path: str) -> None:
    """Remove a folder and its parents while they are empty, but never `_freeze/` itself."""
    while path:
        above, _, name = path.rpartition("/")
        with records.enter(above or ".") as parent:
            try:
                parent.remove_folder(name)
            except OSError:  # not empty
                return
        path = above


def _tar(files: dict[str, bytes]) -> bytes:
    """Return a tar.gz that contains no times, users or names of this machine."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name in sorted(files):
            member = tarfile.TarInfo(name)
            member.size = len(files[name])
            tar.addfile(member, io.BytesIO(files[name]))
    return gzip.compress(plain.getvalue(), mtime=0)


class _Bounded(io.RawIOBase):
    """Stream that raises `ValueError` after `MAX_BYTES`, so that a hostile archive cannot fill the memory."""

    def __init__(self, source: gzip.GzipFile) -> None:
        self._source = source
        self._left = MAX_BYTES

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._source.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise ValueError(f"it is larger than {MAX_BYTES // 2**20} MiB")
        return data


def _read_members(source: BinaryIO) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Yield the name and content of every file. Raises `ValueError` with a message for any other kind of
    member."""
    with gzip.open(source) as unzipped, tarfile.open(fileobj=_Bounded(unzipped), mode="r|") as tar:
        for member in tar:
            name = PurePosixPath(member.name)
            plain = member.isreg() and not member.sparse and member.name == str(name)
            if not plain or not _is_safe(name):
                raise ValueError(f'unexpected file "{member.name}"')
            stream = tar.extractfile(member)
            yield name, stream.read() if stream else b""


def _is_safe(name: PurePosixPath) -> bool:
    """Return whether a path stays below `_freeze/` on every system and ends in the name of a file that
    blogsmith writes."""
    if len(name.parts) < 3 or name.parts[0] != FREEZE:
        return False
    if any(part == ".." or re.search(r"[\\:\x00-\x1f]", part) for part in name.parts):
        return False
    return name.name in (OUTPUTS, SIGNATURE) or re.fullmatch(IMAGE_NAME, name.name) is not None


def read_archive(source: BinaryIO) -> dict[str, PackedPage]:
    """Map each folder to its content. Raises one of `ARCHIVE_ERRORS` if anything is not part of a complete
    record."""
    by_folder: dict[str, dict[str, bytes]] = {}
    for name, data in _read_members(source):
        folder = by_folder.setdefault(str(name.parent), {})
        if name.name in folder:
            raise ValueError(f"duplicate file {name}")
        folder[name.name] = data
    if not by_folder:
        raise ValueError("the archive is empty")
    return {name: _check_folder(name, contents) for name, contents in by_folder.items()}


def _check_folder(name: str, contents: dict[str, bytes]) -> PackedPage:
    outputs, signature = contents.pop(OUTPUTS, None), contents.pop(SIGNATURE, b"")
    if outputs is None:
        raise ValueError(f"missing file {name}/{OUTPUTS}")
    record = from_json(outputs, f"{name}/{OUTPUTS}")
    if isinstance(record, Diagnostic):
        raise ValueError(f"{record.path}: {record.message}")
    for edit in find_record_edits(outputs, record):
        raise ValueError(f"{name}/{OUTPUTS}: {edit_error(edit, name).message}")
    digests = {file: hashlib.sha256(data).hexdigest() for file, data in contents.items()}
    if digests != image_digests(record):
        raise ValueError(f"the images in {name} do not match its {OUTPUTS}")
    return PackedPage(outputs, contents, record, signature)


def _format_error(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if type(error) is ValueError:
        return str(error)
    return "the file is damaged, incomplete or not an archive of blogsmith"


def _archive_error(message: str) -> SiteError:
    hint = "write the archive again with `blogsmith freeze pack`, or copy it again"
    return SiteError(Diagnostic("freeze-archive", message, hint=hint))
