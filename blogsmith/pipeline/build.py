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
from ..hooks.calls import filter_document
from ..hooks.failures import blame_plugins
from ..lint.run import lint_pages
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
from ..site.archive import plan_archive
from ..site.collections import page_views
from ..site.feeds import site_feeds
from ..site.frame import Frame, Rendered, Unpublished
from ..site.index import PageEntry, SiteIndex, index_site, page_entry, resolve_image, resolve_link
from ..site.lists import plan_lists
from ..site.terms import plan_terms
from ..syntax.parser import Parsed, make_parser, parse_document
from ..syntax.token_listing import describe
from ..write.output import write_site
from .output_plan import font_files, fonts_for, plan_outputs


def build_site(root: Path, options: BuildOptions, progress: Progress = no_progress) -> BuildReport:
    """Build the site at `root`; never raises for an author's mistake."""
    log = BuildLog(progress, strict=options.strict)
    try:
        context = open_site(root, options.base_url)
        with blame_plugins(context.plugins):
            return _build(context, options, log)
    except SiteError as error:
        log.add(error.diagnostics)
        return log.close(Counts())


def _build(context: SiteContext, options: BuildOptions, log: BuildLog) -> BuildReport:
    config = context.config
    log.ignore = frozenset(config.diagnostics.ignore)
    log.add(context.settings.diagnostics)
    loaded = load_site(context, options, log)
    parsed = parse_site(loaded, context, log)
    performed = update_cells(parsed, context, options, log)
    rendered, index = render(loaded, parsed, performed, context, log)
    log.add(menu_problems(context, index))
    if not options.write:
        with log.stage("lint"):
            waiting = (document for document, _ in loaded.left_out.values())
            log.add(lint_pages(parsed, waiting, context.settings))
    views = page_views(rendered, unpublished_parts(loaded), frame_of(context, index, loaded, log))
    fonts = fonts_for(views, context)
    outputs = plan_outputs([fonts.apply_to(view) for view in views], rendered, loaded, context, log)
    report = log.close(counts_of(rendered, len(views), loaded, performed.cells, performed.ran))
    if not report.ok or not options.write:
        return report
    target = options.output or context.root / config.output
    with log.stage("fonts"):
        outputs += font_files(fonts, context)
    with log.stage("write"):
        done = write_site(outputs, target, site_root=context.root, is_chosen=options.output is not None)
    return replace(
        report, written=done.written, unchanged=done.unchanged, removed=done.removed, timings=log.timings
    )


def render(
    loaded: LoadedSite,
    parsed: Sequence[Parsed],
    performed: CellUpdate,
    context: SiteContext,
    log: BuildLog,
) -> tuple[list[Rendered], SiteIndex]:
    """Every page's content; links, labels and images are looked up in the whole site."""
    index = index_of(loaded, {str(page.document.path): page_entry(page) for page in parsed}, context)
    results = performed.results
    tools = page_tools(
        context,
        make_parser(context.options),
        index,
        loaded,
        lambda document: results.get(str(document.path), PageResults()),
        browser_python(context, log),
        cache(measure_image),
    )
    rendered = []
    for page in log.iterate("render", parsed):
        body = render_body(page, tools)
        log.add(body.diagnostics)
        rendered.append(place_document(page.document, body, loaded))
    return rendered, index


def index_of(loaded: LoadedSite, entries: Mapping[str, PageEntry], context: SiteContext) -> SiteIndex:
    """Where everything is. entries: as in `SiteIndex`."""
    urls, config = loaded.urls, context.config
    generated = {
        *plan_lists(loaded.documents, urls.kinds, urls.sections),
        *plan_terms(loaded.documents),
        *plan_archive(loaded.documents, urls.kinds),
        *(feed.url.removeprefix(config.base_path) for feed in site_feeds(config)),
    }
    return index_site(config.base_path, urls.urls, entries, loaded.waiting, generated, loaded.asset_urls)


def place_document(document: Document, body: Body, loaded: LoadedSite) -> Rendered:
    """A rendered document with its place in the site."""
    path, urls = str(document.path), loaded.urls
    return Rendered(document, body, urls.urls[path], urls.kinds[path], urls.sections[path])


def measure_image(file: Path) -> ImageInfo | str:
    """Size of an image, without its address; or what is wrong with it."""
    try:
        size = image_size(file)
    except ImageProblem as problem:
        return str(problem)
    return ImageInfo("", size.width_px, size.height_px, size.located)


def page_tools(
    context: SiteContext,
    md: MarkdownIt,
    index: SiteIndex,
    loaded: LoadedSite,
    results: Callable[[Document], PageResults],
    python: Callable[[], Distribution],
    measure: Callable[[Path], ImageInfo | str],
) -> Tools:
    """The site as its pages see it while they are rendered."""

    def picture(document: Document, name: str, content: Path | bytes) -> ImageInfo | str:
        assert isinstance(content, Path), "a build shows what is recorded, and records are files"
        found = measure(content)
        url = index.with_base(quote(loaded.urls.urls[str(document.path)] + name))
        return replace(found, url=url) if isinstance(found, ImageInfo) else found

    return Tools(
        config=context.config,
        md=md,
        theme=context.theme,
        plugins=context.plugins,
        link=lambda written, document: resolve_link(index, written, document),
        image=lambda written, document: resolve_image(index, written, document, loaded.assets, measure),
        labels=index.page_labels,
        post_url=index.page_url,
        slug_hint=index.slug_hint,
        results=results,
        picture=picture,
        python=python,
    )


def menu_problems(context: SiteContext, index: SiteIndex) -> list[Diagnostic]:
    """Errors for entries of the menu that lead to no page of the site."""
    reporter = Reporter(CONFIG_NAME, context.settings.lines)
    at_the_root = Document(Source(PurePosixPath(CONFIG_NAME), "", ""), FrontMatter(), "", 1)
    for number, item in enumerate(context.config.menu):
        target = resolve_link(index, item.url, at_the_root)
        if target.problem:
            place = context.settings.places.get(("menu", number, "url"))
            reporter.error(target.code, target.problem, place, target.hint)
    return reporter.diagnostics


def frame_of(context: SiteContext, index: SiteIndex, loaded: LoadedSite, log: BuildLog) -> Frame:
    """What all views are made from."""

    def image(path: str, document: Document) -> str:
        found = resolve_image(index, path, document, loaded.assets, lambda file: ImageInfo("", None, None))
        if isinstance(found, ImageInfo):
            return found.url
        reporter = Reporter(str(document.path), document.source.text.split("\n"))
        reporter.error(found.code, found.problem, document.front.places.get("image"), found.hint)
        log.add(reporter.diagnostics)
        return ""

    return Frame(context.config, index.with_base, image)


def unpublished_parts(loaded: LoadedSite) -> list[Unpublished]:
    """Parts of series that are not built."""
    found = []
    for document, _ in loaded.left_out.values():
        series = document.front.series
        if series:
            found.append(Unpublished(document.front.title or document.path.stem, series.name, series.part))
    return found


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
