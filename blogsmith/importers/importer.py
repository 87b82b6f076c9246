"""A whole import: recognize, read, write, build and compare, report.

Errors that the old site already had become warnings in the new settings, so that the new site builds. Codes
that blogsmith does not allow to be lowered stay errors.
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
    LOWERABLE,
    Diagnostic,
    Progress,
    SiteError,
    open_folder,
    plural,
    site_lock,
    temporary_folder,
)
from .addresses import avoid_list_urls
from .model import Notice, SiteImport
from .page_rewrites import rewrite_pages
from .page_work import ONE_PROCESS, Workers
from .protection import remove_withheld_files
from .report import ImportResult, make_reports
from .site_settings import add_comments, add_plugins, add_social_links, report_lost_settings
from .source_files import remove_unreadable_files, source_root
from .systems import find_system
from .verify.site import SiteCheck, check_site
from .write import reject_other_site, site_files, write_reports, write_site_files

_FORMULAS = frozenset(("math-command", "math-syntax", "math-brace"))
"""Diagnostic codes that `math.on_error: render` turns into warnings."""


def lower_errors(site: SiteImport, check: SiteCheck) -> tuple[SiteImport, SiteCheck]:
    """Add settings that let the site build despite errors in its pages, and lower the check's errors."""
    errors = Counter(found.code for found in check.diagnostics if found.severity == "error")
    lowered = sorted(code for code in errors if code in LOWERABLE)
    formulas = sum(errors[code] for code in errors if code in _FORMULAS)
    settings: dict[str, Any] = dict(site.settings)
    notices = list(site.notices)
    if lowered:
        settings["diagnostics"] = {**settings.get("diagnostics", {}), **dict.fromkeys(lowered, "warning")}
        count = plural(sum(errors[code] for code in lowered), "error")
        message = f"{count} of the old site reported as warnings: {', '.join(lowered)}"
        hint = "fix them, and remove the codes from `diagnostics` in blogsmith.yaml"
        notices.append(Notice("mistake", message, hint=hint))
    if formulas:
        settings["math"] = {**settings.get("math", {}), "on_error": "render"}
        message = f"{plural(formulas, 'error')} in formulas, which are shown as TeX"
        hint = "fix them, and remove `math.on_error` from blogsmith.yaml"
        notices.append(Notice("mistake", message, hint=hint))
    codes = frozenset((*lowered, *(_FORMULAS if formulas else ())))
    if not codes:
        return site, check
    return replace(site, settings=settings, notices=tuple(notices)), _lower_severity(check, codes)


def show_image_copies(site: SiteImport) -> SiteImport:
    """Make the imported site show copies of images on other hosts."""
    images = {**site.settings.get("images", {}), "remote": "fetch"}
    return replace(site, settings={**site.settings, "images": images})


def _lower_severity(check: SiteCheck, codes: frozenset[str]) -> SiteCheck:
    def lower(found: Diagnostic) -> Diagnostic:
        return msgspec.structs.replace(found, severity="warning") if found.code in codes else found

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
    """Whether to write only to a temporary folder."""
    against: Path | None = None
    """Folder with pages that the old system published; None: no comparison."""
    fetch_images: bool = False
    """Whether images of other hosts will be downloaded, so that the new site shows copies."""
    workers: Workers = ONE_PROCESS
    """Processes that translate, build and compare pages."""


def import_site(source: Path, into: Path, options: ImportOptions, progress: Progress) -> ImportResult:
    """Read the site at `source`, write it as a blogsmith site to `into`, and compare the two.

    Raise SiteError in these cases:

    - No system is recognized.
    - One of the folders contains the other.
    - `into` contains files that no import wrote, or another process is writing to it.
    """
    _reject_overlap(source, into)
    reject_other_site(into)
    if options.against and not options.against.is_dir():
        raise SiteError(Diagnostic("import-source", f'folder not found: "{options.against}"'))
    root = source_root(source)
    system = find_system(root, options.system)
    workers = options.workers
    site = remove_unreadable_files(remove_withheld_files(system.read(root, progress, workers)))
    site = avoid_list_urls(rewrite_pages(site, progress, workers))
    site = report_lost_settings(add_plugins(add_social_links(add_comments(site))))
    target: AbstractContextManager[Path] = temporary_folder() if options.dry_run else nullcontext(into)
    with target as folder, _lock_folder(folder):
        written = write_site_files(site_files(site), folder, progress)
        check = check_site(site, folder, options.now, progress, against=options.against, workers=workers)
        site, check = lower_errors(site, check)
        site = show_image_copies(site) if options.fetch_images else site
        files = write_site_files(site_files(site), folder, progress, written)
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
            message = f"cannot write {folder}: {error.strerror or error}"
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
