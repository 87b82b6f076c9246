"""Reads and writes recorded results: one folder per page under `_freeze/`, which authors commit.

`outputs.json` names the images in its folder. New images are written before this file, and old ones are
removed after it. So if writing is interrupted at any time, either the old or the new record can be read
completely.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from ..base.diagnostics.model import Diagnostic, SiteError
from ..base.patterns import lazy_pattern
from ..base.storage.folder import TEMPORARY_PREFIX, Folder, open_folder
from ..base.storage.lock import LockBusyError, hold_lock
from ..base.storage.own_folder import open_own_folder
from ..model.results import DARK, Blob, CellOutput, Display
from ..model.slugs import slugify
from .record import CellRecord, PageRecord, SessionRecord
from .record_form import IMAGE_NAME
from .record_json import damage, edit_error, find_record_edits, from_json, to_json
from .seals import Edit
from .signatures import SIGNATURE, SIGNERS, find_signer

FREEZE = "_freeze"
OUTPUTS = "outputs.json"
MOST_BYTES = 64 * 1024 * 1024
"""Maximum size of one file in bytes. A cell stores at most 1 MiB of text, so no record is nearly as large."""
_READ_ONLY = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_BINARY", "O_NOFOLLOW"))
_OUTSIDE = "a symbolic link points outside the site"
_OURS = lazy_pattern(rf"{IMAGE_NAME}|{re.escape(TEMPORARY_PREFIX)}.*")
ATTRIBUTES_PATH = PurePosixPath(FREEZE, ".gitattributes")
GIT_ATTRIBUTES = "* -text -merge linguist-generated=true\n"
"""Settings for Git: never change line ends, never merge records line by line, collapse the files in reviews.
"""
_SUFFIXES = MappingProxyType({"image/svg+xml": "svg", "image/png": "png", "image/jpeg": "jpg"})


class ReadResult(Struct, frozen=True):
    """Outcome of reading the record of one page."""

    record: PageRecord | None
    """The record; None if it does not exist or cannot be read."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Errors about damaged files, edited sessions and invalid signatures. The results concerned are treated
    as missing. If a signature cannot be verified, there is a warning."""
    signer: str = ""
    """Name of the signer; empty if the record has no valid signature."""


def page_folder(path: PurePosixPath) -> PurePosixPath:
    """Return the folder with the results of a page: `content/posts/a.md` → `_freeze/posts/a`."""
    inside = path.parts[1:] if path.parts[0] == "content" else path.parts
    return PurePosixPath(FREEZE, *inside[:-1], path.stem)


def read_page(root: Path, path: PurePosixPath) -> ReadResult:
    """Return the record of a page. Cells whose images differ from the recorded digests are left out."""
    return read_folder(root, page_folder(path))


def read_folder(root: Path, folder: PurePosixPath, *, verifies: bool = True) -> ReadResult:
    """Return the record in one folder under `_freeze/`, checked as in `read_page`. verifies: whether to
    verify its signature."""
    name = folder / OUTPUTS
    data = None
    if is_outside_site(root, folder):
        return ReadResult(None, (damage(str(name), f"cannot read the recorded results: {_OUTSIDE}"),))
    while True:
        last = data
        try:
            data = read_file(f"{root}/{name}")
        except (FileNotFoundError, NotADirectoryError):
            return ReadResult(None)
        except OSError as error:
            what = f"cannot read the recorded results: {error.strerror or error}"
            return ReadResult(None, (damage(str(name), what),))
        found = from_json(data, str(name))
        if isinstance(found, Diagnostic):
            return ReadResult(None, (found,))
        bad = _bad_pictures(f"{root}/{folder}", found)
        # A writer may have removed images after the file was read. If so, the file has changed too: read it
        # again.
        if not bad or data == last:
            intact = _drop_edited(_drop_cells(found, bad, name), find_record_edits(data, found), name)
            return _verify(intact, root, name, data) if verifies else intact


def read_signers(root: Path) -> bytes:
    """Return the content of the list of people who may sign records. Empty if the site has no list."""
    try:
        return read_file(f"{root}/{FREEZE}/{SIGNERS}")
    except OSError:
        return b""


def last_date(record: PageRecord) -> str:
    """Return the ISO date of the last run in a record. Empty if it has none."""
    return max((session.origin.date for session in record.sessions.values()), default="")


def _verify(found: ReadResult, root: Path, name: PurePosixPath, data: bytes) -> ReadResult:
    """Return `found` with the name of the signer. If the signature is not valid, return a result without a
    record."""
    try:
        signature = read_file(f"{root}/{name.with_name(SIGNATURE)}")
    except OSError:
        return found
    signers = read_signers(root)
    if not signers or found.diagnostics or found.record is None:
        return found
    signer = find_signer(data, signature, signers, last_date(found.record), str(name))
    if isinstance(signer, str):
        return replace(found, signer=signer)
    return ReadResult(None if signer.severity == "error" else found.record, (signer,))


def write_page(
    root: Path, path: PurePosixPath, record: PageRecord, keep: Mapping[str, str] | None = None
) -> PageRecord:
    """Record the sessions of `record`, and keep current records of other sessions. Return the record as it is
    on disk afterwards.

    A session that differs from its record only in run times and date is not written again. If this is true of
    all sessions, no file is changed. In the returned record, images have names instead of bytes.

    keep: name of a page's session that did not run or failed → name under which it is recorded. All other
    sessions are dropped. Raises `SiteError` `freeze-write` if writing fails, or `busy` if another process
    holds the lock for too long.
    """
    name = page_folder(path) / OUTPUTS
    with freeze_lock(root):
        old = read_page(root, path).record or PageRecord()
        pictures: dict[str, bytes] = {}
        sessions = {
            session: old.sessions[known] for session, known in (keep or {}).items() if known in old.sessions
        }
        for session, made in record.sessions.items():
            named = _name_pictures(made, pictures)
            before = old.sessions.get(session)
            sessions[session] = before if before and before.timeless() == named.timeless() else named
        merged = PageRecord(sessions)
        if sessions and merged != old:
            write_page_folder(root, name.parent, to_json(merged), pictures, image_digests(merged))
        return merged


def list_page_files(path: PurePosixPath, record: PageRecord) -> dict[str, bytes]:
    """Map the path of every file of a page's record, relative to the site root, to its content. The content
    is what `write_page` writes to an empty folder."""
    pictures: dict[str, bytes] = {}
    named = {name: _name_pictures(session, pictures) for name, session in record.sessions.items()}
    folder = page_folder(path)
    files = {str(folder / OUTPUTS): to_json(PageRecord(named))}
    return files | {str(folder / name): data for name, data in sorted(pictures.items())}


def write_page_folder(
    root: Path,
    folder: PurePosixPath,
    outputs: bytes,
    pictures: Mapping[str, bytes],
    named: Mapping[str, str],
    signature: bytes = b"",
) -> None:
    """Write the folder of one page. The caller must hold the lock.

    pictures: new images by file name; those that `outputs` does not name are ignored.
    named: file name → SHA-256 of every image that `outputs` names.
    signature: signature of `outputs`; if it is empty, an old one is removed.
    """
    try:
        with open_folder(root) as site:
            with site.enter(FREEZE, make=True) as records:
                if records.status(ATTRIBUTES_PATH.name) is None:
                    records.replace(ATTRIBUTES_PATH.name, GIT_ATTRIBUTES.encode())
            with site.enter(folder, make=True) as page:
                _put_files(page, outputs, pictures, named, signature)
            _sync_parents(site, folder)
    except OSError as error:
        raise write_problem(error, str(folder)) from error


def _sync_parents(site: Folder, folder: PurePosixPath) -> None:
    """Flush the directory entries of all folders between the site root and the page's folder to disk."""
    site.sync()
    for above in reversed(folder.parents[:-1]):
        with site.enter(above) as way:
            way.sync()


