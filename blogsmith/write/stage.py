"""The new site as a complete tree beside the old one, and the exchange of the two.

On Linux the two names are exchanged in one step. Elsewhere, two renames leave an instant without
the site; a run that dies in between is mended by the next one. The exchange replaces the folder
itself: a process that has it open or mounted keeps seeing the old tree.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path, PurePosixPath

from ..errors import SiteError
from ..model import Output
from .linux import exchange, sync_file_system
from .manifest import MANIFEST, manifest_bytes, read_manifest
from .plan import Plan, scan


def stage_of(target: Path) -> Path:
    """Where the next tree of `target` grows."""
    return target.with_name(f".{target.name}.blogsmith-new")


def retired_of(target: Path) -> Path:
    """Where the last tree of `target` waits for its end if the names cannot be exchanged."""
    return target.with_name(f".{target.name}.blogsmith-old")


def replace_tree(plan: Plan) -> None:
    """Make `plan.target` the new site in one step; an OSError leaves the old one untouched."""
    stage = stage_of(plan.target)
    stage.parent.mkdir(parents=True, exist_ok=True)
    try:
        build_stage(stage, plan)
        old = swap(stage, plan.target)
    except BaseException:
        shutil.rmtree(stage, ignore_errors=True)
        raise
    if old is not None:
        # the new site is in place: what cannot be removed now is left to the next run
        with contextlib.suppress(OSError):
            retire(old, plan.target, plan.own)


def build_stage(stage: Path, plan: Plan) -> None:
    """The complete new tree: changed files written, all others linked from the old tree."""
    stage.mkdir()
    _copy_mode(plan.target, stage)
    for folder in sorted(plan.foreign_folders):
        _make_folder(stage / folder)
        _copy_mode(plan.target / folder, stage / folder)
    for path in sorted(plan.foreign | plan.unchanged):
        _link(plan.target / path, with_parent(stage / path))
    put_changed(stage, plan)
    put_manifest(stage / MANIFEST, plan.digests)
    flush(stage, [*plan.changed, MANIFEST])


def swap(stage: Path, target: Path) -> Path | None:
    """Give `stage` the name of `target`; the path of the old tree, or None if there was none."""
    if not target.exists():
        stage.rename(target)
        return None
    if exchange(stage, target):
        return stage
    retired = retired_of(target)
    target.rename(retired)
    try:
        stage.rename(target)
    except OSError:
        retired.rename(target)
        raise
    return retired


def retire(old: Path, target: Path, own: Collection[str]) -> None:
    """Delete the tree `old` that `target` replaced.

    own: its files that were ours. Files that others put there after the new tree was staged move
    over to `target`.
    """
    ours = {MANIFEST, *own, *(read_manifest(target) or {})}
    for path in sorted(scan(old).files - ours):
        if _is_news(old / path, target / path):
            (old / path).replace(with_parent(target / path))
    shutil.rmtree(old)


def recover(target: Path) -> None:
    """Clear up after a run that died: an old site without its name, trees left over."""
    stage, retired = stage_of(target), retired_of(target)
    if retired.exists() and not target.exists():
        retired.rename(target)
    for left in (retired, stage):
        if left.exists():
            # only a finished tree has a manifest; an unfinished one holds links and our own files
            own = _manifest_or_none(left) if target.exists() else None
            shutil.rmtree(left) if own is None else retire(left, target, own)


def put_changed(folder: Path, plan: Plan) -> None:
    """Write the plan's changed files under `folder`."""
    for path in plan.changed:
        _put(with_parent(folder / path), plan.outputs[path])


def put_manifest(file: Path, digests: Mapping[str, str]) -> None:
    """Write a manifest of these files."""
    _put(file, Output(PurePosixPath(MANIFEST), manifest_bytes(digests)))


def with_parent(file: Path) -> Path:
    """`file`, after its folder has been made."""
    _make_folder(file.parent)
    return file


def flush(folder: Path, paths: Iterable[str]) -> None:
    """Bring these files under `folder` to disk, so that a power cut finds none of them empty."""
    if sync_file_system(folder):
        return
    for path in paths:
        with (folder / path).open("rb") as file:
            os.fsync(file.fileno())


def _put(file: Path, output: Output) -> None:
    """Write one new file; an OSError names the output, not the file it stands in meanwhile."""
    try:
        with file.open("xb") as stream:
            if output.data is not None:
                stream.write(output.data)
            elif output.file is not None:
                with output.file.open("rb") as source:
                    shutil.copyfileobj(source, stream)
        file.chmod(0o644)  # whatever the umask
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(output.path)) from error


def _make_folder(folder: Path) -> None:
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir()
        folder.chmod(0o755)


def _copy_mode(old: Path, new: Path) -> None:
    """The mode of a folder that was there before, but always writable for us; 0755 for a new one."""
    new.chmod(old.stat().st_mode & 0o7777 | 0o700 if old.is_dir() else 0o755)


def _link(old: Path, new: Path) -> None:
    """One more name for a file, so that its time and number stay; a copy where links do not work."""
    try:
        os.link(old, new, follow_symlinks=False)
    except (OSError, NotImplementedError):
        shutil.copy2(old, new, follow_symlinks=False)


def _is_news(old: Path, new: Path) -> bool:
    """True if `new` lacks what `old` has: it is not there, or older."""
    return not os.path.lexists(new) or old.lstat().st_mtime_ns > new.lstat().st_mtime_ns


def _manifest_or_none(folder: Path) -> dict[str, str] | None:
    try:
        return read_manifest(folder)
    except SiteError:  # cut short by a power failure
        return None
