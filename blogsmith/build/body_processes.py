"""Rendering of page bodies in several processes, and the state of the site for processes that start fresh.

A page may query facts of other pages while it is rendered, but a process knows only the pages that it has
parsed itself. A page that needs more is rendered again, with the facts of all pages, when all are parsed. In
12 of 13 imported blogs this is less than a tenth of the pages.
"""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import msgspec
from msgspec import Struct, structs

from ..base.storage.stamps import file_digest
from ..config.load import LoadedConfig
from ..config.schema import Config
from ..hooks import Plugins
from ..hooks.loader import load_plugins
from ..model.documents import Body, Document
from ..model.pictures import ImageInfo, MediaFile
from ..model.results import PageResults
from ..model.texts import compress_text
from ..pools.page_executor import PageExecutor, process_death_error
from ..pools.pool import MapTasks, ProcessDiedError, TaskRunnerFactory
from ..project.bundled_folders import bundled_folder
from ..project.context import SiteContext, parse_options
from ..project.load import LoadedSite
from ..project.report import BuildLog, no_progress
from ..render.templates.files import ThemeFiles
from ..render.templates.theme import make_theme
from ..render.tools import SiteAccess
from ..rows.file_rows import measure_image
from ..rows.page_rows import EncodingError, decode_facts, encode_facts
from ..rows.page_table import encode_lint
from ..stages.bibliographies import SiteBibliographies
from ..stages.browser_python import browser_python
from ..tex.on_demand import import_converter
from .render import PageCache, UnknownPageError
from .snapshot import LazyEntries, ResolvedSite
from .trace import build_index, measure_media, page_tools

if TYPE_CHECKING:
    from ..rows.page_table import LintCache
    from ..syntax.parser import Parsed

# The state of a site for a process that starts fresh, and the site that the process creates from it. The
# records are those of the parent process, pickled, without the text of pages, which the tasks contain.
# Plugins are the bundled ones, which every process has.


_PICTURES = frozenset({".avif", ".gif", ".jpeg", ".jpg", ".png", ".svg", ".webp"})


class SiteState(Struct, frozen=True):
    """The part of a site that is needed to render bodies."""

    root: Path
    config: Config
    settings: LoadedConfig
    theme: ThemeFiles
    loaded: LoadedSite
    """The loaded site. Its documents have no text."""
    has_lints: bool
    """Whether each page is also checked for lint warnings."""
    image_info: Mapping[Path, ImageInfo | str] | None
    """Path of an image → size and other facts, or an error message. None if the process can read images
    itself."""
    digests: Mapping[Path, str]
    """Path of the copy of a remote image → its SHA-256. Empty if the process can read the files."""


def pickle_site_state(resolved: ResolvedSite, *, is_elsewhere: bool, has_lints: bool) -> bytes:
    """Return the pickled state of a site. is_elsewhere: for another machine, which has no files of the site.
    has_lints: whether each page is also checked for lint warnings."""
    context, loaded = resolved.context, resolved.loaded
    assets = loaded.assets if is_elsewhere else {}
    copies = [assets[copy.path].file for copy in loaded.remote.copies.values() if copy.path in assets]
    pictures = [asset.file for asset in assets.values() if asset.file.suffix.lower() in _PICTURES]
    state = SiteState(
        root=context.root.absolute(),
        config=context.config,
        settings=context.settings,
        theme=context.theme.files,
        loaded=structs.replace(loaded, documents=tuple(map(_drop_text, loaded.documents)), unbuilt={}),
        has_lints=has_lints,
        image_info={file: measure_image(file) for file in pictures} if is_elsewhere else None,
        digests={file: file_digest(file) for file in copies},
    )
    return pickle.dumps(state)


def _drop_text(document: Document) -> Document:
    return dataclasses.replace(document, source=dataclasses.replace(document.source, text=""), body="")


class WorkerSite:
    """The site in a process that starts fresh and therefore does not inherit the site."""

    def __init__(self, data: bytes) -> None:
        """Create the site. data: result of `pickle_site_state`."""
        state: SiteState = pickle.loads(data)
        context, self.memory = _context(state), PageCache(limit_s=None)
        self.memory.use_context(context)
        self.documents = {str(document.path): document for document in state.loaded.documents}
        """Source path → document. A document from a task, which has text, replaces the one without."""
        self.tools = _tools(state, context, self.memory, self.documents)
        self.lint = partial(encode_lint, math=context.config.math) if state.has_lints else None


def _context(state: SiteState) -> SiteContext:
    config = state.config
    theme = make_theme(state.theme, config.base_path, chosen=config.theme_options)
    plugins = load_plugins(config.plugins, [bundled_folder("plugins")])
    if state.image_info is not None:
        plugins = _disable_programs(plugins)
    options = parse_options(config, plugins, theme.inline_shortcodes(), theme.block_shortcodes())
    return SiteContext(state.root, config, theme, plugins, options, state.settings)