def _put_files(
    page: Folder,
    outputs: bytes,
    pictures: Mapping[str, bytes],
    named: Mapping[str, str],
    signature: bytes,
) -> None:
    for name in sorted(named.keys() & pictures.keys()):
        if _image_digest(page, name) != named[name]:
            page.replace(name, pictures[name])
    # before the record is replaced, so that no signature of another record is ever beside it
    with suppress(FileNotFoundError):
        page.remove(SIGNATURE)
    page.replace(OUTPUTS, outputs)
    if signature:
        page.replace(SIGNATURE, signature)
    for name in unreferenced_files(page, named):
        with suppress(FileNotFoundError):
            page.remove(name)


def copy_record(root: Path, source: PurePosixPath, post: PurePosixPath, record: PageRecord) -> None:
    """Write a record, and its images from the folder `source`, to the folder of a post that has none. Raises
    `SiteError` as `write_page` does."""
    named = image_digests(record)
    with freeze_lock(root):
        if read_page(root, post) != ReadResult(None):
            return
        try:
            images = {name: read_file(f"{root}/{source}/{name}") for name in named}
            signature = read_signature(root, source, to_json(record))
        except OSError as error:
            raise write_problem(error, str(page_folder(post))) from error
        write_page_folder(root, page_folder(post), to_json(record), images, named, signature)


