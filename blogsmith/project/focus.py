"""Reports about single files of a site, for `blogsmith check FILE`, which editors and Git hooks run.

The whole site is still read, because links and labels refer to other pages.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from msgspec.structs import replace

from ..base.diagnostics.model import format_suggestion, nearest, sort_key
from .report import BuildReport

SITE_PATHS = (
    *("blogsmith.yaml", "content", "static", "themes", "layouts", "partials", "shortcodes", "plugins"),
    *("languages", "_freeze", "remote-images.txt"),
)
"""Files and folders of a site, relative to its root."""
_MOST_NAMES = 20_000
"""Maximum number of file names to compare an unknown name with."""


class UnknownFileError(Exception):
    """A name does not belong to a file of the site. The message is for the author."""


def select_files(root: Path, names: Sequence[str]) -> tuple[str, ...]:
    """Return the paths of files and folders, relative to the site. A name may be relative to the current
    folder, to the site root or to `content/`. Raises `UnknownFileError` for an unknown name."""
    return tuple(dict.fromkeys(_select(root, name) for name in names))


def check_files(build: Callable[[tuple[str, ...]], BuildReport], files: Sequence[str]) -> BuildReport:
    """Return the report of a build for these files and folders.

    A named file is built even if it is a draft, scheduled or expired. In a named folder, these files are not
    built. Unpublished files are built separately, so that published pages are checked as they will be
    published. build: function that builds the site. Its argument contains the source paths of unpublished
    pages that it must include.
    """
    published = build(())
    hidden = tuple(path for path in published.left_out if path in files)
    if not hidden:
        return focus_on(published, files)
    found = focus_on(build(hidden), hidden)
    others = [file for file in files if file not in hidden]
    if not others:
        return found
    rest = focus_on(published, others)
    diagnostics = dict.fromkeys((*rest.diagnostics, *found.diagnostics))
    return replace(
        rest,
        diagnostics=tuple(sorted(diagnostics, key=sort_key)),
        ok=rest.ok and found.ok,
        notes=(*rest.notes, *found.notes),
    )


def focus_on(report: BuildReport, files: Sequence[str]) -> BuildReport:
    """Return the part of a report that is about these files and folders. If the site could not be read,
    return all its errors, because nothing is known about the files."""
    if not files:
        return report
    left_out = {path: state for path, state in report.left_out.items() if is_within(path, files)}
    is_read = report.target is not None
    found = tuple(one for one in report.diagnostics if is_within(one.path, files) or not is_read)
    is_ok = not any(one.severity == "error" for one in found)
    return replace(
        report,
        diagnostics=found,
        ok=is_ok,
        drafts=sum(state == "draft" for state in left_out.values()),
        expired=sum(state == "expired" for state in left_out.values()),
        scheduled=tuple(path for path, state in left_out.items() if state == "scheduled"),
        left_out=left_out,
    )


def is_within(path: str, files: Sequence[str]) -> bool:
    """Return whether a path is one of these files, or in one of these folders."""
    return any(path == file or path.startswith(f"{file}/") or file == "." for file in files)


def _select(root: Path, name: str) -> str:
    for start in (Path(), root, root / "content"):
        path = _relative_to_site(root, start / name)
        if path is not None and os.path.lexists(root / path):
            if path != "." and PurePosixPath(path).parts[0] not in SITE_PATHS:
                raise UnknownFileError(f'"{name}" is not part of the site: a build does not read it')
            return path
    known = _known_names(root)
    near = format_suggestion(known.get(nearest(name.removeprefix("./"), known) or ""))
    raise UnknownFileError(f'file not found in the site: "{name}"' + (f"; {near}" if near else ""))


def _relative_to_site(root: Path, path: Path) -> str | None:
    """Return the path relative to the site; None if it is not inside the site. If `path` is a link, it is not
    followed."""
    # `resolve` would follow the link
    whole = Path(os.path.normpath(Path.cwd() / path))
    for file in (whole, whole.parent.resolve() / whole.name, whole.resolve()):
        for folder in (root, root.resolve()):
            if file.is_relative_to(folder):
                return file.relative_to(folder).as_posix()
    return None


def _known_names(root: Path) -> dict[str, str]:
    """Return name → path. The names of a file are those that users may type: its path relative to the root or
    to `content/`, and its name alone."""
    names = {"blogsmith.yaml": "blogsmith.yaml"}
    for path in _files_below(root / "content"):
        below = path.relative_to(root).as_posix()
        for name in (below, below.removeprefix("content/"), path.name):
            names.setdefault(name, below)
        if len(names) > _MOST_NAMES:
            break
    return names


def _files_below(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders.sort()
        yield from (Path(place, file) for file in sorted(files))
