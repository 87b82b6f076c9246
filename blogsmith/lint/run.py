"""Runs all lints, first on each page, then on the site.

`lint_page` uses the tokens of one page, and its result is cached like the HTML of the page. `lint_site`
combines the results of all pages. A lint receives the parts of a page that it needs and reports at the
author's location. To add a lint, add a module to this folder, a row to `base/diagnostics/codes.py` and a call
here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from ..base.diagnostics.model import Diagnostic, Reporter
from ..config.load import CONFIG_NAME, LoadedConfig
from ..config.schema import MathSettings
from ..model.documents import Document
from ..syntax.parser import Parsed
from .accessibility import report_accessibility
from .dollars import report_dollars
from .elements import page_elements
from .labels import find_references, unused_labels
from .macros import CODE as MACRO_UNUSED
from .macros import author_macros, find_commands, macro_use, report_page_macros, report_site_macros
from .notation import notation, report_notation
from .pages import page_formulas
from .series import report_series
from .terms import check_term_spellings


class PageLint(Struct, frozen=True, array_like=True):
    """Findings of lints in one page, independent of other pages."""

    diagnostics: tuple[Diagnostic, ...]
    labels: tuple[tuple[str, Diagnostic], ...]
    """Ids that nothing in the page refers to, each with the warning to report if no other page refers
    to it."""
    links: frozenset[str]
    """Ids on other pages that the page refers to."""
    commands: frozenset[str]
    """Commands on the page that may be macros of the settings."""


def lint_page(page: Parsed, math: MathSettings) -> PageLint:
    """Run the lints on one page. Also return the references and commands that it uses."""
    source, front = page.document.source, page.document.front
    reporter = Reporter(str(source.path), source.text.split("\n"))
    formulas = page_formulas(page)
    use, references = macro_use(source.text, front, formulas), find_references(source.text)
    own = {name: body for name, body in math.macros.items() if isinstance(body, str)}
    macros = {**author_macros(own), **front.math.macros}
    report_series(front, reporter)
    report_dollars(page.tokens, reporter)
    report_accessibility(page_elements(page), reporter)
    labels = tuple(unused_labels(page.labels.values(), references, reporter))
    report_page_macros(use, reporter)
    report_notation(formulas, notation(math.symbols, macros), reporter)
    return PageLint(tuple(reporter.diagnostics), labels, references.elsewhere, use.site_candidates)


def lint_site(
    pages: Sequence[PageLint],
    documents: Iterable[Document],
    waiting: Iterable[str],
    settings: LoadedConfig,
) -> list[Diagnostic]:
    """Return the warnings about all pages and the settings.

    documents: sources of the published pages. waiting: text of drafts and future posts. They are not checked,
    but labels and macros that they use count as used.
    """
    linked = {name for page in pages for name in page.links}
    commands = {name for page in pages for name in page.commands}
    for text in waiting:
        linked |= find_references(text).elsewhere
        commands |= find_commands(text)
    found = [diagnostic for page in pages for diagnostic in page.diagnostics]
    found += [diagnostic for page in pages for name, diagnostic in page.labels if name not in linked]
    found += check_term_spellings(documents, settings.config)
    reporter = Reporter(CONFIG_NAME, settings.lines)
    # Macros of the settings may be written for posts that come later.
    if MACRO_UNUSED in settings.config.diagnostics.levels:
        report_site_macros(commands, settings, reporter)
    return found + reporter.diagnostics
