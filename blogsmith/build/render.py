"""Cache of pages between updates of the site: documents, their facts, their HTML.

A preview caches in memory, a build in rows on disk. Every value is stored with its inputs, and used only
while these are unchanged. Tokens are too large to store, so a document that must be rendered again is parsed
again.
"""

from __future__ import annotations

import datetime as dt
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, structs

from ..base.diagnostics.model import Diagnostic
from ..base.storage.site_cache import CacheInterface, NullCache
from ..base.timeout import LIMIT_S, PageTimeout, time_limit
from ..config.schema import Config
from ..config.series_rules import solutions_start
from ..hooks.calls import filter_document
from ..model.documents import Body, Document, FrontMatter, IncludedFile, PageFacts, Source
from ..model.texts import NO_TEXT
from ..model.title_code import title_without_marks
from ..project.context import SiteContext
from ..read.front_matter import read_document
from ..read.included_files import included_names, read_included
from ..render.converters import PluginConvert, convert_with_plugin
from ..render.lexing import Lex, lex_in_time
from ..render.tools import SiteAccess
from ..rows.file_rows import ImageSizes
from ..rows.page_rows import Question
from ..rows.page_table import PLAIN, PageKinds, PageTable, text_settings, text_theme
from ..rows.trace import INDEPENDENT_LOOKUPS, Lookups, is_valid, trace_templates, trace_tools
from ..site.index import PageEntry, page_entry
from ..tex.cache import cache_conversions

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

    from ..syntax.parser import Parsed
    from ..syntax.state import ParseOptions

# Placeholder for a page that is not rendered yet, made from its front matter.


def placeholder_body(document: Document) -> Body:
    """Return a body without content, for lists and neighbours."""
    front, path = document.front, document.path
    stem = path.stem.removesuffix(f".{front.lang}")
    name = path.parent.name if stem in ("index", "_index") else stem
    title = title_without_marks(front.title) or name.replace("-", " ").replace("_", " ").capitalize()
    return Body(
        content=NO_TEXT,
        title_html=escape(title, quote=False),
        title_text=title,
        description_html=escape(front.description, quote=False),
        description_text=front.description,
    )


MAX_TOKEN_DOCUMENTS = 8
"""Number of documents whose tokens are stored, because they are about to be rendered."""
MAX_CODE_FRAGMENTS = 512
"""Number of code fragments whose highlighting is cached."""
MAX_FORMULAS = 2_000
"""Number of formulas whose MathML is cached, enough for the pages edited last."""


@dataclass(frozen=True, slots=True)
class CachedHead:
    """A source whose front matter has been read."""

    document: Document
    diagnostics: tuple[Diagnostic, ...]


class DocumentFacts(Struct, frozen=True):
    """Facts of a document that depend on nothing else in the site."""

    facts: PageFacts
    entry: PageEntry


class _Rendered(Struct, frozen=True):
    document: Document
    body: Body
    lookups: Lookups
    facts: object
    """`ResolvedSite.facts` for which the page was last found valid."""
    questions: tuple[Question, ...] = ()
    """Recorded queries, instead of `lookups`, for a page that an earlier build rendered."""

    def changed_question(self, tools: SiteAccess, root: Path, *, only_own: bool = False) -> Question | None:
        """Return the first query whose answer has changed, or None. only_own: test only queries whose answers
        may change although the rest of the site is unchanged."""
        asked = (one for one in self.questions if not only_own or one.name in INDEPENDENT_LOOKUPS)
        return next((one for one in asked if not one.is_valid(tools, self.document, root)), None)

    def is_valid(self, tools: SiteAccess, root: Path, *, only_own: bool) -> bool:
        """Return whether all queries of the page still have the same answers. only_own: test only queries
        whose answers may change although the rest of the site is unchanged."""
        if not is_valid(self.lookups, tools, only_own=only_own):
            return False
        return self.changed_question(tools, root, only_own=only_own) is None


class UnknownPageError(BaseException):
    """A page needs facts of another page that this process lacks. Code that renders the page must not catch
    it."""


