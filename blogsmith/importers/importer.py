"""All steps of an import: recognize the system, read the source, move pages to valid paths, write, build and
repair, compare with the source, and report.

Errors that the old site has too become warnings by settings of the new site. `repair` handles all other
errors.

`ode.md` beside the folder `ode/` becomes the page of the folder. Of two files whose names differ only in case
or Unicode form, the second gets another name, because many file systems can store only one of them. Links in
pages are adapted.
"""

from __future__ import annotations

import datetime as dt
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote

import msgspec

from ..api.importing import (
    Diagnostic,
    Progress,
    SiteError,
    collapse_path,
    fold_name,
    lazy_pattern,
    name_set,
    open_folder,
    page_folder,
    plural,
    site_lock,
    temporary_folder,
)
from .addresses import avoid_list_urls, new_url
from .analytics import add_analytics
from .archives import unpacked_source
from .block_map import define_kinds, name_unused_entries, read_block_map
from .kept_lines import read_heads
from .merge import apply_merge, plan_merge, read_record, source_digests
from .model import HasPath, ImportedPage, Notice, NoticeKind, SiteImport, by_path
from .page_rewrites import rewrite_pages
from .page_work import ONE_PROCESS, Workers
from .protection import remove_withheld_files
from .repair import FORMULA_CODES, SiteBuilder, build_import, is_fatal
from .report import ImportResult, make_reports
from .site_settings import (
    add_comments,
    add_plugins,
    add_social_links,
    keep_marks,
    report_lost_settings,
    templates,
)
from .source_files import remove_unreadable_files, source_root
from .systems import find_system
from .text.author_blocks import BlockMap
from .text.segments import CODE, PLAIN, rewrite
from .unread import name_unread_documents
from .verify.site import SiteCheck, check_site
from .write import site_files, write_reports, write_site_files

Moves = Mapping[PurePosixPath, PurePosixPath]
"""Old path in the new site → new path."""
_CONTENT = PurePosixPath("content")
_LISTS = frozenset(("index", "_index"))
_DESTINATION = lazy_pattern(
    r"(?P<head>\]\([ \t]*|^[ ]{0,3}\[[^\[\]\n]+\]:[ \t]*|\b(?:src|href|poster|srcset)[ \t]*=[ \t]*)"
    r"(?:<(?P<angle>[^<>\n]+)>|(?P<quote>[\"'])(?P<quoted>[^\"'<>\n]+)(?P=quote)|(?P<bare>[^\s\"'<>()]+))",
    re.MULTILINE,
)
_ADDRESS = lazy_pattern(r"(?![A-Za-z][A-Za-z0-9+.-]*:|//|#)([^?#]+)(.*)")


def place_site(site: SiteImport) -> SiteImport:
    """Return the import with its pages and files moved to paths that a build accepts."""
    placed = move_items(site, {**_section_moves(site), **site.moves})
    return move_items(placed, _twin_moves(placed))


def _section_moves(site: SiteImport) -> Moves:
    """Return a move for each page that has the same URL as a folder. The page becomes the page of the
    folder."""
    folders = {folder for page in site.pages for folder in page.path.parents}
    listed = {page.path.parent for page in site.pages if page.path.stem in _LISTS}
    found: dict[PurePosixPath, PurePosixPath] = {}
    for page in site.pages:
        folder = page.path.with_suffix("")
        url = str(page.front.get("permalink") or new_url(page, site.settings.get("permalinks", {})))
        listing = ImportedPage(folder / "_index.md", {}, "", "")
        if folder in folders - listed and page.path.stem not in _LISTS and url == new_url(listing, {}):
            found[page.path] = listing.path
    return found


def _twin_moves(site: SiteImport) -> Moves:
    """Return a move for each file and folder whose name differs from another name only in case or Unicode
    form."""
    every = sorted(site.paths)
    names: dict[tuple[PurePosixPath, str], str] = {}
    taken = {(folder.parent, fold_name(folder.name)) for path in every for folder in (path, *path.parents)}
    found: dict[PurePosixPath, PurePosixPath] = {}
    folders: dict[PurePosixPath, PurePosixPath] = {}
    for path in every:
        old = new = PurePosixPath()
        for part in path.parts:
            old, before = old / part, new
            if old not in folders:
                name, number = part, 2
                is_first = names.setdefault((before, fold_name(part)), part) == part
                while not is_first and (before, fold_name(name)) in taken:
                    name = f"{PurePosixPath(part).stem}-{number}{PurePosixPath(part).suffix}"
                    number += 1
                taken.add((before, fold_name(name)))
                folders[old] = before / name
            new = folders[old]
        if new != path:
            found[path] = new
    return found


def move_items(site: SiteImport, moves: Moves) -> SiteImport:
    """Return the import with pages and files moved to other paths, and with the links in its pages
    adapted."""
    if not moves:
        return site
    records = {page_folder(old): page_folder(new) for old, new in moves.items() if old.suffix == ".md"}

    def target(item: HasPath) -> PurePosixPath:
        record = next((folder for folder in item.path.parents if folder in records), None)
        inner = records[record] / item.path.relative_to(record) if record else item.path
        return moves.get(item.path, inner)

    pages = by_path(_move_page(page, moves, site.paths) for page in site.pages)
    files = by_path(replace(file, path=target(file)) for file in site.files)
    made = by_path(replace(file, path=target(file)) for file in site.made)
    renamed = (path for path in moves if moves[path].stem not in _LISTS)
    hint = "use the new name in links from other sites"
    notices = (
        Notice("changed", f'duplicate file name: renamed to "{moves[path]}"', str(path), hint=hint)
        for path in renamed
    )
    return replace(site, pages=pages, files=files, made=made, notices=(*site.notices, *notices))


