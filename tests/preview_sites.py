"""The site of the preview in the form of a build's output, to compare both."""

from __future__ import annotations

import re
from pathlib import Path

from blogsmith.base.diagnostics.model import Diagnostic, SiteError
from blogsmith.build.incremental import IncrementalPipeline, UpdateRequest
from blogsmith.build.snapshot import SiteSnapshot
from blogsmith.model.documents import Output
from blogsmith.model.template_views import PageView
from blogsmith.project.report import BuildOptions
from blogsmith.write.photos.cleaning import read_published
from tests.site_files import NOW

MARK = re.compile(rb' data-(?:line|cell)="\d+"')
"""Attribute that the preview adds to blocks. The tag in `<head>` is added when a page is sent."""


def options(*, drafts: bool = False) -> BuildOptions:
    """Return the options of a preview at the time of the tests."""
    return BuildOptions(now=NOW, drafts=drafts)


def new_line(root: Path) -> IncrementalPipeline:
    """Return the pipeline of a site."""
    return IncrementalPipeline(root.resolve(), options(), lambda: NOW)


def settled(
    line: IncrementalPipeline, before: SiteSnapshot | None = None, asked: UpdateRequest | None = None
) -> SiteSnapshot:
    """Return the current state of the site; SiteError as `IncrementalPipeline.update_site`."""
    found = before
    for present in line.update_site(before, asked or UpdateRequest()):
        found = present or found
    assert found is not None and found.is_complete
    return found


def outputs(present: SiteSnapshot) -> dict[str, bytes]:
    """Return every file of the site by output path, without markers and without pages that fail."""
    found = {}
    for planned in reversed(list(present.files_by_url.values())):
        try:
            made, _ = present.plan.output(planned)
        except SiteError:
            continue
        data = _written(made)
        found[planned.path.as_posix()] = (
            MARK.sub(b"", data) if isinstance(planned.content, PageView) else data
        )
    return found


def _written(made: Output) -> bytes:
    if made.file is None:
        return made.data or b""
    with made.file.open("rb") as stream:
        return b"".join(read_published(stream)) if made.is_cleaned else stream.read()


def page_paths(present: SiteSnapshot) -> list[str]:
    """Return the paths of pages."""
    return [path for path, planned in present.files_by_url.items() if isinstance(planned.content, PageView)]


def problems(present: SiteSnapshot) -> list[Diagnostic]:
    """Return all errors except those in templates."""
    found = [*present.site_diagnostics, *(one for own in present.page_diagnostics.values() for one in own)]
    return list(dict.fromkeys(found))


def built(folder: Path) -> dict[str, bytes]:
    """Return the output of a build in the same form."""
    files = [file for file in folder.rglob("*") if file.is_file() and file.name != ".blogsmith-manifest.json"]
    return {
        file.relative_to(folder).as_posix(): MARK.sub(b"", file.read_bytes())
        if file.suffix == ".html"
        else file.read_bytes()
        for file in files
    }
