"""Cache rows of pages: their front matter, facts, bodies and lint warnings.

If a record cannot be encoded or decoded, the row counts as missing.
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
from ..base.storage.site_cache import CacheInterface, Kind, NullCache, Row
from ..config.schema import Config, MathSettings
from ..lint.run import PageLint, lint_page, lint_site
from ..model.documents import Body, Document, FrontMatter, IncludedFile, PageFacts, Source, read_end_later
from ..model.scopes import FieldScope, scoped_fields
from ..model.texts import PageText, TextTrace, compress_text, decompress_text, lazy_text
from ..project.context import SiteContext
from ..project.program import tools_digest
from ..render.fragments import unpack_fragments
from ..site.index import PageEntry
from ..tex.parse.macros import read_macros
from .page_rows import (
    EncodingError,
    Question,
    decode_facts,
    decode_page,
    decode_row,
    digest_values,
    encode_facts,
    encode_page,
    encode_row,
    question,
)
from .trace import Lookups

if TYPE_CHECKING:
    from ..syntax.parser import Parsed


class PageKinds(NamedTuple):
    """Kinds of the rows for bodies. Previews use other kinds than builds, because their HTML contains line
    markers."""

    page: Kind
    content: Kind


PLAIN = PageKinds("page", "content")
MARKED = PageKinds("marked page", "marked content")


class PageTable:
    """Cache of the rows of pages, for one build or one preview."""

    def __init__(self, rows: CacheInterface, kinds: PageKinds = PLAIN) -> None:
        """Prepare the table. kinds: `MARKED` for a preview, which runs for hours and therefore keeps the
        content of pages in memory."""
        self._rows = rows
        self._kinds = kinds
        rows.load("head", "facts", kinds.page)
        self._deferred: dict[str, tuple[Document, Body, Lookups, bytes]] = {}
        self._key = ""
        """Digest of everything that rows depend on, except for sources; empty if the cache is not used."""
        self._root = Path()
        self.reasons: dict[str, str] = {}
        """Source path → reason, as part of a sentence, why the page could not be taken from the cache."""
        self.trace = TextTrace()
        """Recorder of the pages whose content is read."""

    def use_context(self, context: SiteContext) -> None:
        """Use these settings from now on."""
        self._root, self._key = context.root, ""
        if not isinstance(self._rows, NullCache):
            with suppress(EncodingError):
                self._key = context_key(context, self._rows.program)

    def close(self) -> None:
        """Stop reading and writing rows. Called in other processes, which must not access them."""
        self._rows, self._key = NullCache(), ""

    def head(self, source: Source, timezone: str) -> tuple[Document, tuple[Diagnostic, ...]] | None:
        """Return the document of a source, and the diagnostics about its front matter; None if it is not
        cached."""
        data = self._data("head", source)
        return decode_head(data, source, timezone) if data else None

    def put_head(self, document: Document, found: tuple[Diagnostic, ...]) -> None:
        """Store a document and the diagnostics about its front matter."""
        if self._key:
            with suppress(EncodingError):
                self._store_row("head", document.source, encode_head(document, found))

    def facts(self, document: Document) -> tuple[PageFacts, PageEntry] | None:
        """Return the facts of a document and its entry in the site index; None if they are not cached."""
        data = self._data("facts", document.source, document.digest)
        return decode_facts(data, document) if data else None

    def put_facts(self, facts: PageFacts, entry: PageEntry) -> None:
        """Store the facts of a document."""
        if self._key:
            with suppress(EncodingError):
                self.put_encoded_facts(facts.document, encode_facts(facts, entry))

    def put_encoded_facts(self, document: Document, data: bytes) -> None:
        """Store facts of a document that another process has encoded."""
        if self._key:
            self._store_row("facts", document.source, data, document.digest)

    def lint(self, document: Document, settings: str) -> bytes | None:
        """Return the encoded lint warnings of a page, or None if they are not cached. settings: digest of the
        settings that affect lint warnings only."""
        row = self._rows.get("lint", str(document.path)) if self._key else None
        return row.data if row and row.key == self._lint_key(document, settings) else None

    def put_lint(self, document: Document, settings: str, data: bytes) -> None:
        """Store the lint warnings of a page."""
        if self._key:
            self._rows.put("lint", str(document.path), Row(self._lint_key(document, settings), data))

    def body(self, document: Document) -> tuple[Body, tuple[Question, ...]] | None:
        """Return the body of a page and the questions that it asked the site. Return None if the body is not
        cached, or if an answer has changed."""
        path = str(document.path)
        if not self._key:
            return None
        row = self._rows.get(self._kinds.page, path)
        if row is None or row.key != self._row_key(document.digest):
            self.reasons[path] = _reason(row, document)
            return None
        found = self.decode_body(document, row.data)
        if found is None:
            self.reasons[path] = "its cached data is damaged"
        return found

    def decode_body(self, document: Document, data: bytes) -> tuple[Body, tuple[Question, ...]] | None:
        """Return the body that `encode_body` encoded, or None. Its content is read from the cache when
        needed."""
        path = str(document.path)
        found = decode_page(data, self._root, partial(self._content, path))
        if found is None or self._kinds is PLAIN:
            return found
        body, questions = found
        digest = body.content.digest
        packed = self._packed(path, digest)
        if packed is None:
            return None
        return replace(body, content=self._content_in_memory(path, digest, packed)), questions

    def fragments(self, document: Document) -> Mapping[bytes, str]:
        """Return the formulas and code that the page had when it was last rendered, if program and settings
        are unchanged. Empty in a preview, which keeps them in memory."""
        path = str(document.path)
        if self._kinds is not PLAIN:
            return {}
        row = self._rows.get(self._kinds.page, path) if self._key else None
        if row is None or row.key.partition(" ")[2] != self._key:
            return {}
        content = self._rows.get(self._kinds.content, path)
        found = self.decode_body(document, row.data)
        # if a page could not be stored, its content may still be in the cache
        if found is None or content is None or content.key != found[0].content.digest.hex():
            return {}
        return unpack_fragments(decompress_text(content.data))

    def encode_body(self, body: Body, lookups: Lookups) -> bytes:
        """Encode a body with its questions. EncodingError if a part of it cannot be encoded."""
        asked = [question(one.name, one.arguments, one.answer, self._root) for one in lookups.values()]
        return encode_page(body, asked, self._root)

    def put_body(self, document: Document, body: Body, lookups: Lookups) -> Body:
        """Store a body. Return it in the form that needs the least memory."""
        packed = compress_text(body.content)
        if self._kinds is PLAIN:
            return self._put_body(document, body, lookups, packed)
        # the author waits for the saved page, so the preview writes its rows in the next pause
        self._deferred[str(document.path)] = (document, body, lookups, packed)
        return replace(body, content=self._content_in_memory(str(document.path), body.content.digest, packed))

    def write_deferred(self) -> None:
        """Store the bodies that a preview rendered since the last call."""
        while self._deferred:
            self._put_body(*self._deferred.popitem()[1])

    def _put_body(self, document: Document, body: Body, lookups: Lookups, packed: bytes) -> Body:
        body = self.put_content(document, body, packed)
        if self._key:
            with suppress(EncodingError):
                self.put_encoded_body(document, self.encode_body(body, lookups))
        return body

    def put_content(self, document: Document, body: Body, packed: bytes) -> Body:
        """Store compressed content from `compress_text`. Return the body with content that is read when
        needed."""
        path, digest = str(document.path), body.content.digest
        is_kept = self._key and self._rows.put(self._kinds.content, path, Row(digest.hex(), packed))
        if is_kept and self._kinds is PLAIN:
            return replace(body, content=self._content(path, digest))
        return replace(body, content=self._content_in_memory(path, digest, packed))

    def put_encoded_body(self, document: Document, data: bytes) -> None:
        """Store the result of `encode_body` of another process."""
        if self._key:
            self._store_row(self._kinds.page, document.source, data, document.digest)

    def keep_only(self, paths: Collection[str]) -> None:
        """Drop the rows of documents that no longer exist. paths: source paths of all documents."""
        for kind in ("head", "facts", "lint", *self._kinds):
            self._rows.remove_others(kind, paths)

    def _content(self, path: str, digest: bytes) -> PageText:
        def read() -> bytes:
            self.trace.record(path)
            packed = self._packed(path, digest)
            if packed is None:
                message = "another build of this site has replaced the cached data of this page"
                raise SiteError(Diagnostic("unreadable", message, path, hint="run the build again"))
            return packed

        return lazy_text(digest, read)

    def _content_in_memory(self, path: str, digest: bytes, packed: bytes) -> PageText:
        """Return content that stays in memory, compressed."""

        def read() -> bytes:
            self.trace.record(path)
            return packed

        return lazy_text(digest, read)

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
        """Return the key of a row. digest: digest of a source, or of everything that a document is made
        from."""
        return f"{digest} {self._key}"


def _reason(row: Row | None, document: Document) -> str:
    if row is None:
        return "it is not in the cache"
    if row.key.partition(" ")[0] != document.digest:
        return (
            "its file, or one that it includes, has changed" if document.included else "its file has changed"
        )
    return "the settings, the theme, a plugin or blogsmith has changed"


# The cached form of front matter, with the position in the source where the body begins.


class _Head(msgspec.Struct, frozen=True, array_like=True):
    front: FrontMatter
    """Front matter without dates, because the format loses their time zones."""
    date: str
    """Date of the page in ISO 8601: without an offset if it is in the time zone of the site, otherwise with
    an offset. Empty if the page has no date."""
    updated: str
    """Date of the last change, in the form of `date`."""
    publish_date: str
    expiry_date: str
    start: int
    """Number of characters of the source before the body."""
    first_line: int
    diagnostics: tuple[Diagnostic, ...]
    included: tuple[str, ...] = ()
    """Names of files that the body may include."""


def encode_head(document: Document, found: tuple[Diagnostic, ...]) -> bytes:
    """Encode a document with the diagnostics about its front matter. EncodingError if its body is not the end
    of its source, or if decoding would change a value."""
    front, text = document.front, document.source.text
    start = len(text) - len(document.body)
    if not text.endswith(document.body):
        raise EncodingError("the body is not the end of the source")
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
    # unknown keys may have any YAML value, and some, such as dates, would be decoded as strings
    if kept != head or repr(dict(kept.front.extra)) != repr(dict(front.extra)):
        raise EncodingError("a value of the front matter changes when it is decoded")
    return data


def decode_head(data: bytes, source: Source, timezone: str) -> tuple[Document, tuple[Diagnostic, ...]] | None:
    """Return the document that `encode_head` encoded, or None if the data is invalid. Its included files have
    names only."""
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
    document = Document(source, front, read_end_later(source, found.start), found.first_line, included)
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


# Everything that the HTML of pages depends on, except for their sources and their questions to the site.


_IGNORED_FOLDERS = frozenset({".blogsmith", ".git", "_freeze", "node_modules", "__pycache__"})


def text_settings(config: Config) -> Mapping[str, object]:
    """Return the settings that affect the HTML of pages."""
    found = {name: getattr(config, name) for name in scoped_fields(Config, FieldScope.PAGE)}
    return {**found, "preamble": read_macros(config.math.macros).files}


def text_theme(context: SiteContext) -> object:
    """Return the parts of a theme that affect every page: the names of its shortcodes, and its translations.
    The templates of the shortcodes that a page uses are recorded when it is rendered (see `trace.py`)."""
    return context.theme.shortcodes, context.theme.files.languages


def context_key(context: SiteContext, program: str) -> str:
    """Return a digest of the settings, theme, plugins and programs that affect the HTML of pages.
    EncodingError if one of them cannot be encoded. program: digest of the running program."""
    plugins, code = context.plugins, context.plugins.code
    own: object = None
    if code is not None:
        # plugins of the site may read any file except other posts
        own = (code.digests, list(_stamps(context.root, context.config.output)))
    return digest_values(
        program,
        text_settings(context.config),
        text_theme(context),
        own,
        sorted(plugins.installed.items()),
        tools_digest() if plugins.diagrams or plugins.cell_outputs else "",
    ).hex()


def _stamps(root: Path, output: str) -> Iterator[str]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _IGNORED_FOLDERS)
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


# Lint warnings are cached with the pages, so that a check parses only pages that have changed.


def encode_lint(page: Parsed, math: MathSettings) -> bytes:
    """Encode the lint warnings of a page."""
    return encode_row(lint_page(page, math))


class LintCache:
    """The lint warnings of all pages, for one check."""

    def __init__(self, table: PageTable, context: SiteContext) -> None:
        self._table = table
        self._settings = context.settings
        self._macro_warnings = context.macro_files.passed_over
        self._math = context.config.math
        # in this order, because a warning about two equal macros names the first
        names = [list(self._math.macros.items()), list(self._math.symbols.items())]
        self._key = digest_values(names).hex()
        self._pages: dict[str, PageLint] = {}

    def is_known(self, document: Document) -> bool:
        """Return whether the lint warnings of a page are cached, so that it need not be parsed."""
        if str(document.path) in self._pages:
            return True
        data = self._table.lint(document, self._key)
        return data is not None and self._restore(document, data)

    def add(self, page: Parsed) -> None:
        """Lint a page and store the results."""
        self.put_encoded(page.document, self.encode(page))

    def encode(self, page: Parsed) -> bytes:
        """Encode the lint warnings of a page, in a process that cannot store them itself."""
        return encode_lint(page, self._math)

    def put_encoded(self, document: Document, data: bytes) -> None:
        """Store the result of `encode` of another process."""
        if self._restore(document, data):
            self._table.put_lint(document, self._key, data)

    def _restore(self, document: Document, data: bytes) -> bool:
        found = decode_row(data, PageLint)
        if found is not None:
            self._pages[str(document.path)] = found
        return found is not None

    def report(self, documents: Iterable[Document], waiting: Iterable[Document]) -> list[Diagnostic]:
        """Return all lint warnings of the site. waiting: documents that are not built, such as drafts."""
        documents = list(documents)
        pages = [self._pages[str(document.path)] for document in documents]
        texts = (document.source.text for document in waiting)
        return [*lint_site(pages, documents, texts, self._settings), *self._macro_warnings]