def _move_page(page: ImportedPage, moves: Moves, known: Iterable[PurePosixPath]) -> ImportedPage:
    path = moves.get(page.path, page.path)
    renamed: dict[str, Notice] = {}

    def resolve(address: str) -> str:
        found = _ADDRESS.fullmatch(address)
        if not found:
            return address
        written = unquote(found[1])
        relative = collapse_path(page.path.parent / written)
        roots = [_CONTENT, PurePosixPath("static")] if written.startswith("/") else []
        places = [root / written.lstrip("/") for root in roots] or [relative]
        old = next((place for place in places if place in known), None)
        if old is None or (old not in moves and (roots or path == page.path)):
            return address
        new = moves.get(old, old)
        if new.name != old.name and new.stem not in _LISTS:
            message = f'duplicate file name "{old.name}" in a link: renamed to "{new.name}"'
            removed = f"![]({quote(old.name)})"
            renamed.setdefault(message, Notice("changed", message, page.source, removed=removed))
        shown = f"/{'/'.join(new.parts[1:])}" if roots else os.path.relpath(new, path.parent)
        shown = shown.replace(os.sep, "/")
        return (quote(shown) if written != found[1] else shown) + found[2]

    def link(found: re.Match[str]) -> str:
        name = next(name for name in ("angle", "quoted", "bare") if found[name] is not None)
        new, old = resolve(found[name]), found[name]
        return found[0] if new == old else found["head"] + found[0][len(found["head"]) :].replace(old, new)

    text = rewrite(page.text, lambda text: _DESTINATION.sub(link, text), PLAIN, CODE | {"math"})
    front = _rewrite_values(page.front, resolve)
    return replace(page, path=path, front=front, text=text, notices=(*page.notices, *renamed.values()))


def _rewrite_values(data: Any, resolve: Any) -> Any:
    if isinstance(data, Mapping):
        return {key: _rewrite_values(value, resolve) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_rewrite_values(value, resolve) for value in data]
    return resolve(data) if isinstance(data, str) and "\n" not in data else data


_SOURCE_CODES = name_set("footnote-undefined id-twice image-missing label-twice link-anchor link-missing")
"""Codes of errors that the old site also has, because their targets are missing in the source."""


def lower_errors(site: SiteImport, check: SiteCheck) -> tuple[SiteImport, SiteCheck]:
    """Return the site with settings that turn errors in pages into warnings, so that it can be built. Also
    return `check` with these errors as warnings."""
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
    """Set `images.remote` to `fetch`, so that pages show local copies of images on other hosts."""
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
    """Name of the system; if empty, the system is detected."""
    dry_run: bool = False
    """Whether the site is written only to a temporary folder, and then removed."""
    against: Path | None = None
    """Folder with the pages that the old system published; None if they are not compared."""
    fetch_images: bool = False
    """Whether to download images on other hosts after the import."""
    workers: Workers = ONE_PROCESS
    """Processes that translate, build and compare pages."""


def import_site(source: Path, into: Path, options: ImportOptions, progress: Progress) -> ImportResult:
    """Read the site at `source`, write it as a blogsmith site to `into`, and compare the new site with the
    old one.

    Raise SiteError in these cases:

    - No system is recognized, or an archive cannot be unpacked.
    - One of the folders contains the other.
    - `import-map.yaml` in `into` has an invalid entry.
    - `into` contains a site that no import wrote, or another process is writing to it.
    """
    _reject_overlap(source, into)
    read_record(into)
    blocks = read_block_map(into)
    if options.against and not options.against.is_dir():
        raise SiteError(
            Diagnostic("import-source", f'folder not found: "{options.against}"', hint=_AGAINST_HINT)
        )
    with unpacked_source(source) as unpacked:
        return _import_folder(unpacked, into, blocks, options, progress)


def _import_folder(
    source: Path, into: Path, blocks: BlockMap, options: ImportOptions, progress: Progress
) -> ImportResult:
    root = source_root(source, blocks)
    system = find_system(root, options.system)
    workers = options.workers
    site = remove_unreadable_files(remove_withheld_files(system.read(root, progress, workers)))
    site = read_heads(place_site(avoid_list_urls(rewrite_pages(site, progress, workers))))
    site = define_kinds(name_unused_entries(name_unread_documents(site), blocks), blocks)
    site = add_analytics(add_social_links(add_comments(site)), templates(site.root))
    site = report_lost_settings(keep_marks(add_plugins(site)))
    lock = nullcontext() if options.dry_run else _lock_folder(into)
    with lock, temporary_folder() as stage:
        old = read_record(into)
        written = write_site_files(site_files(site), stage, progress)
        built = build_import(site, written, SiteBuilder(stage, options.now, progress, workers))
        check = check_site(built, progress, against=options.against, workers=workers)
        site, check = lower_errors(built.site, check)
        site = show_image_copies(site) if options.fetch_images else site
        files = site_files(site)
        digests = write_site_files(files, stage, progress, built.digests)
        merge = plan_merge(digests, source_digests(site), old, into)
        done = ImportResult(site, system.title, check, digests, merge)
        if not options.dry_run:
            apply_merge(merge, old, files, into, progress)
            write_reports(make_reports(done), into)
    return done


_AGAINST_HINT = "write the folder with the pages that the old system made"


@contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Lock a folder during the `with` block, so that only one import at a time writes to it."""
    with ExitStack() as stack:
        try:
            open_folder(folder, make=True).close()
            stack.enter_context(site_lock(folder, 0))
        except OSError as error:
            message = f'cannot write "{folder}": {error.strerror or error}'
            hint = "check the permissions of the folder and the free space"
            raise SiteError(Diagnostic("new-write", message, hint=hint)) from error
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
