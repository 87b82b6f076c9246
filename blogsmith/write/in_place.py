"""Writing file by file, for an output folder whose name cannot change hands.

That is a link, a mount point, or a folder in a parent that we may not write to. Each file is
replaced in one step, the site as a whole is not. New files are complete on disk before the first
one is replaced, so a full disk leaves the old site; a run that dies while replacing leaves a
mixture that the next run puts right.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from .manifest import IN_PLACE_STAGE, MANIFEST
from .plan import Plan, ancestors
from .stage import flush, put_changed, put_manifest, with_parent


def is_needed(target: Path) -> bool:
    """True if `target` cannot be exchanged for another folder."""
    if target.is_symlink():
        return True
    return target.is_dir() and (target.is_mount() or not os.access(target.parent, os.W_OK))


def replace_files(plan: Plan) -> None:
    """Make `plan.target` the new site, file by file."""
    stage = plan.target / IN_PLACE_STAGE
    stage.mkdir()
    try:
        put_changed(stage / "files", plan)
        # names old and new files: whenever the run dies, both are known as ours
        put_manifest(stage / "both", {**plan.old, **plan.digests})
        put_manifest(stage / "new", plan.digests)
        flush(stage, ["both", "new", *(f"files/{path}" for path in plan.changed)])
        (stage / "both").replace(plan.target / MANIFEST)
        remove_files(plan.target, plan.stale)
        for path in plan.changed:
            (stage / "files" / path).replace(with_parent(plan.target / path))
        (stage / "new").replace(plan.target / MANIFEST)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def remove_files(target: Path, paths: Iterable[str]) -> None:
    """Delete these files and the folders that are empty then."""
    gone = list(paths)
    for path in gone:
        (target / path).unlink()
    for folder in sorted(ancestors(gone), key=len, reverse=True):
        with contextlib.suppress(OSError):  # not empty
            (target / folder).rmdir()
