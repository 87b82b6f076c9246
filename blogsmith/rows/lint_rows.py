"""What lints have found in pages, kept with the pages: a check parses only those that have changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..base.diagnostics.model import Diagnostic
from ..config.schema import MathSettings
from ..lint.run import PageLint, lint_page, lint_site
from ..model.documents import Document
from ..project.context import SiteContext
from .page_rows import decode_row, digest_of, encode_row
from .page_table import PageTable

if TYPE_CHECKING:
    from ..syntax.parser import Parsed


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
