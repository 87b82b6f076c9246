"""The line, once: Source → Document → Parsed → (what its cells gave) → Body → Page → Output.

Disk and clock enter here; every stage below is a function of its arguments. Whatever is wrong
anywhere is collected, and nothing is written while there is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from markdown_it import MarkdownIt

from ..cells.results import CellUpdate
from ..cells.update import update_cells
from ..config.load import CONFIG_NAME
from ..diagnostics.model import Diagnostic, Reporter, SiteError
from ..hooks import blamed_on_plugins
from ..lint.doubts import doubts
from ..model.decode import decode
from ..model.documents import Body, Document, FrontMatter, ImageInfo, Source
from ..model.results import PageResults
from ..project.browser_python import browser_python
from ..project.context import SiteContext, default_context, open_site
from ..project.load import LoadedSite, load_site, parse_site
from ..project.report import BuildLog, BuildOptions, BuildReport, Counts, Progress, no_progress
from ..pyodide.distribution import Distribution
from ..read.front_matter import read_document
from ..render.context import Tools
from ..render.html import render_body
from ..render.images import ImageProblem, image_size
from ..site.archive import planned_archive
from ..site.collections import page_views
from ..site.feeds import site_feeds
from ..site.frame import Frame, Rendered, Unpublished
from ..site.index import PageEntry, SiteIndex, index_site, page_entry, resolve_image, resolve_link
from ..site.lists import planned_lists
from ..site.terms import planned_terms
from ..syntax.describe import describe
from ..syntax.parser import Parsed, make_parser, parse_document
from ..write.output import write_site
from .output_plan import font_files, fonts_for, plan_outputs


def build_site(root: Path, options: BuildOptions, progress: Progress = no_progress) -> BuildReport:
    """Build the site at `root`; never raises for an author's mistake."""
    ledger = BuildLog(progress, strict=options.strict)
    try:
        workshop = open_site(root, options.base_url)
        with blamed_on_plugins(workshop.plugins):
            return _build(workshop, options, ledger)
    except SiteError as error:
        ledger.add(error.diagnostics)
        return ledger.close(Counts())


def _build(workshop: SiteContext, options: BuildOptions, ledger: BuildLog) -> BuildReport:
    config = workshop.config
    ledger.ignore = frozenset(config.diagnostics.ignore)
    ledger.add(workshop.settings.diagnostics)
    collected = load_site(workshop, options, ledger)
    parsed = parse_site(collected, workshop, ledger)
    performed = update_cells(parsed, workshop, options, ledger)
    rendered, index = render(collected, parsed, performed, workshop, ledger)
    ledger.add(menu_problems(workshop, index))
    if not options.write:
        with ledger.stage("lint"):
            waiting = (document for document, _ in collected.left_out.values())
            ledger.add(doubts(parsed, waiting, workshop.settings))
    views = page_views(rendered, unpublished(collected), frame_of(workshop, index, collected, ledger))
    fonts = fonts_for(views, workshop)
    outputs = plan_outputs([fonts.given_to(view) for view in views], rendered, collected, workshop, ledger)
    report = ledger.close(counts_of(rendered, len(views), collected, performed.cells, performed.ran))
    if not report.ok or not options.write:
        return report
    target = options.output or workshop.root / config.output
    with ledger.stage("fonts"):
        outputs += font_files(fonts, workshop)
    with ledger.stage("write"):
        done = write_site(outputs, target, site_root=workshop.root, is_chosen=options.output is not None)
    return replace(
        report, written=done.written, unchanged=done.unchanged, removed=done.removed, timings=ledger.timings
    )


def render(
    collected: LoadedSite,
    parsed: Sequence[Parsed],
    performed: CellUpdate,
    workshop: SiteContext,
    ledger: BuildLog,
) -> tuple[list[Rendered], SiteIndex]:
    """Every page's content; links, labels and images are looked up in the whole site."""
    index = index_of(collected, {str(page.document.path): page_entry(page) for page in parsed}, workshop)
    results = performed.results
    tools = page_tools(
        workshop,
        make_parser(workshop.options),
        index,
        collected,
        lambda document: results.get(str(document.path), PageResults()),
        browser_python(workshop, ledger),
        cache(measured),
    )
    rendered = []
    for page in ledger.each("render", parsed):
        body = render_body(page, tools)
        ledger.add(body.diagnostics)
        rendered.append(placed(page.document, body, collected))
    return rendered, index


