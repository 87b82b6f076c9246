"""The last step before writing: the list of all files of the site, with the inputs of each.

The content of a file is created when it is requested. A build requests all files, the preview only those that
are viewed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import structs

from ..base.diagnostics.model import Diagnostic, SiteError
from ..base.version import __version__
from ..config.load import CONFIG_NAME
from ..config.schema import Config
from ..hooks import SiteOutputs
from ..hooks.calls import plugin_files
from ..model.documents import Asset, Document, Output
from ..model.generated_files import GeneratedFile, OutputFile
from ..model.pictures import ImageVariant
from ..model.template_views import PageView, SiteView
from ..project.context import SiteContext
from ..project.focus import is_within
from ..project.load import LoadedSite
from ..project.report import BuildLog
from ..render.policy.policy import GuardedPage, guard_page, guard_parts
from ..render.templates.theme import Theme
from ..site.collisions import fold_url
from ..site.downloads import notebook_files
from ..site.feeds import feed_files
from ..site.frame import RenderedDocument
from ..site.permalinks import files_url, output_path, redirect, redirect_path
from ..site.site_view import site_view, with_options

if TYPE_CHECKING:
    from ..stages.pictures import ImageCopies


@dataclass(frozen=True, slots=True)
class OutputPlan:
    """All files of the site, and the data that its pages are rendered with."""

    site: SiteView
    files: tuple[OutputFile, ...]
    documents: Mapping[str, Document]
    """Source path → document, for pages that have one."""
    assets: Mapping[str, tuple[Asset, str]]
    """Published assets by path, as `published_assets` returns them."""
    context: SiteContext
    copies: ImageCopies | None = None
    """Copies of images; None if the site needs none."""
    plugin_styles: frozenset[PurePosixPath] = frozenset()
    """Paths of stylesheets that plugins generate."""

    @property
    def removes_metadata(self) -> bool:
        """Whether private metadata is removed from published images."""
        return self.context.config.images.metadata == "clean"

    def for_check(self, focus: Sequence[str]) -> OutputPlan:
        """Return a plan for a check: without copies of images, which cannot have errors, and without pages
        outside `focus`. focus: paths of files and folders; empty: all pages."""
        files = [
            one for one in self.files if not (isinstance(one.content, GeneratedFile) and one.content.is_slow)
        ]
        if focus:
            files = [one for one in files if is_within(one.origin, focus)]
        return replace(self, files=tuple(files))

    def page(self, view: PageView) -> GuardedPage:
        """Render a page. Return it with warnings about content that its policy blocks. SiteError if it cannot
        be rendered."""
        theme = self.context.theme
        if view.layout not in theme.layouts():
            raise _no_layout(view, theme)
        opened = structs.replace(view, body=view.body.open())
        # templates and plugins may print anything
        return guard_parts(
            theme.render_parts(view.layout, opened, self.site.edition(view.edition)), self.context.config
        )

    def output(self, planned: OutputFile) -> tuple[Output, tuple[Diagnostic, ...]]:
        """Create a file, and return it with its diagnostics. SiteError if it cannot be created."""
        content = planned.content
        if isinstance(content, Path):
            return Output(planned.path, file=content, is_cleaned=self.removes_metadata), ()
        if isinstance(content, PageView):
            page = self.page(content)
            return Output(planned.path, page.html), page.problems
        if isinstance(content, GeneratedFile) and content.report:
            data, found = content.report()
            return Output(planned.path, data), found
        data = content()
        problems: Iterable[Diagnostic] = ()
        if planned.path in self.plugin_styles:
            from ..stages.stylesheets import check_generated

            written = {str(one.path) for one in self.files}
            problems = check_generated(str(planned.path), data, self.context.config, written)
        return Output(planned.path, data), tuple(problems)


def make_outputs(
    files: Sequence[OutputFile],
    make: Callable[[OutputFile], tuple[Output, tuple[Diagnostic, ...]]],
    store: Callable[[Output], Output],
    log: BuildLog,
) -> list[Output]:
    """Create every file of the site except its fonts. Report those that cannot be created. store: function
    that stores a finished file until all are finished, and returns the file."""
    made: list[Output] = []
    given_up: set[str] = set()
    for planned in log.iterate("pages", files):
        layout = planned.content.layout if isinstance(planned.content, PageView) else ""
        if layout in given_up:
            continue
        try:
            output, problems = make(planned)
            made.append(store(output))
            log.add(problems)
        except SiteError as error:
            log.add(error.diagnostics)
            if any(found.code == "template-limit" for found in error.diagnostics):
                # a layout that never ends takes seconds for each page, and the site may have a thousand
                given_up.add(layout)
    return made


def plan(
    views: Sequence[PageView],
    rendered: Sequence[RenderedDocument],
    loaded: LoadedSite,
    context: SiteContext,
    unfit: frozenset[str] = frozenset(),
    shared: Iterable[ImageVariant] = (),
    engine: str = "own",
) -> OutputPlan:
    """Return the files of the site, none of them created yet. unfit: source paths of posts to leave out of
    all feeds. shared: copies of images for social networks. engine: search engine; Pagefind's files, created
    at the end of a build, are not included."""
    # imported here, so that an edit of one page, which makes no new plan, is fast
    from ..stages.cards import card_files
    from ..stages.disclosure import published_assets
    from ..stages.pictures import plan_copies
    from ..stages.search_files import search_files
    from ..stages.site_options import resolve_options, sheet_files, site_background

    config = context.config
    site = site_view(config, views, lambda url: config.base_path + url, f"blogsmith {__version__}")
    documents = {str(item.document.path): item.document for item in rendered}
    files = [planned for view in views for planned in _page(view, documents.get(view.path), context)]
    for item in rendered:
        origin = f'a figure drawn by the code of "{item.document.path}"'
        for name, content in item.body.files.items():
            picture = content if isinstance(content, Path) else partial(_picture, content, config)
            files.append(OutputFile(output_path(files_url(item.url) + name), origin, picture))
    assets = published_assets(loaded, rendered, config)
    options, ground = resolve_options(context, assets), site_background(context, assets)
    site = with_options(site, options, ground)
    for path, (asset, url) in assets.items():
        files.append(OutputFile(output_path(url), path, asset.file))
    used = (*(one for item in rendered for one in item.body.variants), *shared)
    copies = plan_copies(used, context)
    files += copy_files(copies, files)
    files += _generated_files(views, config, unfit, {planned.path for planned in files})
    files += notebook_files(views, rendered, config, context.root)
    shown = SiteOutputs(config, tuple(views), MappingProxyType(documents))
    generated = list(plugin_files(context.plugins, shown))
    files += [OutputFile(file, f'a file of plugin "{plugin}"', make) for plugin, file, make in generated]
    plugin_styles = frozenset(file for _, file, _ in generated if file.suffix == ".css")
    for card, origin, drawn in card_files(views, context):
        files.append(OutputFile(card, origin, drawn))
    items = {str(item.document.path): item for item in rendered}
    for part, made in search_files(views, items, context, engine):
        files.append(OutputFile(part, "the search index", made))
    for sheet, text in sheet_files(views, context):
        files.append(OutputFile(sheet, f'a stylesheet of theme "{context.theme.name}"', text))
    for bundle in context.theme.bundles.values():
        files.append(OutputFile(bundle.path(), f'the scripts of theme "{context.theme.name}"', bundle.text))
    for asset in context.theme.static_files():
        files.append(OutputFile(asset.path, f'a file of theme "{context.theme.name}"', asset.file))
    files += _host_files(views, documents, files, config)
    return OutputPlan(site, tuple(files), documents, assets, context, copies, plugin_styles)


def _generated_files(
    views: Sequence[PageView], config: Config, unfit: frozenset[str], taken: Set[PurePosixPath]
) -> list[OutputFile]:
    """Return the files that blogsmith generates, apart from pages. A file of the author with the same path
    takes precedence."""
    from ..site.sitemap import robots, sitemap_files

    texts: Mapping[PurePosixPath, GeneratedFile] = {}
    if config.llms_txt:
        from ..site.markdown.files import markdown_files

        texts = markdown_files(views, config)
    own: dict[PurePosixPath, Callable[[], bytes]] = {
        **feed_files(views, config, unfit),
        PurePosixPath("robots.txt"): partial(robots, config),
        **sitemap_files(views, config),
        **texts,
    }
    return [
        OutputFile(file, f"the generated file {file}", make)
        for file, make in own.items()
        if file not in taken
    ]


def _host_files(
    views: Sequence[PageView],
    documents: Mapping[str, Document],
    files: Sequence[OutputFile],
    config: Config,
) -> list[OutputFile]:
    """Return the files that the host of the site reads. A file of the author with the same path takes
    precedence."""
    if config.publish == "none":
        return []
    from ..site.host_files import host_outputs, make_rules

    aliases = [
        (view.url.removeprefix(config.base_path), documents[view.path].front.aliases)
        for view in views
        if view.path in documents
    ]
    taken = {planned.path for planned in files}
    made = host_outputs(config.publish, make_rules(aliases, config.base_path), taken)
    return [
        OutputFile(path, f"the file {path} for {config.publish}", partial(bytes, data))
        for path, data in made.items()
        if path not in taken
    ]


def copy_files(copies: ImageCopies | None, files: Iterable[OutputFile]) -> list[OutputFile]:
    """Return the copies of images whose originals are among these files."""
    if copies is None:
        return []
    originals = {
        planned.path: (planned.origin, planned.content)
        for planned in files
        if isinstance(planned.content, Path)
    }
    return [OutputFile(*found) for found in copies.files(originals)]


def _picture(content: bytes, config: Config) -> bytes:
    from ..write.photos.cleaning import clean_bytes

    return clean_bytes(content) if config.images.metadata == "clean" else content


def _page(view: PageView, document: Document | None, context: SiteContext) -> Iterator[OutputFile]:
    """Yield a page, then the redirects at its old URLs."""
    site_path = view.url.removeprefix(context.config.base_path)
    origin = view.path or f'the generated page "{site_path}"'
    yield OutputFile(output_path(site_path), origin, view)
    for alias in document.front.aliases if document else ():
        yield OutputFile(
            redirect_path(alias), f'the alias "{alias}" of {origin}', _redirect_writer(view, context)
        )


def _redirect_writer(view: PageView, context: SiteContext) -> Callable[[], bytes]:
    return lambda: guard_page(redirect(view), context.config).html


def _no_layout(view: PageView, theme: Theme) -> SiteError:
    """Return the error for a theme that lacks a required layout. (A layout that a page itself requests is
    checked before.)"""
    message = f'layout not found in theme "{theme.name}": "{view.layout}"'
    hint = f"write `extends: paper` in theme.yaml, or add `layouts/{view.layout}.html` to the theme"
    return SiteError(Diagnostic("layout-unknown", message, CONFIG_NAME, hint=hint))


def _quoted(origin: str) -> str:
    """Return an origin in quotes, unless it is a phrase with a quoted name in it."""
    return origin if '"' in origin else f'"{origin}"'


def path_conflicts(files: Iterable[OutputFile]) -> list[Diagnostic]:
    """Return errors for files with the same output path."""
    found: list[Diagnostic] = []
    taken: dict[str, str] = {}
    for planned in files:
        path = str(planned.path)
        first = taken.setdefault(fold_url(path), planned.origin)
        if first != planned.origin:
            message = f'{_quoted(first)} and {_quoted(planned.origin)} have the same output file "{path}"'
            found.append(Diagnostic("output-conflict", message, hint="rename one of them, or remove it"))
    return found
