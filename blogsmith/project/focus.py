"""A report about some files of a site: for `blogsmith check FILE`, which an editor or a hook of git runs.

The whole site is read all the same, since links and labels lead across pages.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from msgspec.structs import replace

from ..base.diagnostics.model import did_you_mean, sort_key
from .report import BuildReport

PARTS = (
    *("blogsmith.yaml", "content", "static", "themes", "layouts", "partials", "shortcodes", "plugins"),
    *("languages", "_freeze", "remote-images.txt"),
)
"""What belongs to a site in its folder."""
_MOST_NAMES = 20_000
"""Names of files that a name without a file is compared with."""


class UnknownFile(Exception):
    """A name is that of no file of the site; its argument says so."""


def select_files(root: Path, names: Sequence[str]) -> tuple[str, ...]:
    """Paths relative to the site that are meant by files and folders; UnknownFile for anything else.

    A name counts from the current folder, from the site's, or from `content/`.
    """
    return tuple(dict.fromkeys(_select(root, name) for name in names))


def check_files(build: Callable[[tuple[str, ...]], BuildReport], files: Sequence[str]) -> BuildReport:
    """Return what a build finds in these files and folders.

    A file that is named is built although it is a draft, scheduled or expired; one in a folder that is named
    is not. So these are built apart: published pages are judged as they will be published.

    build: takes source paths of pages to be built in any case.
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
    """Return the report with only what is about these files and folders.

    Errors by which the site could not be read at all stay: nothing is known of the files then.
    """
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
    """Whether a path is one of these files, or lies in one of these folders."""
    return any(path == file or path.startswith(f"{file}/") or file == "." for file in files)


def _select(root: Path, name: str) -> str:
    for start in (Path(), root, root / "content"):
        path = _below(root, start / name)
        if path is not None and os.path.lexists(root / path):
            if path != "." and PurePosixPath(path).parts[0] not in PARTS:
                raise UnknownFile(f"{name} is no part of the site: a build does not read it")
            return path
    near = did_you_mean(name.removeprefix("./"), _known_names(root))
    raise UnknownFile(f"there is no {name} in the site" + (f"; {near}" if near else ""))


def _below(root: Path, path: Path) -> str | None:
    """The path relative to the site, links in the file's own name not followed; None: it is elsewhere."""
    # not `resolve`: of a link the link is meant
    whole = Path(os.path.normpath(Path.cwd() / path))
    for file in (whole, whole.parent.resolve() / whole.name, whole.resolve()):
        for folder in (root, root.resolve()):
            if file.is_relative_to(folder):
                return file.relative_to(folder).as_posix()
    return None


def _known_names(root: Path) -> list[str]:
    """Files as they may be typed: from the site's folder, from `content/`, and by their bare name."""
    names: list[str] = ["blogsmith.yaml"]
    for path in _files_below(root / "content"):
        below = path.relative_to(root).as_posix()
        names += [below, below.removeprefix("content/"), path.name]
        if len(names) > _MOST_NAMES:
            break
    return names


def _files_below(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders.sort()
        yield from (Path(place, file) for file in sorted(files))
