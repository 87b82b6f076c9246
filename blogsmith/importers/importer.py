"""An import from start to end: recognise, read, write, build and compare, report."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from ..base.diagnostics.model import Diagnostic, SiteError
from ..base.storage.folder import open_folder
from ..base.storage.lock import site_lock
from ..base.storage.temporary import temporary_folder
from ..project.report import Progress
from .addresses import leave_lists_free
from .comment_services import with_comments
from .leniency import with_copies, with_leniency
from .needed_plugins import with_needed_plugins
from .old_settings import with_named_settings
from .page_processes import ONE_PROCESS, Workers
from .page_rewrites import with_rewritten_pages
from .protection import without_held_files
from .readable import with_files_that_can_be_read
from .report import ImportResult, reports_of
from .social_links import with_social_links
from .source_files import source_root
from .systems import find_system
from .verify.site import check_site
from .write import refuse_other_site, site_files, write_reports, write_site_files


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What the command line decides about an import."""

    now: dt.datetime
    """With a time zone."""
    system: str = ""
    """Name of the system; empty: found out."""
    dry_run: bool = False
    """Write nothing that stays."""
    against: Path | None = None
    """Folder of pages that the old system made."""
    fetches: bool = False
    """Images of other hosts will be downloaded: the new site shows its copies."""
    workers: Workers = ONE_PROCESS
    """They translate, make and compare pages."""


def import_site(source: Path, into: Path, options: ImportOptions, progress: Progress) -> ImportResult:
    """Read the site at `source`, write it as one of ours to `into`, and compare the two.

    Raises SiteError if no system is recognised, if `into` lies in `source` or the other way round, if it
    holds files that are not of an import, or if another process is writing it.
    """
    _refuse_overlap(source, into)
    refuse_other_site(into)
    if options.against and not options.against.is_dir():
        raise SiteError(Diagnostic("import-source", f"{options.against} is no folder of pages"))
    root = source_root(source)
    system = find_system(root, options.system)
    workers = options.workers
    site = with_files_that_can_be_read(without_held_files(system.read(root, progress, workers)))
    site = leave_lists_free(with_rewritten_pages(site, progress, workers))
    site = with_named_settings(with_needed_plugins(with_social_links(with_comments(site))))
    target: AbstractContextManager[Path] = temporary_folder() if options.dry_run else nullcontext(into)
    with target as folder, _writing(folder):
        written = write_site_files(site_files(site), folder, progress)
        check = check_site(site, folder, options.now, progress, against=options.against, workers=workers)
        site, check = with_leniency(site, check)
        site = with_copies(site) if options.fetches else site
        files = write_site_files(site_files(site), folder, progress, written)
        done = ImportResult(site, system.title, check, files)
        write_reports(reports_of(done), folder)
    return done


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """One import at a time writes into a folder."""
    with ExitStack() as stack:
        try:
            open_folder(folder, make=True).close()
            stack.enter_context(site_lock(folder, 0))
        except OSError as error:
            message = f"cannot write {folder}: {error.strerror or error}"
            raise SiteError(Diagnostic("new-write", message)) from error
        yield


def _refuse_overlap(source: Path, into: Path) -> None:
    """The source is never written to."""
    old, new = source.resolve(), into.resolve()
    if old == new or old in new.parents or new in old.parents:
        message = f"{into} and {source} lie in each other: an import never writes into its source"
        raise SiteError(Diagnostic("import-into", message, hint="name a folder elsewhere"))
