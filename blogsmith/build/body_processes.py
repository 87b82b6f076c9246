"""Bodies of pages made by several processes, and the state of a site that fresh processes get.

A page may ask what others hold while it is rendered, and a process knows that of the pages that it has parsed
itself. A page that asks for more is made again once all are parsed, with what they hold: in 12 of 13 imported
blogs these are less than a tenth of all pages.
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
from ..model.texts import pack_text
from ..pools.page_executor import PageExecutor, died
from ..pools.pool import MakeAnswer, MapTasks, ProcessDied
from ..project.bundled_folders import bundled_folder
from ..project.context import SiteContext, parse_options
from ..project.load import LoadedSite
from ..project.report import BuildLog, no_progress
from ..render.templates.files import ThemeFiles
from ..render.templates.theme import make_theme
from ..render.tools import Tools
from ..rows.file_rows import measure_image
from ..rows.page_rows import NotStorable, decode_facts, encode_facts
from ..rows.page_table import encode_lint
from ..stages.bibliographies import SiteBibliographies
from ..stages.browser_python import browser_python
from ..tex.on_demand import import_converter
from .render import PageCache, UnknownPage
from .snapshot import Entries, ResolvedSite
from .trace import index_of, measure_media, page_tools

if TYPE_CHECKING:
    from ..rows.page_table import LintCache
    from ..syntax.parser import Parsed

# What a process started fresh is told of a site to make bodies, and the site as it is made from that.
#
# The records are those of the builder, pickled. Texts of pages are not among them: they come with the tasks.
# Plugins are the bundled ones, which the process has itself.


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
        loaded=structs.replace(loaded, documents=tuple(map(_without_text, loaded.documents)), left_out={}),
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
    from ..pyodide.distribution import CDN

    python = browser_python(context, BuildLog(no_progress))
    bibliographies = SiteBibliographies(context.root, look=_ask_builder if is_elsewhere else None)
    bibliographies.use_settings(context.settings)
    index = index_of(loaded, {}, context)
    entries = Entries(documents, lambda document: memory.facts_of(document).entry)
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


def _without_programs(plugins: Plugins) -> Plugins:
    """The same on a machine that may have other programs and libraries: what they make may look different."""
    diagrams = {
        name: structs.replace(diagram, draw=_ask_builder) for name, diagram in plugins.diagrams.items()
    }
    converters = {
        name: structs.replace(one, convert=_ask_builder) for name, one in plugins.converters.items()
    }
    return structs.replace(plugins, diagrams=diagrams, converters=converters)


def _ask_builder(*question: Any) -> NoReturn:
    raise UnknownPage


class BodyTask(msgspec.Struct):
    """A page to make."""

    path: str
    """Of its source."""
    is_made: bool
    """False: the page is there, and lints are to look at it."""
    document: Document | None
    """With its texts; None: the process knows it."""
    facts: Mapping[str, bytes]
    """Source path → what others may know of a page; nothing until all are parsed."""


class MadeBody(msgspec.Struct):
    """What came of a page."""

    state: Literal["made", "waits", "has cells", "linted", "stays"]
    """`waits`: it asks for what is not known of another page. `linted`: it was not to be made. `stays`: what
    comes of it has no form outside a process."""
    facts: bytes = b""
    body: bytes = b""
    content: bytes = b""
    lint: bytes = b""
    """What lints find in it, in a check."""
    sizes: bytes = b""
    """Of images, as `StampedValues.take_new` gives them."""
    parsing_s: float = 0.0


class BodyWorker:
    """Lives in each of the processes."""

    def __init__(
        self,
        memory: PageCache,
        tools: Tools,
        documents: MutableMapping[str, Document],
        lint: Callable[[Parsed], bytes] | None,
    ) -> None:
        """documents: by source path; those that come with tasks take their places there.

        lint: what lints find in a page; None: there are none.
        """
        # rows are not to be touched by two processes
        memory.table.close()
        self._memory = memory
        self._tools = tools
        self._documents = documents
        self._has_facts = False
        self._lint = lint or (lambda parsed: b"")

    def answer(self, task: BodyTask) -> MadeBody:
        """Make a page, or look at one that is there."""
        memory, document, before_s = self._memory, self._find(task), self._memory.parsing_s
        if task.facts and not self._has_facts:
            self._learn(task.facts)
        memory.asks_others = False
        try:
            if task.is_made:
                made = self._make(document)
            else:
                made = MadeBody("linted", lint=self._lint(memory.parse(document)))
        except NotStorable:
            made = MadeBody("stays")
        made.parsing_s = memory.parsing_s - before_s
        return made

    def _find(self, task: BodyTask) -> Document:
        if task.document:
            self._documents[task.path] = task.document
        return self._documents[task.path]

    def _learn(self, facts: Mapping[str, bytes]) -> None:
        for path, data in facts.items():
            document = self._documents[path]
            if not self._memory.has_facts(document) and (found := decode_facts(data, document)):
                self._memory.take_facts(*found)
        self._has_facts = True

    def _make(self, document: Document) -> MadeBody:
        memory = self._memory
        known = memory.facts_of(document)
        facts = encode_facts(known.facts, known.entry)
        parsed = memory.parse(document)
        if known.facts.cells.sessions():
            return MadeBody("has cells", facts, lint=self._lint(parsed))
        # what is not known here, another process finds out
        memory.asks_others = True
        try:
            body, lookups = memory.render(document, self._tools)
            data = memory.table.encode_body(body, lookups)
        except NotStorable:
            return MadeBody("stays", facts)
        except UnknownPage:
            return MadeBody("waits", facts)
        content, sizes = pack_text(body.content), memory.images.values.take_new()
        return MadeBody("made", facts, data, content, self._lint(parsed), sizes)


def make_body_worker(state: bytes) -> Callable[[BodyTask], MadeBody]:
    """Return what answers tasks in a process that is started fresh. state: as `state_of` gives it."""

    site = WorkerSite(state)
    return BodyWorker(site.memory, site.tools, site.documents, site.lint).answer


class BodyPool:
    """Belongs to one build."""

    def __init__(
        self,
        memory: PageCache,
        resolved: ResolvedSite,
        paths: Sequence[str],
        to_make: Collection[str],
        lints: LintCache | None,
    ) -> None:
        """paths: source paths of pages. to_make: those of them that are not there only to be looked at by
        `lints`, without cells as far as that is known."""
        self._memory = memory
        self._resolved = resolved
        self._paths = paths
        self._to_make = to_make
        self._lints = lints

    def make(self, executor: PageExecutor) -> Generator[tuple[str, Body | None], None, None]:
        """Each page by its source path, in some order; None for one that is to be made in this process.

        To be closed by a caller that may stop before the end. SiteError if a process dies.
        """
        import_converter()
        self._memory.prepare()
        self._memory.images.values.load()
        waiting: list[str] = []
        make = self._worker if executor.kind == "fork" else self._picklable_worker(executor)
        with executor.start_pool(make) as run:
            for path, made in self._results(executor, run, self._paths, {}):
                body = self._adopt(path, made) if made else None
                if made and made.state == "waits":
                    waiting.append(path)
                else:
                    yield path, body
            facts = dict(self._known_facts()) if waiting else {}
            for path, made in self._results(executor, run, waiting, facts):
                yield path, self._adopt(path, made) if made else None

    def _worker(self) -> Callable[[BodyTask], MadeBody]:
        resolved, lint = self._resolved, self._lints.encode if self._lints else None
        return BodyWorker(self._memory, resolved.tools, dict(resolved.documents), lint).answer

    def _picklable_worker(self, executor: PageExecutor) -> MakeAnswer:

        has_lints = self._lints is not None
        state = state_of(self._resolved, is_elsewhere=executor.is_elsewhere, has_lints=has_lints)
        return partial(make_body_worker, state)

    def _results(
        self, executor: PageExecutor, run: MapTasks, paths: Sequence[str], facts: Mapping[str, bytes]
    ) -> Iterator[tuple[str, MadeBody | None]]:
        documents = {} if executor.kind == "fork" else self._resolved.documents

        def task(path: str) -> BodyTask:
            document = documents.get(path)
            return BodyTask(path, path in self._to_make, document and _with_texts(document), facts)

        try:
            for number, made in run(map(task, paths)):
                self._memory.parsing_s += made.parsing_s / executor.processes if made else 0
                yield paths[number], made
        except ProcessDied as error:
            raise died(f"the process that made this page {error.ending}", paths[error.task]) from error

    def _known_facts(self) -> Iterator[tuple[str, bytes]]:
        """What is known of pages, for processes that know of none but their own."""
        for path, document in self._resolved.documents.items():
            if self._memory.has_facts(document):
                known = self._memory.facts_of(document)
                with suppress(NotStorable):
                    yield path, encode_facts(known.facts, known.entry)

    def _adopt(self, path: str, made: MadeBody) -> Body | None:
        """The page as if it had been made here."""
        memory, document = self._memory, self._resolved.documents[path]
        if self._lints and made.lint:
            self._lints.put_encoded(document, made.lint)
        memory.images.values.add(made.sizes)
        facts = decode_facts(made.facts, document) if made.facts else None
        if facts:
            memory.take_facts(*facts)
            memory.table.put_encoded_facts(document, made.facts)
        found = memory.table.decode_body(document, made.body) if made.body else None
        if found is None or facts is None:
            return None
        body, questions = found
        if any(one.name == "python" for one in questions):
            # what is wrong with it is told of the site, once a page has asked for it
            self._resolved.tools.python()
        memory.table.put_encoded_body(document, made.body)
        body = memory.table.put_content(document, body, made.content)
        return memory.take_body(document, body, self._resolved.facts, {}, questions)


def _with_texts(document: Document) -> Document:
    """The document with its texts in place of what reads them, which is of this process."""
    return replace(document, source=replace(document.source, text=document.source.text), body=document.body)
