"""What is remembered from one look at the site to the next: documents, what they hold, their HTML.

Everything is kept with what it was made from and given out only while that is the same. Tokens are large and
not kept: a document that must be rendered again is parsed again.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import lru_cache

import msgspec
from markdown_it import MarkdownIt

from ..config.schema import Config
from ..diagnostics.model import Diagnostic
from ..hooks.calls import filter_document
from ..model.documents import Body, Document, PageFacts, Source
from ..project.context import SiteContext
from ..read.front_matter import read_document
from ..render.context import Tools
from ..render.html import render_body
from ..render.lexing import Lex, lex_in_time
from ..site.index import PageEntry, page_entry
from ..syntax.parser import Parsed, make_parser, parse_document
from ..syntax.state import ParseOptions
from ..tex.cache import cache_conversions
from ..tex.convert import Convert
from .placeholder import placeholder_body
from .time_limit import LIMIT_S, TookTooLong, time_limit
from .trace import Lookups, is_valid, trace_tools

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


class PageCache:
    """Belongs to one preview or one build, and is used by one thread."""

    def __init__(self, limit_s: float | None = LIMIT_S) -> None:
        """limit_s: how long the parsing or rendering of one page may take; None: as long as it likes."""
        self._limit_s = limit_s
        self._context: SiteContext | None = None
        self._md: MarkdownIt | None = None
        self._options: ParseOptions | None = None
        self._heads: dict[str, CachedHead] = {}
        self._known: dict[str, Known] = {}
        self._tokens: OrderedDict[str, Parsed] = OrderedDict()
        self._bodies: dict[str, _Rendered] = {}
        self.lex: Lex = lru_cache(LEXED)(lex_in_time)
        """As `lex_in_time`, once for each piece of code."""
        self.formula: Convert = cache_conversions(limit=FORMULAS)
        """As `convert_formula`, once for each formula under the same macros."""
        self.parsing_s = 0.0
        """Time spent on parsing so far."""
        self.entries = 0
        """Grows whenever what other pages can see of a page has changed."""

    @property
    def md(self) -> MarkdownIt:
        """The parser; made once, for it refers to itself, and many of them would wait to be collected."""
        assert self._md is not None, "`take` comes first"
        return self._md

    def take(self, context: SiteContext) -> None:
        """Work with these settings from now on; forget what others have made."""
        before = self._context
        self._context = context
        if before is None or self._md is None or before.options != context.options:
            self._options = context.options
            self._md = make_parser(self._options)
            self._known.clear()
            self._tokens.clear()
            self._bodies.clear()
        if before is not None:
            if _text_settings(before.config) != _text_settings(context.config):
                self._heads.clear()
                self._bodies.clear()
            if _templates(before) != _templates(context) or before.plugins != context.plugins:
                self._bodies.clear()
            if before.plugins.page_readers != context.plugins.page_readers:
                self._heads.clear()

    def document(self, source: Source, config: Config) -> tuple[Document, tuple[Diagnostic, ...]]:
        """As `read_document`; the same bytes give the same document, whenever they were read."""
        path = str(source.path)
        head = self._heads.get(path)
        if head is None or head.document.source.digest != source.digest:
            assert self._context is not None, "`take` comes first"
            document, found = read_document(source, config)
            document, more = filter_document(self._context.plugins, document)
            head = self._heads[path] = CachedHead(document, (*found, *more))
        return head.document, head.diagnostics

    def head_diagnostics(self, path: str) -> tuple[Diagnostic, ...]:
        """What is wrong with the front matter of a document that was read."""
        return self._heads[path].diagnostics

    def parse(self, document: Document) -> Parsed:
        """The document with its tokens."""
        path = str(document.path)
        found = self._tokens.get(path)
        if found is None or found.document is not document:
            assert self._md is not None and self._options is not None, "`take` comes first"
            started = time.perf_counter()
            found = parse_document(document, self._md, self._options)
            self.parsing_s += time.perf_counter() - started
            self._tokens[path] = found
            while len(self._tokens) > TOKENS:
                self._tokens.popitem(last=False)
        return found

    def facts_of(self, document: Document) -> Known:
        """What the document holds."""
        path = str(document.path)
        known = self._known.get(path)
        if known is None or known.facts.document is not document:
            parsed = self._parse_in_time(document)
            entry = page_entry(parsed)
            if known is None or known.entry != entry:
                self.entries += 1
            else:
                entry = known.entry
            known = self._known[path] = Known(parsed.facts, entry)
        return known

    def _parse_in_time(self, document: Document) -> Parsed:
        """The document with its tokens; without any, and with a message, if that takes too long."""
        try:
            with time_limit(self._limit_s):
                return self.parse(document)
        except TookTooLong:
            empty = self.parse(replace(document, body=""))
            slow = replace(empty, document=document, diagnostics=(self._too_long(document),))
            self._tokens[str(document.path)] = slow
            return slow

    def body(self, document: Document, tools: Tools, facts: object) -> Body:
        """The document's HTML, rendered if it must be.

        facts: equal only if nothing in the rest of the site has changed, as far as pages can see it.
        """
        path = str(document.path)
        made = self._bodies.get(path)
        facts = (facts, self.entries)
        is_made = made is not None and made.document is document
        if made and is_made and is_valid(made.lookups, tools, only_own=made.facts == facts):
            self._bodies[path] = replace(made, facts=facts)
            return made.body
        watched, lookups = trace_tools(tools)
        try:
            with time_limit(self._limit_s):
                body = render_body(self.parse(document), watched)
        except TookTooLong:
            body = replace(placeholder_body(document), diagnostics=(self._too_long(document),))
        # looking may have parsed other pages: what it saw is the state after that
        self._bodies[path] = _Rendered(document, body, lookups, (facts[0], self.entries))
        return body

    def _too_long(self, document: Document) -> Diagnostic:
        assert self._limit_s is not None, "without a limit nothing takes too long"
        return too_long(str(document.path), self._limit_s)

    def keep_only(self, paths: Collection[str]) -> None:
        """Forget documents that are gone."""
        for kept in (self._heads, self._known, self._bodies):
            for path in [path for path in kept if path not in paths]:
                del kept[path]


def too_long(path: str, limit_s: float) -> Diagnostic:
    """That a page is not made because that takes too long."""
    message = f"this page takes longer than {limit_s:g} s to make"
    return Diagnostic("page-slow", message, path, hint="look for text that was repeated many times")


def _text_settings(config: Config) -> Config:
    """The settings without those that do not reach the text of a page."""
    return msgspec.structs.replace(
        config, title="", description="", menu=(), theme_options={}, pagination=0, feeds=True, toc=True
    )


def _templates(context: SiteContext) -> object:
    """What the text of a page depends on in a theme: shortcodes, and what they may include or ask for."""
    files, shortcodes = context.theme.files, context.theme.shortcodes
    # `layouts/…`, and `paper/layouts/…`, which names that of one theme
    others = {
        name: file.text for name, file in files.templates.items() if "layouts" not in name.split("/")[:2]
    }
    texts = others.values()
    layouts = files.templates if any("layouts/" in text for text in texts) else None
    versions = {name: file.version for name, file in files.static.items()}
    return shortcodes, others, layouts, versions if any("asset(" in text for text in texts) else None
