"""Writing of the finished site to the output folder.

At any time the folder is the complete old or the complete new site, however the run ends (for exceptions, see
`in_place.py`). Only files in our manifest are replaced or deleted. Unchanged files are not rewritten, so they
keep their times.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from ..base.diagnostics.model import Diagnostic, SiteError
from ..base.storage.file_names import MANIFEST
from ..base.storage.folder import Folder
from ..base.storage.lock import site_lock
from ..base.storage.tree import OpenFolderPath, ancestors, scan
from ..model.documents import Output
from . import in_place
from .manifest import IN_PLACE_STAGE, is_inside, read_manifest, read_partial
from .place import OutputPlace, open_place, output_folder_error, relative_path
from .plan import WritePlan, make_plan
from .stage import recover, replace_file, replace_tree

# error numbers of renaming a folder that is a mount point
_NOT_RENAMEABLE = (errno.EBUSY, errno.EXDEV)


class WriteReport(Struct, frozen=True):
    """Numbers of files that writing the site changed."""

    written: int = 0
    """Number of new or changed files."""
    unchanged: int = 0
    removed: int = 0
    """Number of files of an earlier build that were removed because the site no longer has them."""


def write_site(
    outputs: Sequence[Output],
    target: Path,
    *,
    site_root: Path,
    is_chosen: bool = False,
    is_untouched: bool = False,
    partial: frozenset[str] = frozenset(),
    wait_s: float = 10.0,
) -> WriteReport:
    """Write `outputs` to `target`, and remove files of earlier builds from it. Files of others stay. Return
    the numbers of changed files.

    is_chosen: the user named `target` on the command line. Otherwise it must be in the site, and its path
    must contain no link. is_untouched: the files in the manifest are known to be unchanged since the last
    build; otherwise they are all read. partial: paths of outputs with only part of their content, because of
    errors. wait_s: seconds to wait for another build of the same site.

    SiteError, and nothing is changed, if the folder, a path, a file of others or the disk prevents writing.
    """
    check_folder(target, site_root)
    check_paths(outputs)
    with _open_clean_place(target, site_root, is_chosen=is_chosen, wait_s=wait_s) as place:
        plan = make_plan(outputs, place, is_untouched=is_untouched, partial=partial)
        check_foreign(plan)
        if not plan.is_empty:
            _apply(plan, place)
    return WriteReport(len(plan.changed_files), len(plan.unchanged), len(plan.stale))


def read_last_site(
    target: Path,
    site_root: Path,
    wanted: Callable[[str], bool],
    *,
    is_chosen: bool = False,
    wait_s: float = 10.0,
) -> Mapping[str, bytes]:
    """Map paths to the content of files in `target` that an earlier build wrote without errors and nobody
    changed. wanted: returns whether a path is needed. SiteError as in `write_site`."""
    check_folder(target, site_root)
    with _open_clean_place(target, site_root, is_chosen=is_chosen, wait_s=wait_s) as place:
        if not place.exists:
            return {}
        with place.enter() as folder, OpenFolderPath(folder) as descent:
            own, partial = read_manifest(folder) or {}, read_partial(folder)
            paths = sorted(path for path in own.keys() - partial if wanted(path))
            read = {path: _read_file(descent, path) for path in paths}
            return {
                path: data
                for path, data in read.items()
                if data is not None and hashlib.sha256(data).hexdigest() == own[path]
            }


def _read_file(descent: OpenFolderPath, path: str) -> bytes | None:
    """Return the content of a file in the manifest, or None if it is gone or something else has replaced
    it."""
    try:
        folder, name = descent.parent(path)
        return folder.read(name)
    except OSError:
        return None


def clean(target: Path, site_root: Path, *, is_chosen: bool = False, wait_s: float = 10.0) -> WriteReport:
    """Remove the files in the manifest from `target`, then the empty folders. Everything else stays. Return
    the counts."""
    check_folder(target, site_root)
    with _open_clean_place(target, site_root, is_chosen=is_chosen, wait_s=wait_s) as place:
        if not place.exists:
            return WriteReport()
        with place.enter() as folder:
            own = scan(folder).files & (read_manifest(folder) or {}).keys()
            in_place.remove_files(folder, own)
            with contextlib.suppress(FileNotFoundError):
                folder.remove(MANIFEST)
        if not place.is_behind_link:
            with contextlib.suppress(OSError):  # the folder is not empty, or a mount point
                place.parent.remove_folder(place.name)
    return WriteReport(removed=len(own))


def _apply(plan: WritePlan, place: OutputPlace) -> None:
    if in_place.is_needed(place):
        in_place.replace_files(plan, place)
        return
    try:
        if path := plan.replaced_file:
            replace_file(place, plan.outputs[path], plan.digests, plan.partial)
        else:
            replace_tree(plan, place)
    except OSError as error:
        if error.errno not in _NOT_RENAMEABLE:
            raise
        in_place.replace_files(plan, place)


@contextlib.contextmanager
def _open_clean_place(
    target: Path, site_root: Path, *, is_chosen: bool, wait_s: float
) -> Iterator[OutputPlace]:
    """Lock the site, open the parent of the output folder, and yield the place of the folder. Clean up after
    an interrupted run."""
    with (
        _name_failures(target, site_root),
        site_lock(site_root, wait_s),
        open_place(target, site_root, is_chosen=is_chosen) as place,
    ):
        _clear_up(place, target, site_root)
        yield place


def _clear_up(place: OutputPlace, target: Path, site_root: Path) -> None:
    """Finish or undo an interrupted run. SiteError if the folder is not an output folder."""
    recover(place)
    if place.exists:
        with place.enter() as folder:
            if folder.is_folder(IN_PLACE_STAGE):
                folder.remove_tree(IN_PLACE_STAGE)
            check_owned(folder, target, site_root)


@contextlib.contextmanager
def _name_failures(target: Path, site_root: Path) -> Iterator[None]:
    """Convert an OSError in the block to a SiteError with the name of the file."""
    try:
        yield
    except OSError as error:
        # only `stage.py` uses relative names, for files of the site
        file = target / error.filename if error.filename else target
        message = f'cannot write the site: "{relative_path(file, site_root)}": {error.strerror or error}'
        hint = "check the permissions of the folder and the free space, and build again"
        raise SiteError(Diagnostic("output-write", message, hint=hint)) from error


# Checks before the first byte is written: folders and paths that are not blogsmith's are rejected.


_SOURCES = (
    ".blogsmith",
    ".git",
    "_freeze",
    "content",
    "languages",
    "layouts",
    "partials",
    "plugins",
    "shortcodes",
    "static",
    "themes",
)
"""Names of files and folders of a site that contain its author's work."""

