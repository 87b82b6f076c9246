"""Recorded results on disk: one folder per page under `_freeze/`, made to be committed.

`outputs.json` names the pictures beside it. New pictures are there before the file that names them, and old
ones go after it: whenever a writer dies, what can be read is one complete record, the old or the new.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from ..base.diagnostics.model import Diagnostic, SiteError
from ..base.patterns import lazy_pattern
from ..base.storage.folder import NEW, Folder, open_folder
from ..base.storage.lock import LockBusy, hold_lock
from ..base.storage.own_folder import open_own_folder
from ..model.results import DARK, Blob, CellOutput, Display
from ..model.slugs import slugify
from .record import CellRecord, PageRecord, SessionRecord
from .record_form import PICTURE
from .record_json import damage, from_json, to_json

FREEZE = "_freeze"
OUTPUTS = "outputs.json"
MOST_BYTES = 256 * 1024 * 1024
"""Of one file; a cell keeps a MiB of text, so no record comes near it."""
_READ_ONLY = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_BINARY", "O_NOFOLLOW"))
_OUTSIDE = "a link leads out of the site"
_OURS = lazy_pattern(rf"{PICTURE}|{re.escape(NEW)}.*")
ATTRIBUTES_PATH = PurePosixPath(FREEZE, ".gitattributes")
GIT_ATTRIBUTES = "* -text -merge linguist-generated=true\n"
"""For git: never change line ends, never make one record of two line by line, fold the files in reviews."""
_SUFFIXES = MappingProxyType({"image/svg+xml": "svg", "image/png": "png", "image/jpeg": "jpg"})


class Reading(Struct, frozen=True):
    """What was found of one page."""

    record: PageRecord | None
    """None if there is none that can be read."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Warnings: what is damaged and counts as missing."""


def folder_of(path: PurePosixPath) -> PurePosixPath:
    """Where the results of a page are: `content/posts/a.md` → `_freeze/posts/a`."""
    inside = path.parts[1:] if path.parts[0] == "content" else path.parts
    return PurePosixPath(FREEZE, *inside[:-1], path.stem)


def read_page(root: Path, path: PurePosixPath) -> Reading:
    """The record of a page; a cell whose pictures are not there as recorded, byte for byte, is left out."""
    return read_folder(root, folder_of(path))


def read_folder(root: Path, folder: PurePosixPath) -> Reading:
    """The record in one folder under `_freeze/`, as `read_page`."""
    name = folder / OUTPUTS
    data = None
    if leads_out(root, folder):
        return Reading(None, (damage(str(name), f"the recorded results cannot be read: {_OUTSIDE}"),))
    while True:
        last = data
        try:
            data = _read(f"{root}/{name}")
        except (FileNotFoundError, NotADirectoryError):
            return Reading(None)
        except OSError as error:
            what = f"the recorded results cannot be read: {error.strerror or error}"
            return Reading(None, (damage(str(name), what),))
        found = from_json(data, str(name))
        if isinstance(found, Diagnostic):
            return Reading(None, (found,))
        bad = _bad_pictures(f"{root}/{folder}", found)
        # a writer may have taken pictures away since the file was read; then the file is another now
        if not bad or data == last:
            return _without(found, bad, name)


def write_page(
    root: Path, path: PurePosixPath, record: PageRecord, keep: Mapping[str, str] | None = None
) -> PageRecord:
    """Record the sessions of `record`, and what is recorded now of other sessions.

    keep: session of the page → name it is recorded under, for sessions that did not run or failed; all others
    are dropped. A session that is equal but for seconds and date stays as it was recorded, and if all are,
    no file is touched. What is returned is on disk; its pictures have names in place of bytes.
    SiteError `freeze-write` if the disk refuses, `busy` if another process records for too long.
    """
    name = folder_of(path) / OUTPUTS
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
            put_page(root, name.parent, to_json(merged), pictures, pictures_of(merged))
        return merged


def page_files(path: PurePosixPath, record: PageRecord) -> dict[str, bytes]:
    """Every file of a page's record, by its path in the site: what `write_page` writes where nothing is."""
    pictures: dict[str, bytes] = {}
    named = {name: _name_pictures(session, pictures) for name, session in record.sessions.items()}
    folder = folder_of(path)
    files = {str(folder / OUTPUTS): to_json(PageRecord(named))}
    return files | {str(folder / name): data for name, data in sorted(pictures.items())}


def put_page(
    root: Path,
    folder: PurePosixPath,
    outputs: bytes,
    pictures: Mapping[str, bytes],
    named: Mapping[str, str],
) -> None:
    """Write one page's folder, with the lock held; `pictures` that `outputs` does not name are left out.

    named: file name → SHA-256 of every picture that `outputs` names.
    """
    try:
        with open_folder(root) as site:
            with site.enter(FREEZE, make=True) as records:
                if records.status(ATTRIBUTES_PATH.name) is None:
                    records.replace(ATTRIBUTES_PATH.name, GIT_ATTRIBUTES.encode())
            with site.enter(folder, make=True) as page:
                _put_files(page, outputs, pictures, named)
            _sync_way(site, folder)
    except OSError as error:
        raise write_problem(error, str(folder)) from error


