"""Pages with errors in a site that is written anyway: they stay in their last version without errors.

Files of the last site that these pages need (images drawn by code, fonts, scripts) stay too. A page without
an earlier correct version shows the content that could be rendered. It is recorded as partial, so that no
later build keeps it as a last version. If it is unclear which pages exist, nothing of the last site is
removed. If a page requests protection, its last version is removed, and so are the last versions of lists
that name it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from msgspec import Struct

from ..base.diagnostics.codes import UNREAD_CODES
from ..model.documents import Output
from ..model.generated_files import OutputFile
from ..model.template_views import PageView
from ..project.report import BuildReport, FailedPages
from ..site.collisions import fold_url
from ..write.manifest import is_inside
from ..write.output import read_last_site

_PAGE = ".html"


class PublishedSite(Struct, frozen=True):
    """The files of a site with errors in pages."""

    outputs: Sequence[Output]
    partial: frozenset[str]
    """Output paths of pages that have errors and no earlier correct version."""
    pages: FailedPages


def restore_last_versions(
    outputs: Sequence[Output],
    files: Iterable[OutputFile],
    report: BuildReport,
    left_out: Mapping[str, int],
    keep: Callable[[Output], Output],
    target: Path,
    site_root: Path,
    *,
    is_chosen: bool,
) -> PublishedSite:
    """Return the outputs, with the last version of each page that has errors, if there is one. files: the
    plan of the outputs. left_out: result of `count_left_out`. keep: function that stores a finished output,
    and returns it. is_chosen: whether the user named `target` on the command line."""
    errors = [found for found in report.diagnostics if found.severity == "error"]
    with_errors = {found.path for found in errors}
    wrong = {
        str(one.path)
        for one in files
        if isinstance(one.content, PageView) and one.content.path in with_errors
    }
    new = {str(output.path): output for output in outputs}
    is_unclear = left_out["unclear"] > 0 or any(found.code in UNREAD_CODES for found in errors)
    keeps_all = is_unclear and not left_out["protected"]
    last = read_last_site(
        target, site_root, lambda path: path in wrong or path not in new, is_chosen=is_chosen
    )
    kept = {path: last[path] for path in sorted(wrong & last.keys())}
    old = {path: data for path, data in last.items() if path not in new}
    kept_files = old if keeps_all else _find_needed(kept.values(), old)
    taken = {path: keep(Output(PurePosixPath(path), data)) for path, data in {**kept, **kept_files}.items()}
    partial = frozenset(wrong & new.keys() - kept.keys())
    pages = FailedPages(len(kept), len(partial), left_out["unclear"] + left_out["protected"])
    return PublishedSite([*{**new, **taken}.values()], partial, pages)


def remove_duplicates(files: Sequence[OutputFile]) -> list[OutputFile]:
    """Return the files whose paths stay in the output folder. If several have one path, return the page or
    the first one."""
    chosen: dict[str, OutputFile] = {}
    for planned in sorted(files, key=lambda planned: not isinstance(planned.content, PageView)):
        path = str(planned.path)
        if is_inside(path):
            chosen.setdefault(fold_url(path), planned)
    return list(chosen.values())


def _find_needed(pages: Iterable[bytes], others: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files that the pages refer to, directly or through other files, except for pages. others:
    path → content of each file to choose from."""
    found: dict[str, bytes] = {}
    texts = list(pages)
    while texts:
        text = texts.pop()
        for path, data in others.items():
            if path not in found and not path.endswith(_PAGE) and _refers_to(text, path):
                found[path] = data
                texts.append(data)
    return found


def _refers_to(text: bytes, path: str) -> bool:
    """Return whether a page or stylesheet contains the name of a file."""
    name = path.rpartition("/")[2]
    return quote(name).encode() in text or name.encode() in text
