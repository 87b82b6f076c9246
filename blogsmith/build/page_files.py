"""PDF files of pages. An installed part makes the files: `paper/`, or another package."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Protocol

from msgspec import structs

from ..base.diagnostics.model import Diagnostic
from ..base.installed import PAGE_FILES, installed_parts
from ..config.load import CONFIG_NAME
from ..model.generated_files import GeneratedFile, OutputFile
from ..model.template_views import PageView
from ..project.report import BuildLog
from ..site.downloads import download_path
from .snapshot import SiteSnapshot, files_by_url


class PageFileMaker(Protocol):
    """The object that an entry point of the group `PAGE_FILES` names."""

    def missing(self) -> Diagnostic | None:
        """Return the error if a package that it needs is not installed, otherwise None."""

    def key(self, site: SiteSnapshot, page: PageView) -> str:
        """Return a string that changes with everything the file is made from."""

    def make(self, site: SiteSnapshot, page: PageView) -> tuple[bytes, tuple[Diagnostic, ...]]:
        """Return the file, with diagnostics. SiteError if it cannot be made."""


def with_page_files(site: SiteSnapshot, log: BuildLog) -> SiteSnapshot:
    """Return the site with the PDF files that its pages offer. Report to `log` if none can be made."""
    pages = [page for page in site.views.values() if any(one.kind == "pdf" for one in page.downloads)]
    if not pages:
        return site
    part = installed_parts(PAGE_FILES).get("pdf")
    maker: PageFileMaker | None = (
        getattr(importlib.import_module(part.module), part.attribute) if part else None
    )
    broken = Diagnostic("pdf-compiler", 'missing part "pdf" of blogsmith', hint="install blogsmith again")
    problem = maker.missing() if maker else broken
    if maker is None or problem:
        assert problem, "one of both is missing"
        log.add([_at_setting(site, pages[0], problem)])
        return site
    files = tuple(_plan(site, pages, maker))
    table = {**files_by_url(files, site.config.base_path), **site.files_by_url}
    composition = replace(site.plan, files=(*site.plan.files, *files))
    return replace(site, plan=composition, files_by_url=table)


def _plan(site: SiteSnapshot, pages: list[PageView], maker: PageFileMaker) -> Iterator[OutputFile]:
    for page in pages:
        path = download_path(page, "pdf", site.config)
        assert path, "these pages offer a PDF"
        report = partial(maker.make, site, page)
        made = GeneratedFile(
            partial(_first, report), (page,), (page,), key=maker.key(site, page), is_slow=True, report=report
        )
        yield OutputFile(path, f"the PDF of {page.path}", made)


def _first(report: partial[tuple[bytes, tuple[Diagnostic, ...]]]) -> bytes:
    return report()[0]


def _at_setting(site: SiteSnapshot, page: PageView, problem: Diagnostic) -> Diagnostic:
    """Return the diagnostic at the key or setting that requests PDF files."""
    if site.config.pdf:
        return structs.replace(problem, path=CONFIG_NAME)
    document = site.resolved.documents[page.path]
    place = document.front.places.get("pdf")
    lines = document.source.text.split("\n")
    line = lines[place.line - 1] if place else ""
    return structs.replace(problem, path=page.path, place=place, source_line=line)
