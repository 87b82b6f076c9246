"""The line, once: Source → Document → Parsed → Body → Page → Output.

Disk and clock enter here; every stage below is a function of its arguments. Whatever is wrong
anywhere is collected, and nothing is written while there is an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from . import __version__
from .decode import decode
from .errors import Reporter, SiteError
from .ledger import BuildOptions, BuildReport, Counts, Ledger, Progress, no_progress
from .model import Asset, Document, ImageInfo, Output, SiteFiles, Source
from .page_view import PageView
from .read.files import read_site
from .read.front_matter import read_document
from .render.context import Target, Tools
from .render.html import render_body
from .render.images import ImageProblem, image_size
from .site.collections import page_views
from .site.frame import Frame, Rendered, Unpublished
from .site.index import SiteIndex, index_site, resolve_image, resolve_link
from .site.lists import predicted_urls
from .site.redirects import output_path, redirect
from .site.site_view import site_view
from .site.urls import Urls, asset_url, assign_urls, publication
from .syntax.describe import describe
from .syntax.parser import Parsed, make_parser, parse_document
from .workshop import Workshop, open_workshop, plain_workshop
from .write.output import write_site


@dataclass(frozen=True, slots=True)
class Collected:
    """The site as read: which documents are built, and where everything goes."""

    files: SiteFiles
    documents: tuple[Document, ...]
    """Those that are built."""
    left_out: Mapping[str, tuple[Document, str]]
    """Source path → document and why (`draft` or `scheduled`)."""
    urls: Urls
    assets: Mapping[str, Asset]
    """Path under the site root → file, of assets that are copied."""
    asset_urls: Mapping[str, str]
    """The same paths → their site paths."""


def build_site(root: Path, options: BuildOptions, progress: Progress = no_progress) -> BuildReport:
    """Build the site at `root`; never raises for an author's mistake."""
    ledger = Ledger(progress, strict=options.strict)
    try:
        return _build(open_workshop(root, options.base_url), options, ledger)
    except SiteError as error:
        ledger.add(error.diagnostics)
        return ledger.close(Counts())


def _build(workshop: Workshop, options: BuildOptions, ledger: Ledger) -> BuildReport:
    config = workshop.config
    ledger.ignore = frozenset(config.diagnostics.ignore)
    ledger.add(workshop.warnings)
    collected = collect(workshop, options, ledger)
    parsed = parse(collected, workshop, ledger)
    rendered, index = render(collected, parsed, workshop, ledger)
    views = page_views(rendered, _unpublished(collected), _frame(workshop, index, collected))
    outputs = compose(views, rendered, collected, workshop, ledger)
    report = ledger.close(_counts(rendered, views, collected))
    if not report.ok or not options.write:
        return report
    target = options.output or workshop.root / config.output
    with ledger.stage("write"):
        done = write_site(outputs, target, site_root=workshop.root)
    return replace(
        report, written=done.written, unchanged=done.unchanged, removed=done.removed, timings=ledger.timings
    )


def collect(workshop: Workshop, options: BuildOptions, ledger: Ledger) -> Collected:
    """Read the site and settle what is built and under which address."""
    config = workshop.config
    with ledger.stage("read"):
        files = read_site(workshop.root, config)
    ledger.add(files.diagnostics)
    documents, left_out = [], {}
    for source in ledger.each("front matter", files.sources):
        document, found = read_document(source, config)
        ledger.add(found)
        state = publication(document, options.now, drafts=options.drafts, future=options.future)
        if state == "published":
            documents.append(document)
        else:
            left_out[str(document.path)] = (document, state)
    urls = assign_urls(documents, config)
    ledger.add(urls.diagnostics)
    assets, asset_urls = _assets(files, urls, left_out)
    return Collected(files, tuple(documents), left_out, urls, assets, asset_urls)


def _assets(
    files: SiteFiles, urls: Urls, left_out: Mapping[str, object]
) -> tuple[dict[str, Asset], dict[str, str]]:
    assets, asset_urls = {}, {}
    for asset in files.assets:
        url = asset_url(asset.path, urls, frozenset(left_out))
        if url:
            assets[str(asset.path)], asset_urls[str(asset.path)] = asset, url
    for asset in files.static:
        assets[str(asset.path)] = asset
        asset_urls[str(asset.path)] = "/" + str(asset.path).removeprefix("static/")
    return assets, asset_urls


def parse(collected: Collected, workshop: Workshop, ledger: Ledger) -> list[Parsed]:
    """Every document as tokens."""
    md = make_parser(workshop.options)
    documents = ledger.each("parse", collected.documents)
    parsed = [parse_document(document, md, workshop.options) for document in documents]
    for page in parsed:
        ledger.add(page.diagnostics)
    return parsed


