"""What is refused before a byte is written: folders, paths and neighbours that are not ours."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..base.diagnostics.model import Diagnostic, SiteError
from ..base.storage.file_names import MANIFEST
from ..base.storage.folder import Folder
from ..base.storage.tree import ancestors
from ..model.documents import Output
from .manifest import IN_PLACE_STAGE, is_inside, read_manifest
from .place import refuse_folder
from .plan import WritePlan

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
"""Folders of a site that hold its author's work."""

_HOSTING = frozenset({".domains", ".git", ".nojekyll", ".well-known", "CNAME"})
"""What hosts want beside a site, and who publishes from a branch has there before the first build."""


def check_folder(target: Path, site_root: Path) -> None:
    """Refuse an output folder whose loss would hurt; SiteError `output-folder`."""
    if problem := _place_problem(target.resolve(), site_root.resolve()):
        raise refuse_folder(target, site_root, problem)


def check_owned(folder: Folder, target: Path, site_root: Path) -> None:
    """Refuse a folder that has contents but no manifest of ours; SiteError `output-folder`."""
    kept = (IN_PLACE_STAGE, *_HOSTING)
    if read_manifest(folder) is None and any(name not in kept for name, _ in folder.entries()):
        hint = "empty the folder, or choose another `output:` in blogsmith.yaml"
        raise refuse_folder(target, site_root, "holds files that blogsmith did not write", hint)


def check_paths(outputs: Sequence[Output]) -> None:
    """Refuse paths that leave the folder or that some file system cannot tell apart."""
    paths = [str(output.path) for output in outputs]
    problems = [
        f'the path "{path}" is not one inside the output folder' for path in paths if not is_inside(path)
    ]
    kept = (MANIFEST, IN_PLACE_STAGE)
    problems += [f'the path "{path}" is kept for blogsmith itself' for path in paths if _top(path) in kept]
    problems += _twins(paths)
    if problems:
        raise SiteError(*(Diagnostic("output-conflict", problem) for problem in problems))


def check_foreign(plan: WritePlan) -> None:
    """Refuse to replace what is not ours; SiteError `output-foreign` for each such file."""
    blocked = {path: path for path in plan.outputs if path in plan.foreign or path in plan.foreign_folders}
    blocked |= {
        up: path
        for path in sorted(plan.outputs, reverse=True)
        for up in ancestors([path])
        if up in plan.foreign
    }
    if blocked:
        raise SiteError(*(_foreign(plan.title, found, path) for found, path in sorted(blocked.items())))


def _place_problem(target: Path, root: Path) -> str:
    if target == root or target in root.parents:
        return "holds the site's own sources"
    if target in (Path.home().resolve(), Path(target.anchor)):
        return "is not a folder to build into"
    for name in _SOURCES:
        if target.is_relative_to(root / name):
            return f"lies in {name}/, which holds the site's own sources"
    return ""


def _foreign(name: str, found: str, path: str) -> Diagnostic:
    message = f"{name}/{found} is not blogsmith's, but {path} is to be written there"
    if found == path:
        message = f"{name}/{found} is not blogsmith's, but stands where a file is to be written"
    return Diagnostic("output-foreign", message, hint="move it away, or change the address of the page")


def _twins(paths: Iterable[str]) -> list[str]:
    """Messages for paths that are equal without case and Unicode form, and files used as folders."""
    first: dict[str, str] = {}
    problems = []
    for path in sorted(paths):
        if _fold(path) in first:
            problems.append(_twin_problem(first[_fold(path)], path))
        first.setdefault(_fold(path), path)
    for path in sorted(paths):
        problems += [
            f'"{first[up]}" is to be a file, and a folder for "{path}"'
            for up in sorted(ancestors([_fold(path)]))
            if up in first
        ]
    return problems


def _twin_problem(one: str, other: str) -> str:
    if one == other:
        return f'two files of the site are to be written to "{one}"'
    return f'"{one}" and "{other}" are the same file on some systems'


def _fold(path: str) -> str:
    """Equal for paths that macOS or Windows takes for one."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _top(path: str) -> str:
    return _fold(path).partition("/")[0]