def read_signature(root: Path, folder: PurePosixPath, outputs: bytes) -> bytes:
    """Return the signature in a folder. Empty if there is none, or if the content of the record in the folder
    is not `outputs`. Raises `OSError` if the record or the signature cannot be read."""
    try:
        signature = read_file(f"{root}/{folder}/{SIGNATURE}")
    except FileNotFoundError:
        return b""
    return signature if read_file(f"{root}/{folder}/{OUTPUTS}") == outputs else b""


def unreferenced_files(page: Folder, named: Mapping[str, str]) -> list[str]:
    """Return the files that blogsmith wrote in a page's folder and that no record names: old images, and
    files left by an interrupted write."""
    files = [name for name, is_folder in page.entries() if not is_folder]
    return [name for name in files if name not in named and _OURS.fullmatch(name)]


def image_digests(record: PageRecord) -> dict[str, str]:
    """Map the file name of every image in a record to its hex SHA-256."""
    return {blob.name: blob.digest for s in record.sessions.values() for c in s.cells for blob in _blobs(c)}


def _blobs(cell: CellRecord) -> Iterator[Blob]:
    outputs = chain(cell.run.outputs, *(other.run.outputs for other in cell.others.values()))
    for output in outputs:
        if isinstance(output, Display):
            yield from (part for part in output.data.values() if isinstance(part, Blob))


def is_outside_site(root: Path, folder: PurePosixPath) -> bool:
    """Return whether links in `folder` point outside the site. If so, nothing there is read."""
    path = str(root)
    for part in folder.parts:
        path = f"{path}/{part}"
        # Links are rare, and resolving every path takes longer than reading a record.
        if os.path.islink(path):  # noqa: PTH114
            return not f"{os.path.realpath(root / folder)}/".startswith(f"{os.path.realpath(root)}/")
    return False


def read_file(file: str) -> bytes:
    """Return the content of a regular file. Raises `OSError` if it is a link, a pipe or too large."""
    # plain system calls: reading records is most of the cost of an unchanged post
    descriptor = os.open(file, _READ_ONLY)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        if status.st_size > MOST_BYTES:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        pieces = []
        while piece := os.read(descriptor, status.st_size + 1):
            pieces.append(piece)
        return b"".join(pieces)
    finally:
        os.close(descriptor)


def _image_digest(page: Folder, name: str) -> str | None:
    try:
        return hashlib.sha256(page.read(name)).hexdigest()
    except OSError:
        return None


def file_digest(file: str) -> str | None:
    """Return the hex SHA-256 of a file. None if it cannot be read."""
    try:
        return hashlib.sha256(read_file(file)).hexdigest()
    except OSError:
        return None


def _bad_pictures(folder: str, record: PageRecord) -> set[str]:
    return {
        name for name, digest in image_digests(record).items() if file_digest(f"{folder}/{name}") != digest
    }