def render(
    collected: Collected, parsed: Sequence[Parsed], workshop: Workshop, ledger: Ledger
) -> tuple[list[Rendered], SiteIndex]:
    """Every page's content; links, labels and images are looked up in the whole site."""
    urls = collected.urls
    by_path = {str(p.document.path): (p, urls.urls[str(p.document.path)]) for p in parsed}
    index = index_site(
        workshop.config.base_path,
        by_path,
        collected.left_out,
        predicted_urls([p.document for p in parsed], urls.kinds, urls.sections),
        collected.asset_urls,
    )
    tools = _tools(workshop, index, collected)
    rendered = []
    for page in ledger.each("render", parsed):
        path = str(page.document.path)
        body = render_body(page, tools)
        ledger.add(body.diagnostics)
        rendered.append(Rendered(page.document, body, urls.urls[path], urls.kinds[path], urls.sections[path]))
    return rendered, index


def _tools(workshop: Workshop, index: SiteIndex, collected: Collected) -> Tools:
    sizes: dict[Path, ImageInfo | str] = {}

    def measure(file: Path) -> ImageInfo | str:
        if file not in sizes:
            try:
                size = image_size(file)
                sizes[file] = ImageInfo("", size.width_px, size.height_px)
            except ImageProblem as problem:
                sizes[file] = str(problem)
        return sizes[file]

    return Tools(
        workshop.config,
        make_parser(workshop.options),
        workshop.theme,
        workshop.plugins,
        lambda written, document: resolve_link(index, written, document),
        lambda written, document: resolve_image(index, written, document, collected.assets, measure),
        index.page_labels,
        index.page_url,
    )


def _frame(workshop: Workshop, index: SiteIndex, collected: Collected) -> Frame:
    def image(path: str, document: Document) -> str:
        found = resolve_image(index, path, document, collected.assets, lambda file: ImageInfo("", None, None))
        return "" if isinstance(found, Target) else found.url

    return Frame(workshop.config, index.with_base, image)


def _unpublished(collected: Collected) -> list[Unpublished]:
    found = []
    for document, _ in collected.left_out.values():
        series = document.front.series
        if series:
            found.append(Unpublished(document.front.title or document.path.stem, series.name, series.part))
    return found


def compose(
    views: Sequence[PageView],
    rendered: Sequence[Rendered],
    collected: Collected,
    workshop: Workshop,
    ledger: Ledger,
) -> list[Output]:
    """Every file of the site: pages, redirects, assets, the theme's own files."""
    config, theme = workshop.config, workshop.theme
    site = site_view(config, views, lambda url: config.base_path + url, f"blogsmith {__version__}")
    by_path = {str(item.document.path): item.document for item in rendered}
    outputs = []
    for view in ledger.each("pages", views):
        document = by_path.get(view.path)
        if document and view.layout not in theme.layouts():
            reporter = Reporter(view.path, document.source.text.split("\n"))
            theme.report_unknown_layout(view.layout, reporter, document.front.places.get("template"))
            ledger.add(reporter.diagnostics)
            continue
        try:
            html = theme.render(view.layout, view, site)
        except SiteError as error:
            ledger.add(error.diagnostics)
            continue
        outputs.append(Output(output_path(view.url.removeprefix(config.base_path)), html.encode()))
        outputs += [redirect(alias, view) for alias in (document.front.aliases if document else ())]
    for path, url in collected.asset_urls.items():
        outputs.append(Output(output_path(url), file=collected.assets[path].file))
    outputs += [Output(asset.path, file=asset.file) for asset in theme.static_files()]
    return outputs


def _counts(rendered: Sequence[Rendered], views: Sequence[PageView], collected: Collected) -> Counts:
    weights = [item.body.weight for item in rendered]
    states = {path: state for path, (_, state) in collected.left_out.items()}
    return Counts(
        pages=len(views),
        formulas=sum(weight.formulas for weight in weights),
        code_blocks=sum(weight.code_blocks for weight in weights),
        images=sum(weight.images for weight in weights),
        scheduled=tuple(sorted(path for path, state in states.items() if state == "scheduled")),
        drafts=sum(state == "draft" for state in states.values()),
    )


def tokens_of(file: Path, root: Path | None) -> str:
    """The token stream of one Markdown file, read with the settings of the site at `root`.

    Without a site the default settings count.
    """
    path = file.relative_to(root) if root and file.is_relative_to(root) else Path(file.name)
    source = Source(PurePosixPath(path.as_posix()), decode(file.read_bytes(), path.as_posix()), "")
    workshop = open_workshop(root) if root else plain_workshop(file.parent)
    document, _ = read_document(source, workshop.config)
    parsed = parse_document(document, make_parser(workshop.options), workshop.options)
    return describe(parsed.tokens, document.first_line)
