"""Cache rows of pages: their heads, facts, bodies and lints.

What has no form outside a process, and what cannot be read, is as if it had never been put there.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo

import msgspec
from msgspec.structs import replace

from ..base.diagnostics.model import Diagnostic, SiteError
from ..base.storage.site_cache import Kind, NoRows, Row, Rows
from ..config.schema import Config, MathSettings
from ..lint.run import PageLint, lint_page, lint_site
from ..model.documents import Body, Document, FrontMatter, IncludedFile, PageFacts, Source, end_of
from ..model.scopes import FieldScope, scoped_fields
from ..model.texts import PageText, TextTrace, pack_text, packed_text, unpack_text
from ..project.context import SiteContext
from ..project.program import tools_digest
from ..render.fragments import unpack_fragments
from ..site.index import PageEntry
from .page_rows import (
    NotStorable,
    Question,
    decode_facts,
    decode_page,
    decode_row,
    digest_of,
    encode_facts,
    encode_page,
    encode_row,
    question,
)
from .trace import Lookups

if TYPE_CHECKING:
    from ..syntax.parser import Parsed


class PageKinds(NamedTuple):
    """Kinds of the rows that hold the bodies of pages: those of previews bear marks of lines."""

    page: Kind
    content: Kind


PLAIN = PageKinds("page", "content")
MARKED = PageKinds("marked page", "marked content")


class PageTable:
    """Belongs to one pipeline."""

    def __init__(self, rows: Rows, kinds: PageKinds = PLAIN) -> None:
        """kinds: `MARKED` for a preview, which runs for hours and so keeps the texts of pages in memory."""
        self._rows = rows
        self._kinds = kinds
        rows.load("head", "facts", kinds.page)
        self._deferred: dict[str, tuple[Document, Body, Lookups, bytes]] = {}
        self._key = ""
        """Names all that rows depend on, sources apart; empty: none are used."""
        self._root = Path()
        self.reasons: dict[str, str] = {}
        """Source path → why a page cannot be taken from here, as part of a sentence."""
        self.trace = TextTrace()
        """Notes which texts are read."""

    def use_context(self, context: SiteContext) -> None:
        """Work with these settings from now on."""
        self._root, self._key = context.root, ""
        if not isinstance(self._rows, NoRows):
            with suppress(NotStorable):
                self._key = context_key(context, self._rows.program)

    def close(self) -> None:
        """Give and keep nothing any more: in another process, rows are not to be touched."""
        self._rows, self._key = NoRows(), ""

    def head(self, source: Source, timezone: str) -> tuple[Document, tuple[Diagnostic, ...]] | None:
        """The document of a source, with what is wrong with its head."""
        data = self._data("head", source)
        return decode_head(data, source, timezone) if data else None

    def put_head(self, document: Document, found: tuple[Diagnostic, ...]) -> None:
        """Keep a document as it was read."""
        if self._key:
            with suppress(NotStorable):
                self._store_row("head", document.source, encode_head(document, found))

    def facts(self, document: Document) -> tuple[PageFacts, PageEntry] | None:
        """What a document holds."""
        data = self._data("facts", document.source, document.digest)
        return decode_facts(data, document) if data else None

    def put_facts(self, facts: PageFacts, entry: PageEntry) -> None:
        """Keep what a document holds."""
        if self._key:
            with suppress(NotStorable):
                self.put_encoded_facts(facts.document, encode_facts(facts, entry))

    def put_encoded_facts(self, document: Document, data: bytes) -> None:
        """The same, as another process has written it."""
        if self._key:
            self._store_row("facts", document.source, data, document.digest)

    def lint(self, document: Document, settings: str) -> bytes | None:
        """What `put_lint` was given. settings: names those that only lints see."""
        row = self._rows.get("lint", str(document.path)) if self._key else None
        return row.data if row and row.key == self._lint_key(document, settings) else None

    def put_lint(self, document: Document, settings: str, data: bytes) -> None:
        """Keep what lints have found in a page."""
        if self._key:
            self._rows.put("lint", str(document.path), Row(self._lint_key(document, settings), data))

    def body(self, document: Document) -> tuple[Body, tuple[Question, ...]] | None:
        """The body of a page, and what it asked of the site: it is right while the answers are the same."""
        path = str(document.path)
        if not self._key:
            return None
        row = self._rows.get(self._kinds.page, path)
        if row is None or row.key != self._row_key(document.digest):
            self.reasons[path] = _reason(row, document)
            return None
        found = self.decode_body(document, row.data)
        if found is None:
            self.reasons[path] = "what was kept of it is damaged"
        return found

    def decode_body(self, document: Document, data: bytes) -> tuple[Body, tuple[Question, ...]] | None:
        """The same, as `encode_body` wrote it; its content is read from here."""
        path = str(document.path)
        found = decode_page(data, self._root, partial(self._content, path))
        if found is None or self._kinds is PLAIN:
            return found
        body, questions = found
        digest = body.content.digest
        packed = self._packed(path, digest)
        if packed is None:
            return None
        return replace(body, content=self._held(path, digest, packed)), questions

    def fragments(self, document: Document) -> Mapping[bytes, str]:
        """Formulas and code of a page as it was made last, by this program under these settings.

        None in a preview, which remembers them itself.
        """
        path = str(document.path)
        if self._kinds is not PLAIN:
            return {}
        row = self._rows.get(self._kinds.page, path) if self._key else None
        if row is None or row.key.partition(" ")[2] != self._key:
            return {}
        content = self._rows.get(self._kinds.content, path)
        found = self.decode_body(document, row.data)
        # a page that could not be kept may have left its text
        if found is None or content is None or content.key != found[0].content.digest.hex():
            return {}
        return unpack_fragments(unpack_text(content.data))

    def encode_body(self, body: Body, lookups: Lookups) -> bytes:
        """A body with what it asked; NotStorable if something in it has no form outside a process."""
        asked = [question(one.name, one.arguments, one.answer, self._root) for one in lookups.values()]
        return encode_page(body, asked, self._root)

    def put_body(self, document: Document, body: Body, lookups: Lookups) -> Body:
        """Keep a body; gives it as it takes least memory."""
        packed = pack_text(body.content)
        if self._kinds is PLAIN:
            return self._put_body(document, body, lookups, packed)
        # a reader waits for the page that was saved: its rows are written in the next pause
        self._deferred[str(document.path)] = (document, body, lookups, packed)
        return replace(body, content=self._held(str(document.path), body.content.digest, packed))

    def write_deferred(self) -> None:
        """Keep the bodies of a preview that were made since this was called last."""
        while self._deferred:
            self._put_body(*self._deferred.popitem()[1])

    def _put_body(self, document: Document, body: Body, lookups: Lookups, packed: bytes) -> Body:
        body = self.put_content(document, body, packed)
        if self._key:
            with suppress(NotStorable):
                self.put_encoded_body(document, self.encode_body(body, lookups))
        return body

    def put_content(self, document: Document, body: Body, packed: bytes) -> Body:
        """Keep what `pack_text` gave for the content of a body; gives the body that reads it when asked."""
        path, digest = str(document.path), body.content.digest
        is_kept = self._key and self._rows.put(self._kinds.content, path, Row(digest.hex(), packed))
        if is_kept and self._kinds is PLAIN:
            return replace(body, content=self._content(path, digest))
        return replace(body, content=self._held(path, digest, packed))

    def put_encoded_body(self, document: Document, data: bytes) -> None:
        """Keep what `encode_body` gave."""
        if self._key:
            self._store_row(self._kinds.page, document.source, data, document.digest)

    def keep_only(self, paths: Collection[str]) -> None:
        """Forget documents that are gone."""
        for kind in ("head", "facts", "lint", *self._kinds):
            self._rows.keep_only(kind, paths)

    def _content(self, path: str, digest: bytes) -> PageText:
        def read() -> bytes:
            self.trace.note(path)
            packed = self._packed(path, digest)
            if packed is None:
                message = "another build of this site has replaced what was kept of this page"
                raise SiteError(Diagnostic("unreadable", message, path, hint="build again"))
            return packed

        return packed_text(digest, read)

    def _held(self, path: str, digest: bytes, packed: bytes) -> PageText:
        """A text that stays in memory, packed."""

        def read() -> bytes:
            self.trace.note(path)
            return packed

        return packed_text(digest, read)

    def _packed(self, path: str, digest: bytes) -> bytes | None:
        row = self._rows.get(self._kinds.content, path)
        return row.data if row and row.key == digest.hex() else None

    def _data(self, kind: Kind, source: Source, digest: str = "") -> bytes | None:
        row = self._rows.get(kind, str(source.path)) if self._key else None
        return row.data if row and row.key == self._row_key(digest or source.digest) else None

    def _store_row(self, kind: Kind, source: Source, data: bytes, digest: str = "") -> None:
        self._rows.put(kind, str(source.path), Row(self._row_key(digest or source.digest), data))

    def _lint_key(self, document: Document, settings: str) -> str:
        return f"{self._row_key(document.digest)} {settings}"

    def _row_key(self, digest: str) -> str:
        """digest: of a source, or of all that a document is made from."""
        return f"{digest} {self._key}"


def _reason(row: Row | None, document: Document) -> str:
    if row is None:
        return "nothing is kept of it"
    if row.key.partition(" ")[0] != document.digest:
        return (
            "its file, or one that it includes, has changed" if document.included else "its file has changed"
        )
    return "the settings, the theme, a plugin or the program has changed"


# What is kept of the head of a page: its front matter as it was read, and where the text begins.


class _Head(msgspec.Struct, frozen=True, array_like=True):
    front: FrontMatter
    """Without its moments: the format forgets in which time zone they were written."""
    date: str
    """Empty, ISO 8601 with an offset, or without one in the time zone of the site."""
    updated: str
    """As `date`."""
    publish_date: str
    expiry_date: str
    start: int
    """Characters in front of the body."""
    first_line: int
    diagnostics: tuple[Diagnostic, ...]
    included: tuple[str, ...] = ()
    """Names of files that the body may include."""


def encode_head(document: Document, found: tuple[Diagnostic, ...]) -> bytes:
    """A document whose body is the end of its source, with what is wrong with its head; else NotStorable."""
    front, text = document.front, document.source.text
    start = len(text) - len(document.body)
    if not text.endswith(document.body):
        raise NotStorable("the body is not as it was written")
    head = _Head(
        front=dataclasses.replace(front, date=None, updated=None, publish_date=None, expiry_date=None),
        date=_write_moment(front.date),
        updated=_write_moment(front.updated),
        publish_date=_write_moment(front.publish_date),
        expiry_date=_write_moment(front.expiry_date),
        start=start,
        first_line=document.first_line,
        diagnostics=found,
        included=tuple(document.included),
    )
    data = encode_row(head)
    kept = decode_row(data, _Head)
    # unknown keys may hold anything that YAML has, such as days, which would come back as texts
    if kept != head or repr(dict(kept.front.extra)) != repr(dict(front.extra)):
        raise NotStorable("a value of the front matter reads back as another one")
    return data


def decode_head(data: bytes, source: Source, timezone: str) -> tuple[Document, tuple[Diagnostic, ...]] | None:
    """What `encode_head` was given; None if these bytes hold nothing of the kind.

    Of files that the body includes it has the names alone.
    """
    found = decode_row(data, _Head)
    if found is None:
        return None
    try:
        front = dataclasses.replace(
            found.front,
            date=_read_moment(found.date, timezone),
            updated=_read_moment(found.updated, timezone),
            publish_date=_read_moment(found.publish_date, timezone),
            expiry_date=_read_moment(found.expiry_date, timezone),
        )
    except ValueError:
        return None
    included = dict.fromkeys(found.included, IncludedFile())
    document = Document(source, front, end_of(source, found.start), found.first_line, included)
    return document, found.diagnostics


def _write_moment(moment: dt.datetime | None) -> str:
    if moment is None:
        return ""
    return (moment.replace(tzinfo=None) if isinstance(moment.tzinfo, ZoneInfo) else moment).isoformat()


def _read_moment(text: str, timezone: str) -> dt.datetime | None:
    if not text:
        return None
    moment = dt.datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(timezone))


# What the text of pages depends on beside their sources and what they ask of the site.


_OURS = frozenset({".blogsmith", ".git", "_freeze", "node_modules", "__pycache__"})


def text_settings(config: Config) -> Mapping[str, object]:
    """The settings that reach the text of a page."""
    return {name: getattr(config, name) for name in scoped_fields(Config, FieldScope.PAGE)}


def text_theme(context: SiteContext) -> object:
    """What the text of every page depends on in a theme: which shortcodes there are, and words.

    What the shortcodes of one page load is traced while it is rendered, see `trace.py`.
    """
    return context.theme.shortcodes, context.theme.files.languages


def context_key(context: SiteContext, program: str) -> str:
    """Names all of this together; NotStorable if something in it has no form of its own.

    program: names the one that builds.
    """
    plugins, code = context.plugins, context.plugins.code
    own: object = None
    if code is not None:
        # what code of the site reads beside a page is not known: it may be any file, other posts apart
        own = (code.digests, list(_stamps(context.root, context.config.output)))
    return digest_of(
        program,
        text_settings(context.config),
        text_theme(context),
        own,
        sorted(plugins.installed.items()),
        tools_digest() if plugins.diagrams else "",
    ).hex()


def _stamps(root: Path, output: str) -> Iterator[str]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _OURS)
        if folder == str(root) and output in folders:
            folders.remove(output)
        for name in sorted(names):
            file = Path(folder, name)
            if name.endswith(".md"):
                continue
            try:
                status = file.stat()
            except OSError:
                continue
            yield f"{file.relative_to(root).as_posix()} {status.st_size} {status.st_mtime_ns} {status.st_ino}"


# What lints have found in pages, kept with the pages: a check parses only those that have changed.


def encode_lint(page: Parsed, math: MathSettings) -> bytes:
    """What lints find in a page, as a row."""
    return encode_row(lint_page(page, math))


class LintCache:
    """Belongs to one check."""

    def __init__(self, table: PageTable, context: SiteContext) -> None:
        self._table = table
        self._settings = context.settings
        self._math = context.config.math
        # of two macros that mean the same the first one is named
        names = [list(self._math.macros.items()), list(self._math.symbols.items())]
        self._key = digest_of(names).hex()
        self._pages: dict[str, PageLint] = {}

    def is_known(self, document: Document) -> bool:
        """Whether nothing need be parsed to tell what is doubtful in a page."""
        if str(document.path) in self._pages:
            return True
        data = self._table.lint(document, self._key)
        return data is not None and self._restore(document, data)

    def add(self, page: Parsed) -> None:
        """Look at a page."""
        self.put_encoded(page.document, self.encode(page))

    def encode(self, page: Parsed) -> bytes:
        """What is found in a page, for the process that keeps it."""
        return encode_lint(page, self._math)

    def put_encoded(self, document: Document, data: bytes) -> None:
        """Keep what `encode` gave."""
        if self._restore(document, data):
            self._table.put_lint(document, self._key, data)

    def _restore(self, document: Document, data: bytes) -> bool:
        found = decode_row(data, PageLint)
        if found is not None:
            self._pages[str(document.path)] = found
        return found is not None

    def report(self, documents: Iterable[Document], waiting: Iterable[Document]) -> list[Diagnostic]:
        """What is doubtful in the site, once all its pages are known. waiting: those that are left out."""
        documents = list(documents)
        pages = [self._pages[str(document.path)] for document in documents]
        return lint_site(pages, documents, (document.source.text for document in waiting), self._settings)
