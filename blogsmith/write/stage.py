"""Building of the new site in a folder next to the old one (staging), and the swap of the two.

On Linux, their names are swapped in one step. On other systems, two renames leave a moment without the site;
if a run dies in this moment, the next run repairs it. The swap replaces the folder itself: a process that has
it open or mounted still sees the old files.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
import stat
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePosixPath

from ..base.diagnostics.model import SiteError
from ..base.storage.file_names import MANIFEST
from ..base.storage.folder import Folder
from ..base.storage.tree import OpenFolderPath, scan
from ..model.documents import Output
from .manifest import manifest_bytes, read_manifest
from .place import OutputPlace
from .plan import WritePlan

_RENAME_EXCHANGE = 2
_NOT_HERE = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)


def exchange(folder: Folder, one: str, other: str) -> bool:
    """Swap two names in a folder in one step. Return False if the kernel or the file system cannot."""
    at = folder.descriptor
    if at is None:
        return False
    return _call("renameat2", at, os.fsencode(one), at, os.fsencode(other), _RENAME_EXCHANGE)


def sync_file_system(folder: Folder) -> bool:
    """Flush everything written to `folder`'s file system to disk. Return False if the call does not exist."""
    return folder.descriptor is not None and _call("syncfs", folder.descriptor)


def _call(name: str, *arguments: int | bytes) -> bool:
    function = getattr(ctypes.CDLL(None, use_errno=True), name, None) if sys.platform == "linux" else None
    if function is None:
        return False
    if function(*arguments) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NOT_HERE:
        return False
    raise OSError(number, os.strerror(number))


_REPLACED_NAME, _MANIFEST_NAME = "replaced", "listed"
"""Temporary names of a replaced file and of its manifest. In a staged folder, a file named `MANIFEST` means
that the folder is complete."""
_MAX_SINGLE_SYNCS = 4
"""Maximum number of files to flush to disk one by one. For more, the whole file system is flushed, which
includes files of other programs."""
_FOLDER_MODE = 0o755
_FILE_MODE = 0o644


def staged_name(name: str) -> str:
    """Return the name of the staged folder, next to the folder `name`."""
    return f".{name}.blogsmith-new"


def retired_name(name: str) -> str:
    """Return the temporary name of the old folder `name`, on systems that cannot swap names."""
    return f".{name}.blogsmith-old"


def replace_tree(plan: WritePlan, place: OutputPlace) -> None:
    """Turn the output folder into the new site in one step. After an OSError the old site is unchanged."""
    stage = staged_name(place.name)
    try:
        with place.parent.make(stage) as folder:
            _build_stage(folder, plan, place)
        old = swap(place.parent, stage, place.name)
    except BaseException:
        with contextlib.suppress(OSError):
            place.parent.remove_tree(stage)
        raise
    place.parent.sync()
    if old is not None:
        # the new site is complete, and the next run will remove leftovers
        with contextlib.suppress(OSError):
            _retire(place, old, plan.own)


def replace_file(
    place: OutputPlace, output: Output, digests: Mapping[str, str], partial: Collection[str] = ()
) -> None:
    """Turn the output folder into the new site by one rename, if only one file has changed. output: the
    changed file. digests: path → hex SHA-256 of each file of the new site. partial: paths of its files with
    only part of their content."""
    stage = staged_name(place.name)
    try:
        with place.parent.make(stage) as folder, place.enter() as site, OpenFolderPath(site) as descent:
            _write_output(folder, _REPLACED_NAME, output)
            put_manifest(folder, _MANIFEST_NAME, digests, partial)
            flush(folder, [_REPLACED_NAME, _MANIFEST_NAME])
            parent, name = descent.parent(str(output.path))
            folder.rename(_REPLACED_NAME, parent, name)
            # if this rename fails, the old manifest lists the same files as the new one
            folder.rename(_MANIFEST_NAME, site, MANIFEST)
            site.sync()
    finally:
        with contextlib.suppress(OSError):
            place.parent.remove_tree(stage)


def _build_stage(stage: Folder, plan: WritePlan, place: OutputPlace) -> None:
    """Build the complete new site: write changed files, and hard-link all others from the old site."""
    stage.set_mode(_FOLDER_MODE)
    if plan.is_new:
        put_changed(stage, plan)
    else:
        with place.enter() as old:
            stage.set_mode(_writable_mode(old))
            with OpenFolderPath(old) as before, OpenFolderPath(stage, mode=_FOLDER_MODE) as after:
                for path in sorted(plan.foreign_folders):
                    after.folder(path).set_mode(_writable_mode(before.folder(path)))
            put_changed(stage, plan, old)
    put_manifest(stage, MANIFEST, plan.digests, plan.partial)
    flush(stage, [*plan.changed_files, MANIFEST])


def swap(parent: Folder, stage: str, name: str) -> str | None:
    """Rename `stage` to `name`. Return the new name of the old folder, or None if there was none."""
    if parent.status(name) is None:
        parent.rename(stage, parent, name)
        return None
    if exchange(parent, stage, name):
        return stage
    retired = retired_name(name)
    parent.rename(name, parent, retired)
    try:
        parent.rename(stage, parent, name)
    except OSError:
        parent.rename(retired, parent, name)
        raise
    return retired


