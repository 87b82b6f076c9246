"""Pages as rows: what a build starts from, and what it leaves to the next one.

What has no form outside a process, and what cannot be read, is as if it had never been put there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from ...base.diagnostics.model import Diagnostic, SiteError
from ...model.documents import Body, Document, PageFacts, Source
from ...model.texts import PageText, TextTrace, pack_text, packed_text, unpack_text
from ...project.context import SiteContext
from ...render.fragments import unpack_fragments
from ...site.index import PageEntry
from .head_rows import decode_head, encode_head
from .page_keys import context_key
from .page_rows import (
    NotStorable,
    Question,
    decode_entry,
    decode_facts,
    decode_page,
    encode_facts,
    encode_page,
    question,
)
from .row_store import TEXT, NoRows, Row, RowStore
from .trace import Lookups

_KINDS = ("head", "facts", "page", "lint", TEXT)


RowKind = Literal["head", "facts", "page"]


class PageTable:
    """Belongs to one pipeline."""

    def __init__(self, rows: RowStore) -> None:
        self._rows = rows
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

    def entry(self, path: str) -> PageEntry | None:
        """What others know of a page of the last build, whatever its source is now. path: of its source."""
        row = self._rows.get("facts", path)
        return decode_entry(row.data) if row else None

    def row(self, kind: RowKind, path: str) -> bytes:
        """What is kept of a page of the last build; empty if there is nothing."""
        row = self._rows.get(kind, path)
        return row.data if row else b""

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
        row = self._rows.get("page", path)
        if row is None or row.key != self._row_key(document.digest):
            self.reasons[path] = _reason(row, document)
            return None
        found = self.decode_body(document, row.data)
        if found is None:
            self.reasons[path] = "what was kept of it is damaged"
        return found

    def decode_body(self, document: Document, data: bytes) -> tuple[Body, tuple[Question, ...]] | None:
        """The same, as `encode_body` wrote it; its content is read from here."""
        return decode_page(data, self._root, partial(self._content, str(document.path)))

    def fragments(self, document: Document) -> Mapping[bytes, str]:
        """Formulas and code of a page as it was made last, by this program under these settings."""
        path = str(document.path)
        row = self._rows.get("page", path) if self._key else None
        if row is None or row.key.partition(" ")[2] != self._key:
            return {}
        content = self._rows.get(TEXT, path)
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
        body = self.put_content(document, body, pack_text(body.content))
        if self._key:
            with suppress(NotStorable):
                self.put_encoded_body(document, self.encode_body(body, lookups))
        return body

    def put_content(self, document: Document, body: Body, packed: bytes) -> Body:
        """Keep what `pack_text` gave for the content of a body; gives the body that reads it when asked."""
        path, digest = str(document.path), body.content.digest
        if self._key and self._rows.put(TEXT, path, Row(digest.hex(), packed)):
            return replace(body, content=self._content(path, digest))
        return replace(body, content=packed_text(digest, lambda: packed))

    def put_encoded_body(self, document: Document, data: bytes) -> None:
        """Keep what `encode_body` gave."""
        if self._key:
            self._store_row("page", document.source, data, document.digest)

    def keep_only(self, paths: Collection[str]) -> None:
        """Forget documents that are gone."""
        for kind in _KINDS:
            self._rows.keep_only(kind, paths)

    def _content(self, path: str, digest: bytes) -> PageText:
        rows = self._rows

        def read() -> bytes:
            self.trace.note(path)
            row = rows.get(TEXT, path)
            if row is None or row.key != digest.hex():
                message = "what was kept of this page cannot be read any more"
                hint = "run `blogsmith clean`, then build again"
                raise SiteError(Diagnostic("unreadable", message, path, hint=hint))
            return row.data

        return packed_text(digest, read)

    def _data(self, kind: str, source: Source, digest: str = "") -> bytes | None:
        row = self._rows.get(kind, str(source.path)) if self._key else None
        return row.data if row and row.key == self._row_key(digest or source.digest) else None

    def _store_row(self, kind: str, source: Source, data: bytes, digest: str = "") -> None:
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
