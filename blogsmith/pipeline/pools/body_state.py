"""What a process started fresh needs of a site to make bodies: plain data, and the worker that is made of it.

Texts of pages are not among it: they come with the requests. Nothing in it is code; plugins are the bundled
ones, which the process has itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NoReturn

from msgspec import Struct, field
from msgspec.structs import replace

from ...base.diagnostics.model import Diagnostic
from ...base.storage.digests import file_digest
from ...config.load import CONFIG_NAME, LoadedConfig
from ...config.schema import Config
from ...hooks import Plugins
from ...hooks.loader import load_plugins
from ...model.documents import Asset, Document, FrontMatter, Source
from ...model.media import MediaFile
from ...model.pictures import ImageInfo
from ...model.remote_images import RemoteImages
from ...model.results import PageResults
from ...model.scopes import FieldScope, scoped_fields
from ...project.bundled_folders import bundled_folder
from ...project.context import SiteContext, parse_options
from ...project.load import LoadedSite
from ...project.report import BuildLog, no_progress
from ...render.templates.files import TemplateFile, ThemeFiles, ThemeTexts
from ...render.templates.style_sheets import StaticFile
from ...render.templates.theme import make_theme
from ...render.tools import Tools
from ...site.index import PageEntry, index_site
from ...site.urls import Urls
from ..bibliographies import SiteBibliographies
from ..browser_python import browser_python
from ..cache import PageCache, UnknownPage
from ..lookups import page_tools
from ..media import measure_media
from ..rows.image_rows import measure_image
from ..rows.page_rows import decode_row, encode_row
from ..snapshot import Entries, ResolvedSite
from .body_worker import BodyWorker

if TYPE_CHECKING:
    from ...pyodide.distribution import Distribution
    from ...syntax.parser import Parsed

_PICTURES = frozenset({".avif", ".gif", ".jpeg", ".jpg", ".png", ".svg", ".webp"})


class BodyState(Struct, frozen=True):
    """A site as those see it who make bodies."""

    root: str
    config: Config
    """Those settings that reach the text of a page."""
    theme: str
    """Its name."""
    templates: Mapping[str, TemplateFile]
    languages: ThemeTexts
    static: Mapping[str, tuple[str, str]]
    """Name of a file of the theme → path in the output and version."""
    urls: Mapping[str, str]
    """This and what follows: as in `SiteIndex`."""
    unpublished: Mapping[str, str]
    generated: frozenset[str]
    files: Mapping[str, str]
    remote: RemoteImages
    places: Mapping[str, str]
    """Path of an asset under the site root → where to read it."""
    sizes: Mapping[str, ImageInfo | str] | None
    """Where to read it → what a picture is; None: the files are there."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """Where to read it → SHA-256 of a copy, where the files are not there."""
    has_lints: bool = False
    """Lints look at each page."""


def encode_state(resolved: ResolvedSite, *, is_elsewhere: bool, has_lints: bool) -> bytes:
    """The state of a site; NotStorable if something in it is more than data."""
    context, index, theme = resolved.context, resolved.index, resolved.context.theme.files
    places = {path: str(asset.file) for path, asset in resolved.loaded.assets.items()}
    state = BodyState(
        root=str(context.root.absolute()),
        config=_text_config(context.config),
        theme=theme.name,
        templates=theme.templates,
        languages=theme.languages,
        static={name: (str(file.asset.path), file.version) for name, file in theme.static.items()},
        urls=index.urls,
        unpublished=index.unpublished,
        generated=index.generated,
        files=index.files,
        remote=index.remote,
        places=places,
        sizes=_sizes(places.values()) if is_elsewhere else None,
        digests=_digests(index.remote, places) if is_elsewhere else {},
        has_lints=has_lints,
    )
    return encode_row(state)


def _text_config(config: Config) -> Config:
    """The settings, with defaults in place of those that reach no text."""
    plain = Config()
    return replace(config, **{name: getattr(plain, name) for name in scoped_fields(Config, FieldScope.SITE)})


def _sizes(files: Iterable[str]) -> Mapping[str, ImageInfo | str]:
    found = (Path(file) for file in files)
    return {str(file): measure_image(file) for file in found if file.suffix.lower() in _PICTURES}


def _digests(remote: RemoteImages, places: Mapping[str, str]) -> Mapping[str, str]:
    files = (places[copy.path] for copy in remote.copies.values() if copy.path in places)
    return {file: file_digest(Path(file)) for file in files}


def body_worker(data: bytes) -> BodyWorker:
    """The worker of a state; ValueError if these bytes are none."""
    state = decode_row(data, BodyState)
    if state is None:
        raise ValueError("the state of a site cannot be read")
    memory = PageCache(limit_s=None)
    site = _WorkerSite(state, memory)
    return BodyWorker(memory, lambda: site.tools, site.document, site.take_source, _lint_of(state))


def _lint_of(state: BodyState) -> Callable[[Parsed], bytes] | None:
    if not state.has_lints:
        return None
    from ..lint_cache import encode_lint

    math = state.config.math
    return lambda page: encode_lint(page, math)


class _WorkerSite:
    """The site in a process of its own."""

    def __init__(self, state: BodyState, memory: PageCache) -> None:
        self._state = state
        self._memory = memory
        self._documents = {path: _unread(path) for path in state.urls}
        self._read: set[str] = set()
        """Source paths of documents whose texts are here."""
        self._context = _context(state)
        memory.use_context(self._context)
        self.tools = self._make_tools()

    def document(self, path: str) -> Document:
        """A document; one without a text, if that has not come yet."""
        return self._documents[path]

    def take_source(self, source: Source) -> None:
        """A page is to be made."""
        path = str(source.path)
        if path not in self._read or self._documents[path].source.digest != source.digest:
            self._documents[path] = self._memory.document(source, self._context.config)[0]
            self._read.add(path)

    def _entry(self, document: Document) -> PageEntry:
        if str(document.path) not in self._read and not self._memory.has_facts(document):
            raise UnknownPage
        return self._memory.facts_of(document).entry

    def _make_tools(self) -> Tools:
        state, context, memory = self._state, self._context, self._memory
        entries = Entries(self._documents, self._entry)
        index = index_site(
            context.config.base_path,
            state.urls,
            entries,
            state.unpublished,
            state.generated,
            state.files,
            state.remote,
        )
        assets = {path: Asset(PurePosixPath(path), Path(file), 0) for path, file in state.places.items()}
        loaded = LoadedSite((), {}, state.unpublished, Urls(state.urls, {}, {}, {}), assets, state.files)
        bibliographies = SiteBibliographies(
            context.root, look=self._look_away if state.sizes is not None else None
        )
        bibliographies.use_settings(context.settings)
        tools = page_tools(
            context=context,
            memory=memory,
            index=index,
            loaded=loaded,
            results=_no_results,
            python=self._open_python,
            measure=self._measure,
            digest=self._digest,
            bibliographies=bibliographies,
            media=self._measure_media,
        )
        return replace(
            tools, bibliography_problems=lambda document: _own_problems(bibliographies.problems(document))
        )

    def _look_away(self, path: PurePosixPath) -> NoReturn:
        raise UnknownPage

    def _measure(self, file: Path) -> ImageInfo | str:
        if self._state.sizes is None:
            return self._memory.images.measure(file)
        found = self._state.sizes.get(str(file))
        if found is None:
            raise UnknownPage
        return found

    def _digest(self, file: Path) -> str:
        if self._state.sizes is None:
            return self._memory.images.digest(file)
        return self._state.digests.get(str(file), "")

    def _measure_media(self, file: Path) -> MediaFile:
        if self._state.sizes is not None:
            # films are not sent
            raise UnknownPage
        return measure_media(file)

    def _open_python(self) -> Distribution:
        from ...pyodide.distribution import CDN

        if self._state.sizes is not None and self._context.config.browser.pyodide != CDN:
            raise UnknownPage
        # what is wrong with it is told where the page is taken over
        return browser_python(self._context, BuildLog(no_progress))()


def _own_problems(found: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """What is wrong with a page's bibliographies; what is with the site's is told where its settings are."""
    if any(problem.path == CONFIG_NAME for problem in found):
        raise UnknownPage
    return found


def _unread(path: str) -> Document:
    return Document(Source(PurePosixPath(path), "", ""), FrontMatter(), "", 1)


def _no_results(document: Document) -> PageResults:
    return PageResults()


def _context(state: BodyState) -> SiteContext:
    config = state.config
    static = {
        name: StaticFile(Asset(PurePosixPath(path), Path(), 0), version)
        for name, (path, version) in state.static.items()
    }
    files = ThemeFiles(state.theme, {}, state.templates, static, languages=state.languages)
    theme = make_theme(files, config.base_path)
    plugins = load_plugins(config.plugins, [bundled_folder("plugins")])
    if state.sizes is not None:
        plugins = _without_programs(plugins)
    options = parse_options(config, plugins, theme.inline_shortcodes(), theme.block_shortcodes())
    return SiteContext(Path(state.root), config, theme, plugins, options, LoadedConfig(config, (), {}))


def _without_programs(plugins: Plugins) -> Plugins:
    """The same on a machine that may have other programs and libraries: what they make may look different."""

    def make(source: object) -> NoReturn:
        raise UnknownPage

    diagrams = {name: replace(diagram, draw=make) for name, diagram in plugins.diagrams.items()}
    converters = {name: replace(one, convert=make) for name, one in plugins.converters.items()}
    return replace(plugins, diagrams=diagrams, converters=converters)
