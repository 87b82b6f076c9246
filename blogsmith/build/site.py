"""A build: run the incremental pipeline to its end, create every file of the site, and replace the output
folder.

Disk and clock are accessed here and in the pipeline; all other stages are functions of their arguments. All
errors are collected, and if there is one, nothing is written.
"""

from __future__ import annotations

import errno
import os
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from msgspec.structs import replace

from ..base.diagnostics.model import SiteError
from ..base.storage.site_cache import CacheInterface, NullCache
from ..base.storage.temporary import nameless_file
from ..config.series_rules import solutions_start
from ..hooks.calls import convert_plugin_errors, filter_document
from ..model.decode import decode
from ..model.documents import Output, Source
from ..model.names import name_set
from ..model.texts import ReadText
from ..pools.page_executor import count_copies
from ..project.context import default_context, open_site
from ..project.load import LoadedSite
from ..project.program import open_rows
from ..project.report import BuildLog, BuildOptions, BuildReport, Counts, Progress, no_progress
from ..read.front_matter import read_document
from ..site.frame import RenderedDocument
from ..stages.bibliographies import bibliography_paths
from ..stages.fonts import make_fonts, plan_subsetting
from ..stages.git_dates import git_files
from ..write.output import write_site
from .incremental import IncrementalPipeline, UpdateRequest
from .last_build import BuildExtent, is_output_unchanged, record_build, record_outputs, start_build
from .last_version import remove_duplicates, restore_last_versions
from .plan import make_outputs
from .snapshot import SiteSnapshot
from .write import OutputRows

_MACHINE_CODES = name_set("cell-need cell-pending cell-preload cell-stale cell-versions freeze-damaged")
"""Codes of diagnostics that may differ in the next build although no file changes, because they depend on
programs and devices of this machine."""


def build_site(root: Path, options: BuildOptions, progress: Progress = no_progress) -> BuildReport:
    """Build the site at `root`. Errors of the author are in the report, never an exception."""
    with open_rows(root) if options.use_cache else nullcontext(NullCache()) as rows:
        start = start_build(root) if options.request_digest else None
        log = BuildLog(progress, strict=options.strict)
        report, site = _build(root, options, log, rows)
        if rows.program and any(found.code == "unreadable" for found in report.diagnostics):
            # cached text of a page is damaged, or another build has replaced it, so build again from the
            # sources
            log = BuildLog(progress, strict=options.strict)
            report, site = _build(root, options, log, NullCache())
        if site and start and report.ok:
            extent = _extent(site, report, options)
            if extent:
                record_build(root, rows, options.request_digest, options.now, extent, report, start)
        rows.share()
        note = rows.take_note()
    return replace(report, notes=(*report.notes, note)) if note else report


def _extent(site: SiteSnapshot, report: BuildReport, options: BuildOptions) -> BuildExtent | None:
    """Return the inputs of the build. Return None if the next build may do something else although no input
    changes."""
    settings, execution = site.config.execution, options.execution
    codes = {*(found.code for found in report.diagnostics), *site.config.diagnostics.as_levels.rules}
    is_settled = not report.cells or _MACHINE_CODES.isdisjoint(codes)
    if (
        report.executed_cells
        or report.pending_results
        or report.outside
        or not is_settled
        or execution.execute
        or execution.strict_versions
    ):
        return None
    has_code = site.context.plugins.code is not None or bool(site.config.browser.pyodide)
    loaded = site.resolved.loaded
    waiting = loaded.unbuilt.values()
    dates = [document.front.publish_start for document, state in waiting if state == "scheduled"]
    dates += [document.front.expiry_date for document in loaded.documents]
    dates += [solutions_start(document.front, site.config) for document in loaded.documents]
    until = min((date for date in dates if date and date > options.now), default=None)
    return BuildExtent(
        reads_all=bool(report.cells) or has_code,
        variables=tuple(settings.env),
        output=str(report.target or ""),
        writes=options.write,
        until_s=until.timestamp() if until else None,
        files=tuple(sorted(_other_files(loaded, site))),
        unread=site.resolved.files.unread,
    )


def _other_files(loaded: LoadedSite, site: SiteSnapshot) -> frozenset[str]:
    """Return the paths of other files that the build read or searched for."""
    found = bibliography_paths(loaded.documents, site.context.settings)
    found |= {
        *site.context.macro_files.paths,
        *site.context.plugins.package_paths,
        *site.context.theme.files.package_paths,
    }
    if any(document.front.is_dated_by_git for document in loaded.documents):
        found |= git_files(site.context.root)
    included = (file for document in loaded.documents for file in document.included.values())
    return found | {path for file in included for path in file.looked_at}


