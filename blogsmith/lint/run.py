"""Every lint over every page: parsed pages in, warnings out; a build does not run it.

A lint takes what it needs of a page and reports at the author's place. To add one: a file beside
this one, a row in `diagnostics/codes.py`, a call here. Pages come one after another, and no tokens are kept.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..config.load import CONFIG_NAME, LoadedConfig
from ..diagnostics.model import Diagnostic, Reporter
from ..model.documents import Document
from ..syntax.parser import Parsed
from .dollars import report_dollars
from .labels import references_in, report_labels
from .macros import MacroUse, macro_use, report_page_macros, report_site_macros
from .notation import notation, report_notation
from .pages import formulas_of


class SiteLint:
    """What is doubtful in the pages of a site and in its settings."""

    def __init__(
        self, documents: Iterable[Document], waiting: Iterable[Document], settings: LoadedConfig
    ) -> None:
        """documents: those of the pages that will be added.

        waiting: drafts and posts of the future; nothing is said of them, but they may use what others
        declare.
        """
        self._settings = settings
        self._waiting = [document.source.text for document in waiting]
        texts = (*(document.source.text for document in documents), *self._waiting)
        self._linked = {name for text in texts for name in references_in(text).elsewhere}
        self._uses: list[MacroUse] = []

    def add(self, page: Parsed) -> list[Diagnostic]:
        """What is doubtful in one page."""
        source, front, math = page.document.source, page.document.front, self._settings.config.math
        reporter = Reporter(str(source.path), source.text.split("\n"))
        formulas = formulas_of(page)
        use = macro_use(source.text, front, formulas)
        self._uses.append(use)
        report_dollars(page.tokens, reporter)
        report_labels(page.labels.values(), references_in(source.text), self._linked, reporter)
        report_page_macros(use, reporter)
        report_notation(formulas, notation(math.symbols, {**math.macros, **front.math.macros}), reporter)
        return reporter.diagnostics

    def finish(self) -> list[Diagnostic]:
        """What is doubtful in the settings, once all pages have been added."""
        reporter = Reporter(CONFIG_NAME, self._settings.lines)
        report_site_macros(self._uses, self._waiting, self._settings, reporter)
        return reporter.diagnostics
