"""A whole import: recognize the system, read, write, build and repair, compare, report.

Errors that the old site has too become warnings by settings of the new site. `repair` handles all other
errors.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from ..api.importing import (
    Diagnostic,
    Progress,
    SiteError,
    name_set,
    open_folder,
    plural,
    site_lock,
    temporary_folder,
)
from .addresses import avoid_list_urls
from .archives import unpacked_source
from .model import Notice, NoticeKind, SiteImport
from .page_rewrites import rewrite_pages
from .page_work import ONE_PROCESS, Workers
from .placement import place_site
from .protection import remove_withheld_files
from .repair import FORMULA_CODES, SiteBuilder, build_import, is_fatal
from .report import ImportResult, make_reports
from .site_settings import add_comments, add_plugins, add_social_links, keep_marks, report_lost_settings
from .source_files import remove_unreadable_files, source_root
from .systems import find_system
from .unread_documents import name_unread_documents
from .verify.site import SiteCheck, check_site
from .write import reject_other_site, site_files, write_reports, write_site_files

_SOURCE_CODES = name_set("footnote-undefined id-twice image-missing label-twice link-anchor link-missing")
"""Codes of errors that the old site has too, because their targets are missing in the source."""


def lower_errors(site: SiteImport, check: SiteCheck) -> tuple[SiteImport, SiteCheck]:
    """Add settings that turn errors in pages into warnings, so that the site builds. Lower these errors in
    `check` too."""
    errors = Counter(
        found.code for found in check.diagnostics if found.severity == "error" and not is_fatal(found)
    )
    found = sorted(errors.keys() - FORMULA_CODES)
    formulas = sum(errors[code] for code in errors if code in FORMULA_CODES)
    settings: dict[str, Any] = dict(site.settings)
    notices = list(site.notices)
    hint = "fix these errors, and remove the codes from `diagnostics` in blogsmith.yaml"
    if found:
        settings["diagnostics"] = {**settings.get("diagnostics", {}), **dict.fromkeys(found, "warning")}
    kinds: tuple[NoticeKind, ...] = ("mistake", "changed")
    for kind in kinds:
        lowered = [code for code in found if (code in _SOURCE_CODES) == (kind == "mistake")]
        if lowered:
            count = plural(sum(errors[code] for code in lowered), "error")
            message = f"{count} reported as warnings: {', '.join(lowered)}"
            notices.append(Notice(kind, message, hint=hint))
    if formulas:
        settings["math"] = {**settings.get("math", {}), "on_error": "render"}
        message = f"{plural(formulas, 'error')} in formulas, which are not typeset but shown as TeX"
        hint = "define missing commands under `math.macros`, and remove `math.on_error` from blogsmith.yaml"
        notices.append(Notice("held", message, hint=hint))
    every = frozenset((*found, *(FORMULA_CODES if formulas else ())))
    if not every:
        return site, check
    return replace(site, settings=settings, notices=tuple(notices)), _lower_severity(check, every)


def show_image_copies(site: SiteImport) -> SiteImport:
    """Set `images.remote` so that pages show copies of images on other hosts."""
    images = {**site.settings.get("images", {}), "remote": "fetch"}
    return replace(site, settings={**site.settings, "images": images})


def _lower_severity(check: SiteCheck, codes: frozenset[str]) -> SiteCheck:
    def lower(found: Diagnostic) -> Diagnostic:
        is_lower = found.code in codes and not is_fatal(found)
        return msgspec.structs.replace(found, severity="warning") if is_lower else found

    diagnostics = tuple(map(lower, check.diagnostics))
    left: Mapping[str, int] = Counter(found.path for found in diagnostics if found.severity == "error")
    pages = tuple(
        replace(page, errors=left[page.path], warnings=page.warnings + page.errors - left[page.path])
        for page in check.pages
    )
    return replace(check, pages=pages, diagnostics=diagnostics)


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """Options of an import from the command line."""

    now: dt.datetime
    """Current time, with a time zone."""
    system: str = ""
    """Name of the system; empty: detect it."""
    dry_run: bool = False
    """Whether the site is only written to a temporary folder, which is removed."""
    against: Path | None = None
    """Folder with pages that the old system published; None: no comparison."""
    fetch_images: bool = False
    """Whether images on other hosts are downloaded afterwards, so that the new site shows copies."""
    workers: Workers = ONE_PROCESS
    """Processes that translate, build and compare pages."""


def import_site(source: Path, into: Path, options: ImportOptions, progress: Progress) -> ImportResult:
    """Read the site at `source`, write it as a blogsmith site to `into`, and compare the two.

    Raise SiteError in these cases:

    - No system is recognized, or an archive cannot be unpacked.
    - One of the folders contains the other.
    - `into` contains files that no import wrote, or another process is writing to it.
    """
    _reject_overlap(source, into)
    reject_other_site(into)
    if options.against and not options.against.is_dir():
        raise SiteError(Diagnostic("import-source", f'folder not found: "{options.against}"'))
    with unpacked_source(source) as unpacked:
        return _import_folder(unpacked, into, options, progress)


def _import_folder(source: Path, into: Path, options: ImportOptions, progress: Progress) -> ImportResult:
    root = source_root(source)
    system = find_system(root, options.system)
    workers = options.workers
    site = remove_unreadable_files(remove_withheld_files(system.read(root, progress, workers)))
    site = place_site(avoid_list_urls(rewrite_pages(site, progress, workers)))
    site = name_unread_documents(site)
    site = report_lost_settings(keep_marks(add_plugins(add_social_links(add_comments(site)))))
    target: AbstractContextManager[Path] = temporary_folder() if options.dry_run else nullcontext(into)
    with target as folder, _lock_folder(folder):
        written = write_site_files(site_files(site), folder, progress)
        built = build_import(site, written, SiteBuilder(folder, options.now, progress, workers))
        check = check_site(built, progress, against=options.against, workers=workers)
        site, check = lower_errors(built.site, check)
        site = show_image_copies(site) if options.fetch_images else site
        files = write_site_files(site_files(site), folder, progress, built.digests)
        done = ImportResult(site, system.title, check, files)
        write_reports(make_reports(done), folder)
    return done


@contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Lock a folder, so that one import at a time writes to it."""
    with ExitStack() as stack:
        try:
            open_folder(folder, make=True).close()
            stack.enter_context(site_lock(folder, 0))
        except OSError as error:
            message = f'cannot write "{folder}": {error.strerror or error}'
            raise SiteError(Diagnostic("new-write", message)) from error
        yield


def _reject_overlap(source: Path, into: Path) -> None:
    """Raise SiteError if one folder contains the other, because the source must not be modified."""
    old, new = source.resolve(), into.resolve()
    if old == new or old in new.parents or new in old.parents:
        message = f'target "{into}" and source "{source}" overlap'
        raise SiteError(
            Diagnostic(
                "import-into", message, hint="choose a target outside the source that does not contain it"
            )
        )
