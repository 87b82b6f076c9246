"""The finished site → the output folder.

At any instant the folder is the complete old or the complete new site, whatever kills the run
(exceptions in `in_place.py`). Only files named in our manifest are replaced or deleted. What did
not change keeps its file, time stamps included.
"""

from __future__ import annotations

import contextlib
import errno
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import Diagnostic, SiteError
from ..model import Output
from . import in_place
from .checks import check_folder, check_foreign, check_owned, check_paths, shown
from .lock import site_lock
from .manifest import IN_PLACE_STAGE, MANIFEST, read_manifest
from .plan import Plan, make_plan, scan
from .stage import recover, replace_tree

# what renaming a folder says where it is mounted from elsewhere
_NOT_RENAMEABLE = (errno.EBUSY, errno.EXDEV)


@dataclass(frozen=True, slots=True)
class WriteReport:
    """How many files of the site were touched."""

    written: int = 0
    """New or changed."""
    unchanged: int = 0
    removed: int = 0
    """Of an earlier build, no longer part of the site."""


def write_site(
    outputs: Sequence[Output], target: Path, *, site_root: Path, wait_s: float = 10.0
) -> WriteReport:
    """Make `target` hold exactly `outputs`, beside files that are not ours.

    wait_s: seconds to wait for another build of the same site. Raises SiteError and changes
    nothing if the folder, a path or a neighbour forbids it, or if the disk does.
    """
    check_folder(target, site_root)
    check_paths(outputs)
    with _named_failures(target, site_root), site_lock(site_root, wait_s):
        _clear_up(target)
        check_owned(target, site_root)
        plan = make_plan(outputs, target)
        check_foreign(plan)
        if not plan.is_done:
            _apply(plan)
    return WriteReport(len(plan.changed), len(plan.unchanged), len(plan.stale))


def clean(target: Path, site_root: Path, *, wait_s: float = 10.0) -> WriteReport:
    """Remove our files from `target`, then the folders that are empty; all else is kept."""
    check_folder(target, site_root)
    with _named_failures(target, site_root), site_lock(site_root, wait_s):
        _clear_up(target)
        check_owned(target, site_root)
        own = sorted(scan(target).files & (read_manifest(target) or {}).keys())
        in_place.remove_files(target, own)
        (target / MANIFEST).unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # not empty, a link, a mount point, or not there
            target.rmdir()
    return WriteReport(removed=len(own))


def _apply(plan: Plan) -> None:
    if in_place.is_needed(plan.target):
        in_place.replace_files(plan)
        return
    try:
        replace_tree(plan)
    except OSError as error:
        if error.errno not in _NOT_RENAMEABLE:
            raise
        in_place.replace_files(plan)


def _clear_up(target: Path) -> None:
    """Finish or undo what an earlier run left half done."""
    recover(target)
    if (target / IN_PLACE_STAGE).is_dir():
        shutil.rmtree(target / IN_PLACE_STAGE)


@contextlib.contextmanager
def _named_failures(target: Path, site_root: Path) -> Iterator[None]:
    """An OSError as the author's problem, with the file that met it."""
    try:
        yield
    except OSError as error:
        # relative names come from `stage.py` and mean files of the site
        file = target / error.filename if error.filename else target
        message = f"cannot write the site: {shown(file, site_root)}: {error.strerror or error}"
        raise SiteError(Diagnostic("output-write", message)) from error