def _build(
    root: Path, options: BuildOptions, log: BuildLog, rows: CacheInterface
) -> tuple[BuildReport, SiteSnapshot | None]:
    """Run the build. Return its report and the site; None for the site if it cannot be built."""
    try:
        with open_spool() as spool:
            line = IncrementalPipeline(
                root, options, lambda: options.now, limit_s=None, log=log, rows=rows, keep=spool.store_text
            )
            (site,) = deque(line.update_site(None, UpdateRequest()), maxlen=1)
            assert site is not None, "the last step gives the site"
            with convert_plugin_errors(site.context.plugins):
                return _finish(site, line, options, log, rows, spool), site
    except SiteError as error:
        log.add(error.diagnostics)
        return log.close(Counts()), None


def _finish(
    site: SiteSnapshot,
    line: IncrementalPipeline,
    options: BuildOptions,
    log: BuildLog,
    rows: CacheInterface,
    spool: Spool,
) -> BuildReport:
    """Create every file of the site, and write them if there are no errors."""
    composition = site.plan if options.write else site.plan.for_check(options.focus)
    pages = OutputRows(composition, rows, line.texts)
    keep = spool.put_output if options.write else drop_bytes
    copies = count_copies(site.context, options)
    with log.measure("pages"):
        fonts = plan_subsetting(site.fonts, site.context) if options.write else ()
        pages.render_in_parallel(copies, keep, fonts, has_bytes=options.write, progress=log.progress)
    files = composition.files
    outputs = make_outputs(remove_duplicates(files) if options.keep_going else files, pages.output, keep, log)
    if options.write:
        pages.remove_unplanned()
        if composition.copies:
            composition.copies.keep_only_planned()
    line.keep_files(site)
    notes = tuple(inspect(site, log) for inspect in options.inspections)
    counts = line.cells.complete(
        count_contents(list(site.rendered.values()), len(site.views), site.resolved.loaded)
    )
    target = options.output or site.context.root / site.config.output
    fallbacks = {path: item.body.fallbacks for path, item in site.rendered.items() if item.body.fallbacks}
    report = replace(
        log.close(counts),
        rebuilt=line.reasons,
        fallbacks=fallbacks,
        target=target,
        notes=notes,
        left_out=unbuilt_states(site.resolved.loaded),
    )
    goes_on = report.ok or (options.keep_going and report.has_only_page_errors)
    if not goes_on or not options.write:
        return report
    if site.config.search:
        outputs += _pagefind_files(site, log)
    with log.stage("fonts"):
        outputs += make_fonts(site.fonts, site.context)
    with log.stage("write"):
        report = _write(outputs, site, options, report, keep, rows)
    return replace(report, timings=log.timings)


def _pagefind_files(site: SiteSnapshot, log: BuildLog) -> list[Output]:
    # most sites do not use it
    from ..stages.pagefind import make_pagefind_files

    with log.stage("search"):
        return make_pagefind_files(site.context, site.views, site.rendered)


def _write(
    outputs: Sequence[Output],
    site: SiteSnapshot,
    options: BuildOptions,
    report: BuildReport,
    keep: Callable[[Output], Output],
    rows: CacheInterface,
) -> BuildReport:
    """Write the site. A page with errors stays in its last version, if there is one. keep: function that
    stores a finished output, and returns it."""
    root, target, is_chosen = site.context.root, report.target, options.output is not None
    assert target is not None, "it is known before anything is written"
    partial: frozenset[str] = frozenset()
    if not report.ok:
        left_out = count_left_out(site.resolved.loaded)
        published = restore_last_versions(
            outputs, site.plan.files, report, left_out, keep, target, root, is_chosen=is_chosen
        )
        outputs, partial = published.outputs, published.partial
        report = replace(report, wrong_pages=published.pages)
    done = write_site(
        outputs,
        target,
        site_root=root,
        is_chosen=is_chosen,
        is_untouched=is_output_unchanged(rows, target),
        partial=partial,
    )
    record_outputs(rows, target)
    return replace(report, written=done.written, unchanged=done.unchanged, removed=done.removed)


def count_left_out(loaded: LoadedSite) -> Counter[str]:
    """Return how many pages are left out for each reason of `LoadedSite.left_out`."""
    return Counter(state for _, state in loaded.unbuilt.values())