def _tools(
    state: SiteState, context: SiteContext, memory: PageCache, documents: Mapping[str, Document]
) -> SiteAccess:
    """Return the functions that query the site while pages are rendered. They raise `UnknownPageError` for
    facts that this process lacks."""
    loaded, sizes, is_elsewhere = state.loaded, state.image_info, state.image_info is not None

    def measure(file: Path) -> ImageInfo | str:
        if sizes is None:
            return memory.images.measure(file)
        return sizes[file] if file in sizes else _ask_builder()

    def digest(file: Path) -> str:
        return state.digests.get(file, "") if is_elsewhere else memory.images.digest(file)

    def media(file: Path) -> MediaFile:
        return _ask_builder() if is_elsewhere else measure_media(file)

    # errors are reported when the parent process accepts the page
    from ..pyodide.distribution import CDN

    python = browser_python(context, BuildLog(no_progress))
    bibliographies = SiteBibliographies(context.root, look=_ask_builder if is_elsewhere else None)
    bibliographies.use_settings(context.settings)
    index = build_index(loaded, {}, context)
    entries = LazyEntries(documents, lambda document: memory.get_facts(document).entry)
    return page_tools(
        context=context,
        memory=memory,
        index=structs.replace(index, entries=entries),
        loaded=loaded,
        results=lambda document: PageResults(),
        python=_ask_builder if is_elsewhere and context.config.browser.pyodide != CDN else python,
        measure=measure,
        digest=digest,
        bibliographies=bibliographies,
        media=media,
    )


def _disable_programs(plugins: Plugins) -> Plugins:
    """Return plugins that run no programs, for another machine, where their output might look different."""
    diagrams = {
        name: structs.replace(diagram, draw=_ask_builder) for name, diagram in plugins.diagrams.items()
    }
    converters = {
        name: structs.replace(one, convert=_ask_builder) for name, one in plugins.converters.items()
    }
    outputs = {mime: structs.replace(form, show=_ask_builder) for mime, form in plugins.cell_outputs.items()}
    return structs.replace(plugins, diagrams=diagrams, cell_outputs=outputs, converters=converters)


def _ask_builder(*question: Any) -> NoReturn:
    raise UnknownPageError


class BodyTask(msgspec.Struct):
    """A page that a process renders or checks for lint warnings."""

    path: str
    """Path of its source."""
    is_made: bool
    """Whether to render the page. False: only lint warnings are needed."""
    document: Document | None
    """The document with its text; None if the process knows it."""
    facts: Mapping[str, bytes]
    """Source path → encoded facts about a page; empty in the first round, before all pages are parsed."""


class BodyResult(msgspec.Struct):
    """The outcome of a `BodyTask`, encoded for the parent process."""

    state: Literal["made", "waits", "has cells", "linted", "stays"]
    """`made`: rendered. `waits`: the page needs facts about another page that are unknown here. `has cells`:
    not rendered, because it has cells. `linted`: only checked for lint warnings. `stays`: the result cannot
    be encoded, so the parent process must render the page."""
    facts: bytes = b""
    body: bytes = b""
    content: bytes = b""
    lint: bytes = b""
    """Encoded lint warnings, in a check."""
    sizes: bytes = b""
    """Sizes of images, as `StampedValues.take_new` returns them."""
    parsing_s: float = 0.0


class BodyWorker:
    """Renders pages in one of the processes."""

    def __init__(
        self,
        memory: PageCache,
        tools: SiteAccess,
        documents: MutableMapping[str, Document],
        lint: Callable[[Parsed], bytes] | None,
    ) -> None:
        """Set up a worker. documents: source path → document; documents in tasks replace these. lint:
        function that returns encoded lint warnings; None: no lint warnings."""
        # two processes must not use the same cache rows
        memory.table.close()
        self._memory = memory
        self._tools = tools
        self._documents = documents
        self._has_facts = False
        self._lint = lint or (lambda parsed: b"")

    def run_task(self, task: BodyTask) -> BodyResult:
        """Render a page, or only find its lint warnings."""
        memory, document, before_s = self._memory, self._find(task), self._memory.parsing_s
        if task.facts and not self._has_facts:
            self._store_facts(task.facts)
        memory.uses_other_processes = False
        try:
            if task.is_made:
                made = self._make(document)
            else:
                made = BodyResult("linted", lint=self._lint(memory.parse(document)))
        except EncodingError:
            made = BodyResult("stays")
        made.parsing_s = memory.parsing_s - before_s
        return made

    def _find(self, task: BodyTask) -> Document:
        if task.document:
            self._documents[task.path] = task.document
        return self._documents[task.path]

    def _store_facts(self, facts: Mapping[str, bytes]) -> None:
        for path, data in facts.items():
            document = self._documents[path]
            if not self._memory.has_facts(document) and (found := decode_facts(data, document)):
                self._memory.store_facts(*found)
        self._has_facts = True

    def _make(self, document: Document) -> BodyResult:
        memory = self._memory
        known = memory.get_facts(document)
        facts = encode_facts(known.facts, known.entry)
        parsed = memory.parse(document)
        if known.facts.cells.sessions():
            return BodyResult("has cells", facts, lint=self._lint(parsed))
        # other processes find the facts that are unknown here
        memory.uses_other_processes = True
        try:
            body, lookups = memory.render(document, self._tools)
            data = memory.table.encode_body(body, lookups)
        except EncodingError:
            return BodyResult("stays", facts)
        except UnknownPageError:
            return BodyResult("waits", facts)
        content, sizes = compress_text(body.content), memory.images.values.take_new()
        return BodyResult("made", facts, data, content, self._lint(parsed), sizes)


