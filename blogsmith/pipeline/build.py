"""A build: the incremental pipeline run to its end, every file of the site made, and the folder replaced.

Disk and clock enter here and in the pipeline; every stage below is a function of its arguments. Whatever is
wrong anywhere is collected, and nothing is written while there is an error.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path, PurePosixPath

from ..diagnostics.model import SiteError
from ..hooks.calls import filter_document
from ..hooks.failures import blame_plugins
from ..model.decode import decode
from ..model.documents import Output, Source
from ..project.context import default_context, open_site
from ..project.load import LoadedSite
from ..project.report import BuildLog, BuildOptions, BuildReport, Counts, Progress, no_progress
from ..read.front_matter import read_document
from ..site.frame import Rendered
from ..syntax.parser import make_parser, parse_document
from ..syntax.token_listing import describe
from ..write.output import write_site
from .incremental import IncrementalPipeline, UpdateRequest
from .output_plan import make_fonts, make_outputs
from .output_rows import OutputRows
from .row_store import NoRows, RowStore, open_rows
from .snapshot import SiteSnapshot


def build_site(root: Path, options: BuildOptions, progress: Progress = no_progress) -> BuildReport:
    """Build the site at `root`; never raises for an author's mistake."""
    with open_rows(root) if options.remembers else nullcontext() as rows:
        return _build(root, options, BuildLog(progress, strict=options.strict), rows)


def _build(root: Path, options: BuildOptions, log: BuildLog, rows: RowStore | None) -> BuildReport:
    try:
        line = IncrementalPipeline(root, options, lambda: options.now, limit_s=None, log=log, rows=rows)
        (site,) = deque(line.update_all(None, UpdateRequest()), maxlen=1)
        assert site is not None, "the last step gives the site"
        with blame_plugins(site.context.plugins):
            return _finish(site, line, options, log, rows or NoRows())
    except SiteError as error:
        log.add(error.diagnostics)
        return log.close(Counts())


def _finish(
    site: SiteSnapshot,
    line: IncrementalPipeline,
    options: BuildOptions,
    log: BuildLog,
    rows: RowStore,
) -> BuildReport:
    """Make every file of the site, and write them if nothing is wrong."""
    pages = OutputRows(site.composition, rows)
    outputs = make_outputs(site.composition.files, pages.output, log)
    pages.keep_only_planned()
    counts = counts_of(
        list(site.rendered.values()), len(site.views), site.resolved.loaded, line.cells.count, line.cells.ran
    )
    report = replace(log.close(counts), rebuilt=line.reasons)
    if not report.ok or not options.write:
        return report
    with log.stage("fonts"):
        outputs += make_fonts(site.fonts, site.context)
    target = options.output or site.context.root / site.config.output
    return _write(outputs, target, site.context.root, options, report, log)


def _write(
    outputs: Sequence[Output],
    target: Path,
    root: Path,
    options: BuildOptions,
    report: BuildReport,
    log: BuildLog,
) -> BuildReport:
    with log.stage("write"):
        done = write_site(outputs, target, site_root=root, is_chosen=options.output is not None)
    return replace(
        report, written=done.written, unchanged=done.unchanged, removed=done.removed, timings=log.timings
    )


def counts_of(
    rendered: Sequence[Rendered], pages: int, loaded: LoadedSite, cells: int, ran: int = 0
) -> Counts:
    """How much there is. cells: that run; ran: in this build."""
    weights = [item.body.weight for item in rendered]
    states = {path: state for path, (_, state) in loaded.left_out.items()}
    return Counts(
        pages=pages,
        formulas=sum(weight.formulas for weight in weights),
        code_blocks=sum(weight.code_blocks for weight in weights),
        images=sum(weight.images for weight in weights),
        scheduled=tuple(sorted(path for path, state in states.items() if state == "scheduled")),
        drafts=sum(state == "draft" for state in states.values()),
        cells=cells,
        ran=ran,
    )


def tokens_of(file: Path, root: Path | None) -> str:
    """The token stream of one Markdown file, read with the settings of the site at `root`.

    Without a site the default settings count.
    """
    path = file.relative_to(root) if root and file.is_relative_to(root) else Path(file.name)
    source = Source(PurePosixPath(path.as_posix()), decode(file.read_bytes(), path.as_posix()), "")
    context = open_site(root) if root else default_context(file.parent)
    document, _ = filter_document(context.plugins, read_document(source, context.config)[0])
    parsed = parse_document(document, make_parser(context.options), context.options)
    return describe(parsed.tokens, document.first_line)