def unbuilt_states(loaded: LoadedSite) -> dict[str, str]:
    """Return why each page that was left out is not built, by its source path."""
    return {path: state for path, (_, state) in loaded.unbuilt.items()}


def count_contents(rendered: Sequence[RenderedDocument], pages: int, loaded: LoadedSite) -> Counts:
    """Return the counts of pages and their contents, except cells."""
    weights = [item.body.weight for item in rendered]
    states = unbuilt_states(loaded)
    return Counts(
        pages=pages,
        formulas=sum(weight.formulas for weight in weights),
        code_blocks=sum(weight.code_blocks for weight in weights),
        images=sum(weight.images for weight in weights),
        scheduled=tuple(sorted(path for path, state in states.items() if state == "scheduled")),
        drafts=sum(state == "draft" for state in states.values()),
        expired=sum(state == "expired" for state in states.values()),
    )


def describe_tokens(file: Path, root: Path | None) -> str:
    """Return the tokens of one Markdown file, as text, parsed with the settings of the site at `root`. root:
    None for the default settings."""
    from ..syntax.parser import make_parser, parse_document
    from ..syntax.token_listing import format_tokens

    path = file.relative_to(root) if root and file.is_relative_to(root) else Path(file.name)
    source = Source(PurePosixPath(path.as_posix()), decode(file.read_bytes(), path.as_posix()), "")
    context = open_site(root) if root else default_context(file.parent)
    document, _ = filter_document(context.plugins, read_document(source, context.config)[0])
    parsed = parse_document(document, make_parser(context.options), context.options)
    return format_tokens(parsed.tokens, document.first_line)


# Reading and writing at an offset of an open file, because all processes that have the file share its
# position.


if sys.platform == "win32":

    def read_range(file: BinaryIO, start: int, size: int) -> bytes:
        """Return `size` bytes from `start`; fewer at the end of the file. OSError if it cannot be read."""
        # this system forks no processes, so nobody else moves the position
        file.seek(start)
        return file.read(size)

    def write_range(file: BinaryIO, start: int, data: bytes) -> None:
        """Write all of `data` from `start` on. OSError if the disk is full."""
        file.seek(start)
        file.write(data)
        file.flush()

else:

    def read_range(file: BinaryIO, start: int, size: int) -> bytes:
        """Return `size` bytes from `start`; fewer at the end of the file. OSError if it cannot be read."""
        return os.pread(file.fileno(), size, start)

    def write_range(file: BinaryIO, start: int, data: bytes) -> None:
        """Write all of `data` from `start` on. OSError if the disk is full."""
        written = 0
        while written < len(data):
            written += os.pwrite(file.fileno(), data[written:], start + written)


# Data that is needed later is stored in a file without a name, because all of it would fill the memory.


_ENCODING = ("utf-8", "surrogatepass")


class Spool:
    """Temporary storage of one build. Forked processes may read it."""

    def __init__(self, file: BinaryIO) -> None:
        """Use `file`, which must be open for reading and writing. No other object may write to it."""
        self._file = file
        self._end = 0

    def append(self, data: bytes) -> Callable[[], bytes] | None:
        """Store bytes. Return a function that reads them, or None if the disk is full."""
        start = self._end
        try:
            write_range(self._file, start, data)
        except OSError:
            return None
        self._end += len(data)
        return partial(self._read, start, len(data))

    def put_output(self, output: Output) -> Output:
        """Return the output with its digest and a function that reads its bytes from the file. If the disk is
        full, the output keeps its bytes. Return an output without bytes unchanged."""
        data = output.data
        if data is None:
            return output
        digest = output.digest or sha256(data).hexdigest()
        make = self.append(data)
        return replace(output, data=None if make else data, make=make, digest=digest)

    def store_text(self, text: str) -> ReadText:
        """Store a text. Return a function that reads it. If the disk is full, the text stays in memory."""
        make = self.append(text.encode(*_ENCODING))
        return (lambda: make().decode(*_ENCODING)) if make else lambda: text

    def _read(self, start: int, size: int) -> bytes:
        data = read_range(self._file, start, size)
        if len(data) != size:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return data


def drop_bytes(output: Output) -> Output:
    """Return an output without bytes, for a run that writes nothing."""
    return output if output.data is None else replace(output, data=b"")


@contextmanager
def open_spool() -> Iterator[Spool]:
    """Yield a spool, which is removed with its contents at the end."""
    with nameless_file() as file:
        yield Spool(file)