def make_body_worker(state: bytes) -> Callable[[BodyTask], BodyResult]:
    """Return the function that processes tasks in a process that was started fresh. state: result of
    `pickle_site_state`."""

    site = WorkerSite(state)
    return BodyWorker(site.memory, site.tools, site.documents, site.lint).run_task


class BodyPool:
    """Renders bodies in several processes, for one build."""

    def __init__(
        self,
        memory: PageCache,
        resolved: ResolvedSite,
        paths: Sequence[str],
        to_make: Collection[str],
        lints: LintCache | None,
    ) -> None:
        """Set up the pool. paths: source paths of pages. to_make: the paths whose pages are rendered. The
        other pages are only checked for lint warnings."""
        self._memory = memory
        self._resolved = resolved
        self._paths = paths
        self._to_make = to_make
        self._lints = lints

    def make(self, executor: PageExecutor) -> Generator[tuple[str, Body | None], None, None]:
        """Yield each source path with its body, in any order; None if this process must render the page. A
        caller that may stop early must close the generator. SiteError if a process dies."""
        import_converter()
        self._memory.prepare()
        self._memory.images.values.load()
        waiting: list[str] = []
        make = self._worker if executor.kind == "fork" else self._picklable_worker(executor)
        with executor.start_pool(make) as run:
            for path, made in self._results(executor, run, self._paths, {}):
                body = self._store_result(path, made) if made else None
                if made and made.state == "waits":
                    waiting.append(path)
                else:
                    yield path, body
            facts = dict(self._known_facts()) if waiting else {}
            for path, made in self._results(executor, run, waiting, facts):
                yield path, self._store_result(path, made) if made else None

    def _worker(self) -> Callable[[BodyTask], BodyResult]:
        resolved, lint = self._resolved, self._lints.encode if self._lints else None
        return BodyWorker(self._memory, resolved.tools, dict(resolved.documents), lint).run_task

    def _picklable_worker(self, executor: PageExecutor) -> TaskRunnerFactory:

        has_lints = self._lints is not None
        state = pickle_site_state(self._resolved, is_elsewhere=executor.is_remote, has_lints=has_lints)
        return partial(make_body_worker, state)

    def _results(
        self, executor: PageExecutor, run: MapTasks, paths: Sequence[str], facts: Mapping[str, bytes]
    ) -> Iterator[tuple[str, BodyResult | None]]:
        documents = {} if executor.kind == "fork" else self._resolved.documents

        def task(path: str) -> BodyTask:
            document = documents.get(path)
            return BodyTask(path, path in self._to_make, document and _load_text(document), facts)

        try:
            for number, made in run(map(task, paths)):
                self._memory.parsing_s += made.parsing_s / executor.processes if made else 0
                yield paths[number], made
        except ProcessDiedError as error:
            raise process_death_error(
                f"the process that rendered this page {error.ending}", paths[error.task]
            ) from error

    def _known_facts(self) -> Iterator[tuple[str, bytes]]:
        """Yield the encoded facts about all pages, for processes that know only the pages they parsed."""
        for path, document in self._resolved.documents.items():
            if self._memory.has_facts(document):
                known = self._memory.get_facts(document)
                with suppress(EncodingError):
                    yield path, encode_facts(known.facts, known.entry)

    def _store_result(self, path: str, made: BodyResult) -> Body | None:
        """Store a page as if this process had rendered it. Return its body, or None if there is none."""
        memory, document = self._memory, self._resolved.documents[path]
        if self._lints and made.lint:
            self._lints.put_encoded(document, made.lint)
        memory.images.values.add(made.sizes)
        facts = decode_facts(made.facts, document) if made.facts else None
        if facts:
            memory.store_facts(*facts)
            memory.table.put_encoded_facts(document, made.facts)
        found = memory.table.decode_body(document, made.body) if made.body else None
        if found is None or facts is None:
            return None
        body, questions = found
        if any(one.name == "python" for one in questions):
            # errors are reported for the site once a page has needed Python
            self._resolved.tools.python_distribution()
        memory.table.put_encoded_body(document, made.body)
        body = memory.table.put_content(document, body, made.content)
        return memory.store_body(document, body, self._resolved.facts, {}, questions)


def _load_text(document: Document) -> Document:
    """Return the document with its text in memory, because the function that reads it works only in this
    process."""
    return replace(document, source=replace(document.source, text=document.source.text), body=document.body)