def _retire(place: OutputPlace, old: str, own: Collection[str]) -> None:
    """Delete the folder `old`, which the output folder has replaced. own: our files in it. Files that others
    created there meanwhile are moved to the output folder."""
    with place.parent.enter(old) as gone, place.enter() as folder:
        _remove_own(gone, own)
        left = scan(gone).files - {MANIFEST, *own}
        foreign = left - (read_manifest(folder) or {}).keys() if left else left
        with OpenFolderPath(gone) as before, OpenFolderPath(folder, mode=_FOLDER_MODE) as after:
            for path in sorted(foreign):
                (source, name), (target, _) = before.parent(path), after.parent(path)
                if _is_newer(source, target, name):
                    source.rename(name, target, name)
    place.parent.remove_tree(old)


def _remove_own(top: Folder, own: Collection[str]) -> None:
    """Remove our files, then the folders of pages that are empty. Failures are ignored."""
    names: dict[str, list[str]] = {}
    for path in sorted(own):
        folder, _, name = path.rpartition("/")
        if folder:
            names.setdefault(folder, []).append(name)
    with OpenFolderPath(top) as descent:
        for path in names:
            with contextlib.suppress(OSError):
                holder, folder = descent.parent(path)
                holder.remove_inner(folder, names[path])


def recover(place: OutputPlace) -> None:
    """Clean up after an interrupted run: give an old site its name back, and remove other leftovers."""
    parent, retired = place.parent, retired_name(place.name)
    if parent.is_folder(retired) and parent.status(place.name) is None:
        parent.rename(retired, parent, place.name)
    for left in (retired, staged_name(place.name)):
        if parent.status(left) is None:
            continue
        # only a complete folder has a manifest; an incomplete one contains links and our own files only
        own = _manifest_or_none(parent, left) if place.exists else None
        if own is None:
            parent.remove_tree(left)
        else:
            _retire(place, left, own)


def put_changed(folder: Folder, plan: WritePlan, old: Folder | None = None) -> None:
    """Write the changed files of the plan to `folder`, which must be empty. old: folder with all other files,
    which are linked."""
    kept = plan.foreign | plan.unchanged if old else frozenset[str]()
    with OpenFolderPath(old or folder) as before, OpenFolderPath(folder, mode=_FOLDER_MODE) as after:
        for path in sorted({*plan.changed_files, *kept}):
            parent, name = after.parent(path)
            if path in kept:
                _link(before.parent(path)[0], parent, name)
            else:
                _write_output(parent, name, plan.outputs[path])


def put_manifest(
    folder: Folder, name: str, digests: Mapping[str, str], partial: Collection[str] = ()
) -> None:
    """Write a manifest of these files. digests: path → hex SHA-256. partial: paths of files with only part of
    their content, because of errors."""
    _write_output(folder, name, Output(PurePosixPath(MANIFEST), manifest_bytes(digests, partial)))


def flush(folder: Folder, paths: Sequence[str]) -> None:
    """Flush these files to disk, so that none is empty after a power failure."""
    if len(paths) > _MAX_SINGLE_SYNCS and sync_file_system(folder):
        return
    with OpenFolderPath(folder) as descent:
        for path in paths:
            parent, name = descent.parent(path)
            with parent.open_file(name) as file:
                os.fsync(file.fileno())


def _write_output(folder: Folder, name: str, output: Output) -> None:
    """Write one new file. An OSError names the output instead of the temporary file."""
    try:
        with folder.create(name, _FILE_MODE) as stream:
            if output.data is not None:
                stream.write(output.data)
            elif output.make is not None:
                stream.write(output.make())
            elif output.file is not None:
                with output.file.open("rb") as source:
                    if output.is_cleaned:
                        from .photos.cleaning import read_published

                        stream.writelines(read_published(source))
                    else:
                        shutil.copyfileobj(source, stream)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(output.path)) from error


def _writable_mode(old: Folder) -> int:
    """Return the permissions of an existing folder, with write permission for us."""
    return stat.S_IMODE(old.own_status().st_mode) | 0o700


def _link(old: Folder, new: Folder, name: str) -> None:
    """Hard-link a file, to preserve its time and inode. Copy it if the file system has no links."""
    try:
        old.link(name, new, name)
    except (OSError, NotImplementedError):
        old.copy(name, new, name)


def _is_newer(old: Folder, new: Folder, name: str) -> bool:
    """Return whether the file is missing in `new`, or older there than in `old`."""
    here, there = old.status(name), new.status(name)
    return there is None or (here is not None and here.st_mtime_ns > there.st_mtime_ns)


def _manifest_or_none(parent: Folder, name: str) -> dict[str, str] | None:
    try:
        with parent.enter(name) as folder:
            return read_manifest(folder)
    except SiteError:  # the file is shorter, because of a power failure
        return None