def index_of(collected: LoadedSite, entries: Mapping[str, PageEntry], workshop: SiteContext) -> SiteIndex:
    """Where everything is. entries: as in `SiteIndex`."""
    urls, config = collected.urls, workshop.config
    generated = {
        *planned_lists(collected.documents, urls.kinds, urls.sections),
        *planned_terms(collected.documents),
        *planned_archive(collected.documents, urls.kinds),
        *(feed.url.removeprefix(config.base_path) for feed in site_feeds(config)),
    }
    return index_site(
        config.base_path, urls.urls, entries, collected.waiting, generated, collected.asset_urls
    )


def placed(document: Document, body: Body, collected: LoadedSite) -> Rendered:
    """A rendered document with its place in the site."""
    path, urls = str(document.path), collected.urls
    return Rendered(document, body, urls.urls[path], urls.kinds[path], urls.sections[path])


def measured(file: Path) -> ImageInfo | str:
    """Size of an image, without its address; or what is wrong with it."""
    try:
        size = image_size(file)
    except ImageProblem as problem:
        return str(problem)
    return ImageInfo("", size.width_px, size.height_px, size.located)


def page_tools(
    workshop: SiteContext,
    md: MarkdownIt,
    index: SiteIndex,
    collected: LoadedSite,
    results: Callable[[Document], PageResults],
    python: Callable[[], Distribution],
    measure: Callable[[Path], ImageInfo | str],
) -> Tools:
    """The site as its pages see it while they are rendered."""

    def picture(document: Document, name: str, content: Path | bytes) -> ImageInfo | str:
        assert isinstance(content, Path), "a build shows what is recorded, and records are files"
        found = measure(content)
        url = index.with_base(quote(collected.urls.urls[str(document.path)] + name))
        return replace(found, url=url) if isinstance(found, ImageInfo) else found

    return Tools(
        workshop.config,
        md,
        workshop.theme,
        workshop.plugins,
        lambda written, document: resolve_link(index, written, document),
        lambda written, document: resolve_image(index, written, document, collected.assets, measure),
        index.page_labels,
        index.page_url,
        index.slug_hint,
        results,
        picture,
        python,
    )


def menu_problems(workshop: SiteContext, index: SiteIndex) -> list[Diagnostic]:
    """Errors for entries of the menu that lead to no page of the site."""
    reporter = Reporter(CONFIG_NAME, workshop.settings.lines)
    at_the_root = Document(Source(PurePosixPath(CONFIG_NAME), "", ""), FrontMatter(), "", 1)
    for number, item in enumerate(workshop.config.menu):
        target = resolve_link(index, item.url, at_the_root)
        if target.problem:
            place = workshop.settings.places.get(("menu", number, "url"))
            reporter.error(target.code, target.problem, place, target.hint)
    return reporter.diagnostics


def frame_of(workshop: SiteContext, index: SiteIndex, collected: LoadedSite, ledger: BuildLog) -> Frame:
    """What all views are made from."""

    def image(path: str, document: Document) -> str:
        found = resolve_image(index, path, document, collected.assets, lambda file: ImageInfo("", None, None))
        if isinstance(found, ImageInfo):
            return found.url
        reporter = Reporter(str(document.path), document.source.text.split("\n"))
        reporter.error(found.code, found.problem, document.front.places.get("image"), found.hint)
        ledger.add(reporter.diagnostics)
        return ""

    return Frame(workshop.config, index.with_base, image)


def unpublished(collected: LoadedSite) -> list[Unpublished]:
    """Parts of series that are not built."""
    found = []
    for document, _ in collected.left_out.values():
        series = document.front.series
        if series:
            found.append(Unpublished(document.front.title or document.path.stem, series.name, series.part))
    return found


def counts_of(
    rendered: Sequence[Rendered], pages: int, collected: LoadedSite, cells: int, ran: int = 0
) -> Counts:
    """How much there is. cells: that run; ran: in this build."""
    weights = [item.body.weight for item in rendered]
    states = {path: state for path, (_, state) in collected.left_out.items()}
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
    workshop = open_site(root) if root else default_context(file.parent)
    document, _ = read_document(source, workshop.config)
    parsed = parse_document(document, make_parser(workshop.options), workshop.options)
    return describe(parsed.tokens, document.first_line)