class PageCache:
    """The page cache of one preview or one build, used by one thread."""

    def __init__(
        self,
        limit_s: float | None = LIMIT_S,
        rows: CacheInterface | None = None,
        is_urgent: Callable[[], bool] | None = None,
        kinds: PageKinds = PLAIN,
    ) -> None:
        """Create an empty cache. limit_s, is_urgent: limits for parsing or rendering one page, as in
        `time_limit`. rows: cache with results of earlier runs; None: no cache. kinds: kinds of rows for
        bodies."""
        self.rows = rows or NullCache()
        self.table = PageTable(self.rows, kinds)
        self.images = ImageSizes(self.rows)
        self.uses_other_processes = False
        """Whether other processes parse pages too, so that `get_facts` raises `UnknownPageError` instead of
        parsing."""
        self._limit_s, self._is_urgent = limit_s, is_urgent
        self._context: SiteContext | None = None
        self._md: MarkdownIt | None = None
        self._options: ParseOptions | None = None
        self._heads: dict[str, CachedHead] = {}
        self._known: dict[str, DocumentFacts] = {}
        self._tokens: OrderedDict[str, Parsed] = OrderedDict()
        self._bodies: dict[str, _Rendered] = {}
        self.lex: Lex = lru_cache(MAX_CODE_FRAGMENTS)(lex_in_time)
        """`lex_in_time`, cached for each code fragment."""
        self.formula = cache_conversions(limit=MAX_FORMULAS)
        """`convert_formula`, cached for each formula with the same macros."""
        self.foreign: PluginConvert = lru_cache(MAX_FORMULAS)(convert_with_plugin)
        """`convert_with_plugin`, cached for each formula."""
        self._now: dt.datetime | None = None
        self._withheld: Literal["withheld", "early"] = "withheld"
        self.parsing_s = 0.0
        """Total time spent on parsing, in seconds."""
        self.fact_changes = 0
        """Counter of changes in the facts that pages can see of each other."""

    @property
    def reasons(self) -> dict[str, str]:
        """Source path → why the page was rendered instead of taken from the cache, as part of a sentence."""
        return self.table.reasons

    def parser(self) -> MarkdownIt:
        """Return the parser. It is created only once, because a parser refers to itself, so a discarded
        parser stays in memory until garbage collection."""
        if self._md is None:
            assert self._options is not None, "`use_context` comes first"
            # if all pages are cached, none is parsed
            from ..syntax.parser import make_parser

            self._md = make_parser(self._options)
        return self._md

    def prepare(self) -> None:
        """Create everything that rendering needs, before the process forks."""
        from ..render import html  # noqa: F401

        self.parser()

    def use_context(self, context: SiteContext) -> None:
        """Use these settings from now on. Drop results that depend on changed settings."""
        before = self._context
        self._context = context
        self.table.use_context(context)
        if before is None or before.options != context.options:
            self._options = context.options
            self._md = None
            self._known.clear()
            self._tokens.clear()
            self._bodies.clear()
        if before is not None:
            if text_settings(before.config) != text_settings(context.config):
                self._heads.clear()
                self._bodies.clear()
            if text_theme(before) != text_theme(context) or before.plugins != context.plugins:
                self._bodies.clear()
            if before.plugins.page_readers != context.plugins.page_readers:
                self._heads.clear()

    def document(self, source: Source, config: Config) -> tuple[Document, tuple[Diagnostic, ...]]:
        """Return the document and its diagnostics, as `read_document` does. Equal sources give the same
        object."""
        path = str(source.path)
        head = self._heads.get(path)
        if head is None or head.document.source.digest != source.digest:
            head = self._heads[path] = self._stored_head(source, config) or self._new_head(source, config)
        if head.document.included:
            head = self._heads[path] = self._with_included(head, config)
        state = self._solution_state(head.document.front, config)
        if state != head.document.solutions:
            head = self._heads[path] = replace(head, document=replace(head.document, solutions=state))
        return head.document, head.diagnostics

    def use_time(self, now: dt.datetime, *, is_preview: bool) -> None:
        """Set the time of this build, which decides whether solutions with a date are published. A preview
        also shows solutions with a later date."""
        self._now, self._withheld = now, "early" if is_preview else "withheld"

    def _solution_state(self, front: FrontMatter, config: Config) -> Literal["", "withheld", "early"]:
        start = solutions_start(front, config)
        return self._withheld if start and self._now and start > self._now else ""

    def _with_included(self, head: CachedHead, config: Config) -> CachedHead:
        """Return the document with the current content of included files; the same object if these are
        unchanged."""
        assert self._context is not None, "`use_context` comes first"
        document = head.document
        found = read_included(self._context.root, config, document.path, document.included)
        if found == document.included:
            return head
        return replace(head, document=replace(document, included=found))

    def _stored_head(self, source: Source, config: Config) -> CachedHead | None:
        found = self.table.head(source, config.timezone)
        return CachedHead(*found) if found else None

    def _new_head(self, source: Source, config: Config) -> CachedHead:
        assert self._context is not None, "`use_context` comes first"
        document, found = read_document(source, config)
        document, more = filter_document(self._context.plugins, document)
        if names := (*included_names(document.body), *filter(None, (document.front.cv,))):
            document = replace(document, included=dict.fromkeys(names, IncludedFile()))
        head = CachedHead(document, (*found, *more))
        if document.source is source:
            self.table.put_head(document, head.diagnostics)
        return head

    def head_diagnostics(self, path: str) -> tuple[Diagnostic, ...]:
        """Return the diagnostics about the front matter of a document."""
        return self._heads[path].diagnostics

    def parse(self, document: Document) -> Parsed:
        path = str(document.path)
        found = self._tokens.get(path)
        if found is None or found.document is not document:
            assert self._options is not None, "`use_context` comes first"
            from ..syntax.parser import parse_document

            md, started = self.parser(), time.perf_counter()
            found = parse_document(document, md, self._options)
            self.parsing_s += time.perf_counter() - started
            self.store_tokens(found)
        return found

    def get_cached_tokens(self, document: Document) -> Parsed | None:
        """Return the document with its tokens, if they are stored; otherwise None."""
        found = self._tokens.get(str(document.path))
        return found if found and found.document is document else None

    def store_tokens(self, parsed: Parsed) -> None:
        self._tokens[str(parsed.document.path)] = parsed
        while len(self._tokens) > MAX_TOKEN_DOCUMENTS:
            self._tokens.popitem(last=False)

    def get_facts(self, document: Document) -> DocumentFacts:
        """Return the facts of a document. UnknownPageError if they are unknown and other processes parse
        pages."""
        path = str(document.path)
        known = self._known.get(path)
        if known is None or known.facts.document is not document:
            if self.uses_other_processes:
                raise UnknownPageError
            facts, entry = self.table.facts(document) or self._new_facts(document)
            known = self.store_facts(facts, entry)
        return known

    def has_facts(self, document: Document) -> bool:
        """Return whether the facts of a document are known without parsing it."""
        path = str(document.path)
        known = self._known.get(path)
        if known is None or known.facts.document is not document:
            found = self.table.facts(document)
            if found is None:
                return False
            self.store_facts(*found)
        return True

    def store_facts(self, facts: PageFacts, entry: PageEntry) -> DocumentFacts:
        path = str(facts.document.path)
        known = self._known.get(path)
        if known is None or known.entry != entry:
            self.fact_changes += 1
        else:
            entry = known.entry
        known = self._known[path] = DocumentFacts(facts, entry)
        return known

    def _new_facts(self, document: Document) -> tuple[PageFacts, PageEntry]:
        parsed = self.parse_with_limit(document)
        facts, entry = parsed.facts, page_entry(parsed)
        self.table.put_facts(facts, entry)
        return facts, entry

    def parse_with_limit(self, document: Document) -> Parsed:
        """Return the document with its tokens. If parsing takes too long, return a diagnostic and no
        tokens."""
        try:
            with time_limit(self._limit_s, self._is_urgent):
                return self.parse(document)
        except PageTimeout:
            empty = self.parse(replace(document, body=""))
            slow = structs.replace(empty, document=document, diagnostics=(self._too_long(document),))
            self._tokens[str(document.path)] = slow
            return slow

    def body(self, document: Document, tools: SiteAccess, facts: object) -> Body:
        """Return the document's HTML; render it if necessary. facts: object that stays the same only if
        nothing has changed that pages can see in the rest of the site."""
        known = self.get_cached_body(document, tools, facts)
        if known:
            return known
        body, lookups = self.render(document, tools)
        return self.store_body(document, self.table.put_body(document, body, lookups), facts, lookups)

    def get_cached_body(self, document: Document, tools: SiteAccess, facts: object) -> Body | None:
        """Return the document's HTML if it is cached and valid; otherwise None."""
        path = str(document.path)
        made = self._bodies.get(path)
        facts = (facts, self.fact_changes)
        assert self._context is not None, "`use_context` comes first"
        if made is None or made.document is not document:
            made = self._stored_body(document, tools)
        elif not made.is_valid(tools, self._context.root, only_own=made.facts == facts):
            made = None
        if made is None:
            return None
        self._bodies[path] = structs.replace(made, facts=facts)
        return made.body

    def render(self, document: Document, tools: SiteAccess) -> tuple[Body, Lookups]:
        """Render the document. Return its HTML and its queries to the site."""
        from ..render.html import render_body

        watched, lookups = trace_tools(tools)
        watched = structs.replace(watched, cached_fragments=self.table.fragments(document))
        assert self._context is not None, "`use_context` comes first"
        with self._context.theme.watch_templates() as templates:
            try:
                with time_limit(self._limit_s, self._is_urgent):
                    body = self._with_record(render_body(self.parse(document), watched))
            except PageTimeout:
                body = structs.replace(placeholder_body(document), diagnostics=(self._too_long(document),))
        return body, trace_templates(lookups, templates, tools)

    def _with_record(self, body: Body) -> Body:
        """Return the body with its search record if the site has a search; otherwise unchanged."""
        assert self._context is not None, "`use_context` comes first"
        if not self._context.config.search:
            return body
        from ..site.search.page_record import make_record

        return structs.replace(body, search=make_record(body.html))

    def store_body(
        self,
        document: Document,
        body: Body,
        facts: object,
        lookups: Lookups,
        questions: tuple[Question, ...] = (),
    ) -> Body:
        """Store and return a body that was just rendered, with its queries to the site as `lookups` or
        `questions`."""
        # rendering may have parsed other pages, so the body belongs to the state after that
        state = (facts, self.fact_changes)
        self._bodies[str(document.path)] = _Rendered(document, body, lookups, state, questions)
        return body

    def _stored_body(self, document: Document, tools: SiteAccess) -> _Rendered | None:
        """Return the page as an earlier build rendered it, if it would still be the same; otherwise None."""
        found = self.table.body(document)
        if found is None:
            return None
        assert self._context is not None, "`use_context` comes first"
        made = _Rendered(document, found[0], {}, None, found[1])
        broken = made.changed_question(tools, self._context.root)
        if broken:
            self.reasons[str(document.path)] = f"{broken.title} has changed"
            return None
        return made

    def _too_long(self, document: Document) -> Diagnostic:
        assert self._limit_s is not None, "without a limit nothing takes too long"
        return page_slow_error(str(document.path), self._limit_s)

    def remove_others(self, paths: Collection[str]) -> None:
        """Drop documents that no longer exist."""
        for kept in (self._heads, self._known, self._bodies):
            for path in [path for path in kept if path not in paths]:
                del kept[path]
        self.table.keep_only(paths)


def page_slow_error(path: str, limit_s: float) -> Diagnostic:
    """Return the error for a page whose rendering takes too long."""
    message = f"rendering this page takes longer than {limit_s:g} s"
    return Diagnostic("page-slow", message, path, hint="search the page for text that is repeated many times")
