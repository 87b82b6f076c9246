"""Writing file by file, for an output folder that cannot be swapped with another one: a folder that the user
named by a link, a mount point, or a folder in a parent without write permission.

Each file is replaced in one step, but not the site as a whole. All new files are written to disk before the
first one is replaced, so a full disk leaves the old site. If a run dies while it replaces files, the folder
contains files of both sites until the next run.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

from ..base.storage.file_names import MANIFEST
from ..base.storage.folder import Folder
from ..base.storage.tree import OpenFolderPath, ancestors
from .manifest import IN_PLACE_STAGE
from .place import OutputPlace
from .plan import WritePlan
from .stage import flush, put_changed, put_manifest

_FILES = "files"


def is_needed(place: OutputPlace) -> bool:
    """Return whether the output folder cannot be swapped with another folder."""
    return place.is_behind_link or (place.exists and (place.is_mount or not place.is_parent_writable))


def replace_files(plan: WritePlan, place: OutputPlace) -> None:
    """Turn the output folder into the new site, file by file."""
    with place.parent.enter(place.name, make=True, mode=0o755) as folder:
        try:
            with folder.make(IN_PLACE_STAGE) as stage:
                _replace(plan, folder, stage)
        finally:
            with contextlib.suppress(OSError):
                folder.remove_tree(IN_PLACE_STAGE)


def _replace(plan: WritePlan, folder: Folder, stage: Folder) -> None:
    with stage.make(_FILES) as files:
        put_changed(files, plan)
        # lists the old and the new files, so that the next run knows both if this one dies
        put_manifest(stage, "both", {**plan.old, **plan.digests}, plan.partial)
        put_manifest(stage, "new", plan.digests, plan.partial)
        flush(stage, ["both", "new", *(f"{_FILES}/{path}" for path in plan.changed_files)])
        stage.rename("both", folder, MANIFEST)
        remove_files(folder, plan.stale)
        with OpenFolderPath(files) as before, OpenFolderPath(folder, mode=0o755) as after:
            for path in plan.changed_files:
                (source, name), (target, _) = before.parent(path), after.parent(path)
                source.rename(name, target, name)
        stage.rename("new", folder, MANIFEST)


def remove_files(folder: Folder, paths: Iterable[str]) -> None:
    """Delete these files, and then the folders that have become empty."""
    gone = sorted(paths)
    with OpenFolderPath(folder) as descent:
        for path in gone:
            parent, name = descent.parent(path)
            parent.remove(name)
    with OpenFolderPath(folder) as descent:
        for path in sorted(ancestors(gone), key=len, reverse=True):
            parent, name = descent.parent(path)
            with contextlib.suppress(OSError):  # the folder is not empty
                parent.remove_folder(name)