_HOSTING = frozenset({".domains", ".git", ".nojekyll", ".well-known", "CNAME"})
"""Names of files that hosts read. If a host publishes a branch, they exist there before the first build."""


def check_folder(target: Path, site_root: Path) -> None:
    """Reject an output folder that may contain valuable files. SiteError with code `output-folder`."""
    if problem := _place_problem(target.resolve(), site_root.resolve()):
        raise output_folder_error(target, site_root, problem)


def check_owned(folder: Folder, target: Path, site_root: Path) -> None:
    """Reject a folder that is not empty and has no manifest. SiteError with code `output-folder`."""
    kept = (IN_PLACE_STAGE, *_HOSTING)
    foreign = min((name for name, _ in folder.entries() if name not in kept), default="")
    if foreign and read_manifest(folder) is None:
        hint = "move your files to another folder, or choose another `output:` in blogsmith.yaml"
        problem = f'contains "{foreign}", which blogsmith did not write'
        raise output_folder_error(target, site_root, problem, hint)


def check_paths(outputs: Sequence[Output]) -> None:
    """Reject paths that leave the folder, and paths that are equal on some file systems."""
    paths = [str(output.path) for output in outputs]
    problems = [
        f'invalid path "{path}": expected a path inside the output folder'
        for path in paths
        if not is_inside(path)
    ]
    kept = (MANIFEST, IN_PLACE_STAGE)
    problems += [
        f'invalid path "{path}": the name is reserved for blogsmith' for path in paths if _top(path) in kept
    ]
    problems += _ambiguous_paths(paths)
    if problems:
        raise SiteError(*(Diagnostic("output-conflict", problem, hint=_RENAME) for problem in problems))


_RENAME = "rename the file, or give the page another `slug`"


def check_foreign(plan: WritePlan) -> None:
    """Refuse to replace files that are not in the manifest. SiteError with an `output-foreign` for each."""
    blocked = {path: path for path in plan.outputs if path in plan.foreign or path in plan.foreign_folders}
    blocked |= {
        up: path
        for path in sorted(plan.outputs, reverse=True)
        for up in ancestors([path])
        if up in plan.foreign
    }
    if blocked:
        raise SiteError(
            *(_foreign_file_diagnostic(plan.title, found, path) for found, path in sorted(blocked.items()))
        )


def _place_problem(target: Path, root: Path) -> str:
    if target == root or target in root.parents:
        return "contains the sources of the site"
    if target in (Path.home().resolve(), Path(target.anchor)):
        return "is your home folder or the root of the file system"
    for name in _SOURCES:
        if target.is_relative_to(root / name):
            return f"is in {name}/, which contains sources of the site"
    return ""


def _foreign_file_diagnostic(name: str, found: str, path: str) -> Diagnostic:
    message = f'"{name}/{found}" was not written by blogsmith and blocks "{path}"'
    if found == path:
        message = f'"{name}/{found}" was not written by blogsmith and is not overwritten'
    return Diagnostic("output-foreign", message, hint="move the file away, or change the URL of the page")


def _ambiguous_paths(paths: Iterable[str]) -> list[str]:
    """Return messages about paths that some file systems cannot distinguish, and about files that are also
    used as folders."""
    first: dict[str, str] = {}
    problems = []
    for path in sorted(paths):
        if _fold(path) in first:
            problems.append(_twin_problem(first[_fold(path)], path))
        first.setdefault(_fold(path), path)
    for path in sorted(paths):
        problems += [
            f'"{first[up]}" is both a file and the folder of "{path}"'
            for up in sorted(ancestors([_fold(path)]))
            if up in first
        ]
    return problems


def _twin_problem(one: str, other: str) -> str:
    if one == other:
        return f'two files of the site have the same output path "{one}"'
    return f'"{one}" and "{other}" are the same file on some systems'


def _fold(path: str) -> str:
    """Return a form that is equal for paths that are equal on macOS or Windows."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _top(path: str) -> str:
    return _fold(path).partition("/")[0]
