"""Every lint over every page: parsed pages in, warnings out. Pure; a build does not run it.

A lint takes what it needs of a page and reports at the author's place. To add one: a file beside
this one, a row in `diagnostics/codes.py`, a call here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..config.load import CONFIG_NAME, LoadedConfig
from ..diagnostics.model import Diagnostic, Reporter
from ..model.documents import Document
from ..syntax.parser import Parsed
from .dollars import report_dollars
from .labels import references_in, report_labels
from .macros import macro_use, report_page_macros, report_site_macros
from .notation import notation, report_notation
from .pages import formulas_of


def lint_pages(
    pages: Sequence[Parsed], waiting: Iterable[Document], settings: LoadedConfig
) -> list[Diagnostic]:
    """What is doubtful in the pages of a site and in its settings.

    waiting: drafts and posts of the future; nothing is said of them, but they may use what others declare.
    """
    others = [document.source.text for document in waiting]
    references = [references_in(page.document.source.text) for page in pages]
    linked = {name for found in (*references, *map(references_in, others)) for name in found.elsewhere}
    math = settings.config.math
    uses, found = [], list[Diagnostic]()
    for page, here in zip(pages, references, strict=True):
        source, front = page.document.source, page.document.front
        reporter = Reporter(str(source.path), source.text.split("\n"))
        formulas = formulas_of(page)
        uses.append(macro_use(source.text, front, formulas))
        report_dollars(page.tokens, reporter)
        report_labels(page.labels.values(), here, linked, reporter)
        report_page_macros(uses[-1], reporter)
        report_notation(formulas, notation(math.symbols, {**math.macros, **front.math.macros}), reporter)
        found += reporter.diagnostics
    of_settings = Reporter(CONFIG_NAME, settings.lines)
    report_site_macros(uses, others, settings, of_settings)
    return [*found, *of_settings.diagnostics]