def _drop_cells(record: PageRecord, bad: set[str], name: PurePosixPath) -> ReadResult:
    """Return the record without the cells whose images are missing or changed. bad: file names of these
    images."""
    if not bad:
        return ReadResult(record)
    sessions = {
        key: replace(part, cells=tuple(c for c in part.cells if not any(b.name in bad for b in _blobs(c))))
        for key, part in record.sessions.items()
    }
    what = "the image is missing, or differs from the recorded one"
    return ReadResult(
        PageRecord(sessions), tuple(damage(str(name.with_name(file)), what) for file in sorted(bad))
    )


def _drop_edited(found: ReadResult, edits: Sequence[Edit], name: PurePosixPath) -> ReadResult:
    """Return the record without the edited sessions. If there is any edit, unsealed sessions are dropped too,
    because they may contain edits as well."""
    if not edits or found.record is None:
        return found
    edited = {edit.session for edit in edits}
    sessions = {key: part for key, part in found.record.sessions.items() if key not in edited and part.sealed}
    errors = (*found.diagnostics, *(edit_error(edit, str(name)) for edit in edits))
    return ReadResult(PageRecord(sessions) if sessions else None, errors)


def _name_pictures(session: SessionRecord, pictures: dict[str, bytes]) -> SessionRecord:
    """Return the session with names instead of image bytes. The bytes are added to `pictures`."""
    cells = []
    for number, cell in enumerate(session.cells, 1):
        stem = slugify(cell.label)[:50] or f"cell-{number}"
        others = {
            key: _with_names(other, f"{stem}-{slugify(key)[:40]}", pictures)
            for key, other in cell.others.items()
        }
        cells.append(replace(_with_names(cell, stem, pictures), others=others))
    return replace(session, cells=tuple(cells))


def _with_names(cell: CellRecord, stem: str, pictures: dict[str, bytes]) -> CellRecord:
    outputs: list[CellOutput] = []
    count = 0
    for output in cell.run.outputs:
        if isinstance(output, Display) and any(isinstance(part, Blob) for part in output.data.values()):
            count += 1
            output = replace(output, data=_name_blobs(output.data, f"{stem}-{count}", pictures))
        outputs.append(output)
    return replace(cell, run=replace(cell.run, outputs=tuple(outputs)))


def _name_blobs(
    data: Mapping[str, str | Blob], stem: str, pictures: dict[str, bytes]
) -> dict[str, str | Blob]:
    named: dict[str, str | Blob] = {}
    for mime, part in data.items():
        if isinstance(part, Blob) and part.data is not None:
            scheme = "-dark" if mime.endswith(DARK) else ""
            suffix = _SUFFIXES.get(mime.removesuffix(DARK), "bin")
            name = f"{stem}{scheme}-{part.digest[:8]}.{suffix}"
            pictures[name] = part.data
            part = Blob(part.digest, None, name)
        named[mime] = part
    return named


# Lock for writers of recorded results.
#
# Readers take no lock: the files they read are replaced atomically.


WAIT_S = 30.0
"""Timeout for the lock in seconds. Writing takes milliseconds, so if a process holds the lock longer, it is
stopped or stuck."""
_NAME = "freeze.store"


@contextmanager
def freeze_lock(root: Path, wait_s: float = WAIT_S) -> Iterator[None]:
    """Hold the lock for writing recorded results. Raises `SiteError` `busy` if another process holds it for
    `wait_s` seconds, or `freeze-write` if the lock file cannot be created."""
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(open_own_folder(root))
            stack.enter_context(hold_lock(folder, _NAME, wait_s))
        except OSError as error:
            raise write_problem(error, f".blogsmith/{_NAME}") from error
        except LockBusyError as error:
            hint = "wait until it finishes, or stop it"
            raise SiteError(
                Diagnostic("busy", "another blogsmith is recording results", hint=hint)
            ) from error
        yield


def write_problem(error: OSError, path: str) -> SiteError:
    """Return the error for a failed write."""
    message = f"cannot write recorded results: {error.strerror or error}"
    hint = "check that the folder exists, is writable and has space"
    return SiteError(Diagnostic("freeze-write", message, path, hint=hint))