def _sync_way(site: Folder, folder: PurePosixPath) -> None:
    """Bring to disk that the folders down to a page's are there."""
    site.sync()
    for above in reversed(folder.parents[:-1]):
        with site.enter(above) as way:
            way.sync()


def _put_files(page: Folder, outputs: bytes, pictures: Mapping[str, bytes], named: Mapping[str, str]) -> None:
    for name in sorted(named.keys() & pictures.keys()):
        if _digest_in(page, name) != named[name]:
            page.replace(name, pictures[name])
    page.replace(OUTPUTS, outputs)
    for name in unreferenced_files(page, named):
        with suppress(FileNotFoundError):
            page.remove(name)


def unreferenced_files(page: Folder, named: Mapping[str, str]) -> list[str]:
    """Files of ours that no record names: pictures, and what a writer that died left behind."""
    files = [name for name, is_folder in page.entries() if not is_folder]
    return [name for name in files if name not in named and _OURS.fullmatch(name)]


def pictures_of(record: PageRecord) -> dict[str, str]:
    """File name → hex SHA-256 of every picture a record names."""
    return {blob.name: blob.digest for s in record.sessions.values() for c in s.cells for blob in _blobs(c)}


def _blobs(cell: CellRecord) -> Iterator[Blob]:
    outputs = chain(cell.run.outputs, *(other.run.outputs for other in cell.others.values()))
    for output in outputs:
        if isinstance(output, Display):
            yield from (part for part in output.data.values() if isinstance(part, Blob))


def leads_out(root: Path, folder: PurePosixPath) -> bool:
    """Whether links lead from `folder` out of the site: nothing there is read."""
    path = str(root)
    for part in folder.parts:
        path = f"{path}/{part}"
        # links are rare, and following all names to their ends takes longer than reading a record
        if os.path.islink(path):  # noqa: PTH114
            return not f"{os.path.realpath(root / folder)}/".startswith(f"{os.path.realpath(root)}/")
    return False


def _read(file: str) -> bytes:
    """The bytes of a regular file; OSError for anything else: a link, a pipe, one too large."""
    # plain calls: this is most of what an unchanged post costs
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


def _digest_in(page: Folder, name: str) -> str | None:
    try:
        return hashlib.sha256(page.read(name)).hexdigest()
    except OSError:
        return None


def _digest_of(file: str) -> str | None:
    try:
        return hashlib.sha256(_read(file)).hexdigest()
    except OSError:
        return None


def _bad_pictures(folder: str, record: PageRecord) -> set[str]:
    return {name for name, digest in pictures_of(record).items() if _digest_of(f"{folder}/{name}") != digest}


def _without(record: PageRecord, bad: set[str], name: PurePosixPath) -> Reading:
    """The record without cells whose pictures are gone or changed."""
    if not bad:
        return Reading(record)
    sessions = {
        key: replace(part, cells=tuple(c for c in part.cells if not any(b.name in bad for b in _blobs(c))))
        for key, part in record.sessions.items()
    }
    what = "the picture is gone, or not the one that was recorded"
    return Reading(
        PageRecord(sessions), tuple(damage(str(name.with_name(file)), what) for file in sorted(bad))
    )


def _name_pictures(session: SessionRecord, pictures: dict[str, bytes]) -> SessionRecord:
    """The session with names in place of bytes, which go to `pictures`."""
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


# One writer of recorded results at a time.
#
# Readers take no lock: what they read is replaced whole.


WAIT_S = 30.0
"""Writing takes milliseconds: who holds the lock longer is stopped or stuck."""
_NAME = "freeze.store"


@contextmanager
def freeze_lock(root: Path, wait_s: float = WAIT_S) -> Iterator[None]:
    """Hold `.blogsmith/freeze.lock`.

    SiteError `busy` if another process keeps it for `wait_s` seconds, `freeze-write` if it cannot be made.
    """
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(open_own_folder(root))
            stack.enter_context(hold_lock(folder, _NAME, wait_s))
        except OSError as error:
            raise write_problem(error, f".blogsmith/{_NAME}") from error
        except LockBusy as error:
            hint = "wait until it is done, or stop it"
            raise SiteError(
                Diagnostic("busy", "another blogsmith is recording results", hint=hint)
            ) from error
        yield


def write_problem(error: OSError, path: str) -> SiteError:
    """What the author is told if the disk refuses."""
    message = f"recorded results cannot be written: {error.strerror or error}"
    return SiteError(Diagnostic("freeze-write", message, path))
