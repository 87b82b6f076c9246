"""What a process started fresh is told of a site to make bodies, and the site as it is made from that.

The records are those of the builder, pickled. Texts of pages are not among them: they come with the tasks.
Plugins are the bundled ones, which the process has itself.
"""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from msgspec import Struct
from msgspec.structs import replace

from ...base.storage.digests import file_digest
from ...config.load import LoadedConfig
from ...config.schema import Config
from ...hooks import Plugins
from ...hooks.loader import load_plugins
from ...model.documents import Document
from ...model.media import MediaFile
from ...model.pictures import ImageInfo
from ...model.results import PageResults
from ...project.bundled_folders import bundled_folder
from ...project.context import SiteContext, parse_options
from ...project.load import LoadedSite
from ...project.report import BuildLog, no_progress
from ...pyodide.distribution import CDN
from ...render.templates.files import ThemeFiles
from ...render.templates.theme import make_theme
from ...render.tools import Tools
from ..bibliographies import SiteBibliographies
from ..browser_python import browser_python
from ..cache import PageCache, UnknownPage
from ..lint_cache import encode_lint
from ..lookups import index_of, page_tools
from ..media import measure_media
from ..rows.image_rows import measure_image
from ..snapshot import Entries, ResolvedSite

_PICTURES = frozenset({".avif", ".gif", ".jpeg", ".jpg", ".png", ".svg", ".webp"})


class SiteState(Struct, frozen=True):
    """A site as those see it who make bodies."""

    root: Path
    config: Config
    settings: LoadedConfig
    theme: ThemeFiles
    loaded: LoadedSite
    """Its documents have no text."""
    has_lints: bool
    """Whether lints look at each page."""
    sizes: Mapping[Path, ImageInfo | str] | None
    """File → what a picture is; None: the files are there."""
    digests: Mapping[Path, str]
    """File → SHA-256 of a copy, where the files are not there."""


def state_of(resolved: ResolvedSite, *, is_elsewhere: bool, has_lints: bool) -> bytes:
    """Return the pickled state of a site.

    is_elsewhere: for a machine that has no file of the site. has_lints: as in `SiteState`.
    """
    context, loaded = resolved.context, resolved.loaded
    assets = loaded.assets if is_elsewhere else {}
    copies = [assets[copy.path].file for copy in loaded.remote.copies.values() if copy.path in assets]
    pictures = [asset.file for asset in assets.values() if asset.file.suffix.lower() in _PICTURES]
    state = SiteState(
        root=context.root.absolute(),
        config=context.config,
        settings=context.settings,
        theme=context.theme.files,
        loaded=replace(loaded, documents=tuple(map(_without_text, loaded.documents)), left_out={}),
        has_lints=has_lints,
        sizes={file: measure_image(file) for file in pictures} if is_elsewhere else None,
        digests={file: file_digest(file) for file in copies},
    )
    return pickle.dumps(state)


def _without_text(document: Document) -> Document:
    return dataclasses.replace(document, source=dataclasses.replace(document.source, text=""), body="")


class WorkerSite:
    """A site in a process that was started fresh."""

    def __init__(self, data: bytes) -> None:
        """data: as `state_of` gives it."""
        state: SiteState = pickle.loads(data)
        context, self.memory = _context(state), PageCache(limit_s=None)
        self.memory.use_context(context)
        self.documents = {str(document.path): document for document in state.loaded.documents}
        """By source path; those that are to be made take the place of those without a text."""
        self.tools = _tools(state, context, self.memory, self.documents)
        self.lint = partial(encode_lint, math=context.config.math) if state.has_lints else None


def _context(state: SiteState) -> SiteContext:
    config = state.config
    theme = make_theme(state.theme, config.base_path, chosen=config.theme_options)
    plugins = load_plugins(config.plugins, [bundled_folder("plugins")])
    if state.sizes is not None:
        plugins = _without_programs(plugins)
    options = parse_options(config, plugins, theme.inline_shortcodes(), theme.block_shortcodes())
    return SiteContext(state.root, config, theme, plugins, options, state.settings)


def _tools(
    state: SiteState, context: SiteContext, memory: PageCache, documents: Mapping[str, Document]
) -> Tools:
    """What pages may ask of the site; what is not known here raises UnknownPage."""
    loaded, sizes, is_elsewhere = state.loaded, state.sizes, state.sizes is not None

    def measure(file: Path) -> ImageInfo | str:
        if sizes is None:
            return memory.images.measure(file)
        return sizes[file] if file in sizes else _ask_builder()

    def digest(file: Path) -> str:
        return state.digests.get(file, "") if is_elsewhere else memory.images.digest(file)

    def media(file: Path) -> MediaFile:
        return _ask_builder() if is_elsewhere else measure_media(file)

    # what is wrong with it is told where the page is taken over
    python = browser_python(context, BuildLog(no_progress))
    bibliographies = SiteBibliographies(context.root, look=_ask_builder if is_elsewhere else None)
    bibliographies.use_settings(context.settings)
    index = index_of(loaded, {}, context)
    entries = Entries(documents, lambda document: memory.facts_of(document).entry)
    return page_tools(
        context=context,
        memory=memory,
        index=replace(index, entries=entries),
        loaded=loaded,
        results=lambda document: PageResults(),
        python=_ask_builder if is_elsewhere and context.config.browser.pyodide != CDN else python,
        measure=measure,
        digest=digest,
        bibliographies=bibliographies,
        media=media,
    )


def _without_programs(plugins: Plugins) -> Plugins:
    """The same on a machine that may have other programs and libraries: what they make may look different."""
    diagrams = {name: replace(diagram, draw=_ask_builder) for name, diagram in plugins.diagrams.items()}
    converters = {name: replace(one, convert=_ask_builder) for name, one in plugins.converters.items()}
    return replace(plugins, diagrams=diagrams, converters=converters)


def _ask_builder(*question: Any) -> NoReturn:
    raise UnknownPage
