"""What is remembered from one look at the site to the next: documents, what they hold, their HTML.

A preview remembers in memory, a build in rows on disk.

Everything is kept with what it was made from and given out only while that is the same. Tokens are large and
not kept: a document that must be rendered again is parsed again.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from ..base.diagnostics.model import Diagnostic
from ..base.storage.site_cache import NoRows, Rows
from ..base.timeout import LIMIT_S, TookTooLong, time_limit
from ..config.schema import Config
from ..hooks.calls import filter_document
from ..model.documents import Body, Document, IncludedFile, PageFacts, Source
from ..model.texts import NO_TEXT
from ..project.context import SiteContext
from ..read.front_matter import read_document
from ..read.included_files import included_names, read_included
from ..render.converters import ForeignConvert, convert_foreign
from ..render.lexing import Lex, lex_in_time
from ..render.tools import Tools
from ..rows.file_rows import ImageSizes
from ..rows.page_rows import Question
from ..rows.page_table import PLAIN, PageKinds, PageTable, text_settings, text_theme
from ..rows.trace import OWN, Lookups, is_valid, trace_templates, trace_tools
from ..site.index import PageEntry, page_entry
from ..tex.cache import cache_conversions

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

    from ..syntax.parser import Parsed
    from ..syntax.state import ParseOptions

# What stands for a page whose text is not known yet: what its front matter says.


def placeholder_body(document: Document) -> Body:
    """A body without content, for lists and neighbours."""
    front, path = document.front, document.path
    stem = path.stem.removesuffix(f".{front.lang}")
    name = path.parent.name if stem in ("index", "_index") else stem
    title = front.title or name.replace("-", " ").replace("_", " ").capitalize()
    return Body(
        content=NO_TEXT,
        title_html=escape(title, quote=False),
        title_text=title,
        description_html=escape(front.description, quote=False),
        description_text=front.description,
    )


TOKENS = 8
"""Documents whose tokens are kept for a moment: those of a page that is about to be rendered."""
LEXED = 512
"""Pieces of code whose colours are remembered."""
FORMULAS = 2_000
"""Formulas whose MathML is remembered: those of the pages that were edited last, and more."""


@dataclass(frozen=True, slots=True)
class CachedHead:
    """A source with its front matter read."""

    document: Document
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """What a document holds, whatever the rest of the site is."""

    facts: PageFacts
    entry: PageEntry


@dataclass(frozen=True, slots=True)
class _Rendered:
    document: Document
    body: Body
    lookups: Lookups
    facts: object
    """The state of the rest of the site under which the lookups were last seen to hold."""
    questions: tuple[Question, ...] = ()
    """In place of the lookups, of a page that an earlier build made."""

    def broken_question(self, tools: Tools, root: Path, *, only_own: bool = False) -> Question | None:
        """The first question whose answer is another one now. only_own: as in `is_valid`."""
        asked = (one for one in self.questions if not only_own or one.name in OWN)
        return next((one for one in asked if not one.holds(tools, self.document, root)), None)

    def is_valid(self, tools: Tools, root: Path, *, only_own: bool) -> bool:
        """Whether all that the page asked has the same answers now. only_own: as in the function."""
        if not is_valid(self.lookups, tools, only_own=only_own):
            return False
        return self.broken_question(tools, root, only_own=only_own) is None


class UnknownPage(BaseException):
    """A page asks for what another one holds, and that is not known yet; not to be caught on the way."""


class PageCache:
    """Belongs to one preview or one build, and is used by one thread."""

    def __init__(
        self,
        limit_s: float | None = LIMIT_S,
        rows: Rows | None = None,
        is_urgent: Callable[[], bool] | None = None,
        kinds: PageKinds = PLAIN,
    ) -> None:
        """limit_s, is_urgent: of the parsing or rendering of one page, as in `time_limit`.

        rows: of earlier runs; None: there is nothing to start from, and nothing is kept. kinds: of the rows
        of bodies.
        """
        self.rows = rows or NoRows()
        self.table = PageTable(self.rows, kinds)
        self.images = ImageSizes(self.rows)
        self.asks_others = False
        """Documents that are not known are not parsed: another process does it."""
        self._limit_s, self._is_urgent = limit_s, is_urgent
        self._context: SiteContext | None = None
        self._md: MarkdownIt | None = None
        self._options: ParseOptions | None = None
        self._heads: dict[str, CachedHead] = {}
        self._known: dict[str, Known] = {}
        self._tokens: OrderedDict[str, Parsed] = OrderedDict()
        self._bodies: dict[str, _Rendered] = {}
        self.lex: Lex = lru_cache(LEXED)(lex_in_time)
        """As `lex_in_time`, once for each piece of code."""
        self.formula = cache_conversions(limit=FORMULAS)
        """As `convert_formula`, once for each formula under the same macros."""
        self.foreign: ForeignConvert = lru_cache(FORMULAS)(convert_foreign)
        """As `convert_foreign`, once for each formula."""
        self.parsing_s = 0.0
        """Time spent on parsing so far."""
        self.entries = 0
        """Grows whenever what other pages can see of a page has changed."""

    @property
    def reasons(self) -> dict[str, str]:
        """As in `PageTable`."""
        return self.table.reasons

    def parser(self) -> MarkdownIt:
        """The parser; made once, for it refers to itself, and many of them would wait to be collected."""
        if self._md is None:
            assert self._options is not None, "`use_context` comes first"
            # where all pages are known, none is parsed
            from ..syntax.parser import make_parser

            self._md = make_parser(self._options)
        return self._md

    def prepare(self) -> None:
        """Import and make what pages are made with, for processes that are about to be forked."""
        from ..render import html  # noqa: F401

        self.parser()

    def use_context(self, context: SiteContext) -> None:
        """Work with these settings from now on; forget what others have made."""
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
        """As `read_document`; the same bytes give the same document, whenever they were read."""
        path = str(source.path)
        head = self._heads.get(path)
        if head is None or head.document.source.digest != source.digest:
            head = self._heads[path] = self._stored_head(source, config) or self._new_head(source, config)
        if head.document.included:
            head = self._heads[path] = self._with_included(head, config)
        return head.document, head.diagnostics

    def _with_included(self, head: CachedHead, config: Config) -> CachedHead:
        """The document with the files that it includes as they are now; itself if nothing has changed."""
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
        if names := included_names(document.body):
            document = replace(document, included=dict.fromkeys(names, IncludedFile()))
        head = CachedHead(document, (*found, *more))
        if document.source is source:
            self.table.put_head(document, head.diagnostics)
        return head

    def head_diagnostics(self, path: str) -> tuple[Diagnostic, ...]:
        """What is wrong with the front matter of a document that was read."""
        return self._heads[path].diagnostics

    def parse(self, document: Document) -> Parsed:
        """The document with its tokens."""
        path = str(document.path)
        found = self._tokens.get(path)
        if found is None or found.document is not document:
            assert self._options is not None, "`use_context` comes first"
            from ..syntax.parser import parse_document

            md, started = self.parser(), time.perf_counter()
            found = parse_document(document, md, self._options)
            self.parsing_s += time.perf_counter() - started
            self.keep_tokens(found)
        return found

    def kept_tokens(self, document: Document) -> Parsed | None:
        """The document with its tokens, if it was parsed just now."""
        found = self._tokens.get(str(document.path))
        return found if found and found.document is document else None

    def keep_tokens(self, parsed: Parsed) -> None:
        """The document is about to be rendered."""
        self._tokens[str(parsed.document.path)] = parsed
        while len(self._tokens) > TOKENS:
            self._tokens.popitem(last=False)

    def facts_of(self, document: Document) -> Known:
        """What the document holds; UnknownPage if that is not known, and is to be asked of others."""
        path = str(document.path)
        known = self._known.get(path)
        if known is None or known.facts.document is not document:
            if self.asks_others:
                raise UnknownPage
            facts, entry = self.table.facts(document) or self._new_facts(document)
            known = self.take_facts(facts, entry)
        return known

    def has_facts(self, document: Document) -> bool:
        """Whether what the document holds is known without parsing it."""
        path = str(document.path)
        known = self._known.get(path)
        if known is None or known.facts.document is not document:
            found = self.table.facts(document)
            if found is None:
                return False
            self.take_facts(*found)
        return True

    def take_facts(self, facts: PageFacts, entry: PageEntry) -> Known:
        """What a document holds, as it was found out just now."""
        path = str(facts.document.path)
        known = self._known.get(path)
        if known is None or known.entry != entry:
            self.entries += 1
        else:
            entry = known.entry
        known = self._known[path] = Known(facts, entry)
        return known

    def _new_facts(self, document: Document) -> tuple[PageFacts, PageEntry]:
        parsed = self.parse_in_time(document)
        facts, entry = parsed.facts, page_entry(parsed)
        self.table.put_facts(facts, entry)
        return facts, entry

    def parse_in_time(self, document: Document) -> Parsed:
        """The document with its tokens; without any, and with a message, if that takes too long."""
        try:
            with time_limit(self._limit_s, self._is_urgent):
                return self.parse(document)
        except TookTooLong:
            empty = self.parse(replace(document, body=""))
            slow = structs.replace(empty, document=document, diagnostics=(self._too_long(document),))
            self._tokens[str(document.path)] = slow
            return slow

    def body(self, document: Document, tools: Tools, facts: object) -> Body:
        """The document's HTML, rendered if it must be.

        facts: equal only if nothing in the rest of the site has changed, as far as pages can see it.
        """
        known = self.known_body(document, tools, facts)
        if known:
            return known
        body, lookups = self.render(document, tools)
        return self.take_body(document, self.table.put_body(document, body, lookups), facts, lookups)

    def known_body(self, document: Document, tools: Tools, facts: object) -> Body | None:
        """The same, if nothing need be rendered for it."""
        path = str(document.path)
        made = self._bodies.get(path)
        facts = (facts, self.entries)
        assert self._context is not None, "`use_context` comes first"
        if made is None or made.document is not document:
            made = self._stored_body(document, tools)
        elif not made.is_valid(tools, self._context.root, only_own=made.facts == facts):
            made = None
        if made is None:
            return None
        self._bodies[path] = replace(made, facts=facts)
        return made.body

    def render(self, document: Document, tools: Tools) -> tuple[Body, Lookups]:
        """The document's HTML, made anew, and what it asked of the site."""
        from ..render.html import render_body

        watched, lookups = trace_tools(tools)
        watched = structs.replace(watched, kept=self.table.fragments(document))
        assert self._context is not None, "`use_context` comes first"
        with self._context.theme.watch_templates() as templates:
            try:
                with time_limit(self._limit_s, self._is_urgent):
                    body = self._with_record(render_body(self.parse(document), watched))
            except TookTooLong:
                body = structs.replace(placeholder_body(document), diagnostics=(self._too_long(document),))
        return body, trace_templates(lookups, templates, tools)

    def _with_record(self, body: Body) -> Body:
        """The body with what search knows of it, if the site has a search."""
        assert self._context is not None, "`use_context` comes first"
        if not self._context.config.search:
            return body
        from ..site.search.page_record import make_record

        return structs.replace(body, search=make_record(body.html))

    def take_body(
        self,
        document: Document,
        body: Body,
        facts: object,
        lookups: Lookups,
        questions: tuple[Question, ...] = (),
    ) -> Body:
        """A body that was rendered just now, with what it asked of the site in one form or the other."""
        # looking may have parsed other pages: what it saw is the state after that
        state = (facts, self.entries)
        self._bodies[str(document.path)] = _Rendered(document, body, lookups, state, questions)
        return body

    def _stored_body(self, document: Document, tools: Tools) -> _Rendered | None:
        """The page as an earlier build made it, if it would be the same now."""
        found = self.table.body(document)
        if found is None:
            return None
        assert self._context is not None, "`use_context` comes first"
        made = _Rendered(document, found[0], {}, None, found[1])
        broken = made.broken_question(tools, self._context.root)
        if broken:
            self.reasons[str(document.path)] = f"the site answers anew: {broken.title}"
            return None
        return made

    def _too_long(self, document: Document) -> Diagnostic:
        assert self._limit_s is not None, "without a limit nothing takes too long"
        return too_long(str(document.path), self._limit_s)

    def keep_only(self, paths: Collection[str]) -> None:
        """Forget documents that are gone."""
        for kept in (self._heads, self._known, self._bodies):
            for path in [path for path in kept if path not in paths]:
                del kept[path]
        self.table.keep_only(paths)


def too_long(path: str, limit_s: float) -> Diagnostic:
    """That a page is not made because that takes too long."""
    message = f"this page takes longer than {limit_s:g} s to make"
    return Diagnostic("page-slow", message, path, hint="look for text that was repeated many times")
