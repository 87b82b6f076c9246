"""A site that is written although pages have errors: those stay as they were when they had none.

Whatever a page of the last site needs (pictures that code drew, fonts, scripts) stays with it. A page that
never was right shows what could be made of it, and is noted as partial, so that no later build takes it for a
version to keep. Where it is not clear which pages there are, nothing of the last site is removed, unless a
page asks for protection: then neither it nor the lists that name it may stay.
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
from ..project.report import BuildReport, WrongPages
from ..site.collisions import fold_url
from ..write.manifest import is_inside
from ..write.output import read_last_site

_PAGE = ".html"


class PublishedSite(Struct, frozen=True):
    """What is written of a site with errors in pages."""

    outputs: Sequence[Output]
    partial: frozenset[str]
    """Paths of pages that show what could be made of them."""
    pages: WrongPages


def with_last_versions(
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
    """The outputs with the last version of each page that has errors, where there is one.

    files: the plan of the outputs. left_out: as `count_left_out` returns it. keep, is_chosen: as in
    `make_outputs` and `write_site`.
    """
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
    pages = WrongPages(len(kept), len(partial), left_out["unclear"] + left_out["protected"])
    return PublishedSite([*{**new, **taken}.values()], partial, pages)


def distinct_files(files: Sequence[OutputFile]) -> list[OutputFile]:
    """Those that stand inside the output folder; of several at one path the page, else the first."""
    chosen: dict[str, OutputFile] = {}
    for planned in sorted(files, key=lambda planned: not isinstance(planned.content, PageView)):
        path = str(planned.path)
        if is_inside(path):
            chosen.setdefault(fold_url(path), planned)
    return list(chosen.values())


def _find_needed(pages: Iterable[bytes], others: Mapping[str, bytes]) -> dict[str, bytes]:
    """Those of the other files that pages name, and what these name in turn; no pages."""
    found: dict[str, bytes] = {}
    texts = list(pages)
    while texts:
        text = texts.pop()
        for path, data in others.items():
            if path not in found and not path.endswith(_PAGE) and _names(text, path):
                found[path] = data
                texts.append(data)
    return found


def _names(text: bytes, path: str) -> bool:
    """Whether a page or style sheet holds the name of a file."""
    name = path.rpartition("/")[2]
    return quote(name).encode() in text or name.encode() in text
