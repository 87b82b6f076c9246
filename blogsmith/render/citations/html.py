"""Citations in the text, and the list of references, as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markdown_it.token import Token

from ...base.diagnostics.model import Place
from ...model.publications import CslStyle
from ...syntax.records import Citation, CitationEntry, Heading, record_of
from ...syntax.references.citations import ALL_KEYS
from ..context import Rendering
from ..prose import escape_html
from .cited_works import CitedWorks, collect_works, is_mistake
from .links import work_links
from .marks import back_label, use_id
from .publication_list import publications
from .styles import AuthorYearStyle, CitationStyle, NumericStyle, before, behind, link_to

_MOST_HINTS = 50
"""Findings of a page behind which nothing is looked for that an unknown key may have meant."""


@dataclass(slots=True)
class CitationPlan:
    """What a page cites, and how. Lives while the page is rendered."""

    cited: CitedWorks
    style: CitationStyle
    uses: dict[str, int]
    """Key → citations in the text."""


def citations_of_page(rendering: Rendering) -> CitationPlan:
    """What the page cites, found at the first citation."""
    known = rendering.citations
    if isinstance(known, CitationPlan):
        return known
    page, document, tools = rendering.parsed.page, rendering.document, rendering.tools
    cited, answers = collect_works(
        rendering.parsed.tokens, page.references, document, tools, has_bibliography=page.has_bibliography
    )
    for answer in answers:
        for found in answer.diagnostics:
            rendering.reporter.add(found)
    if page.has_bibliography:
        for found in tools.bibliography_problems(document):
            rendering.reporter.add(found)
    for key, place in page.uncited if page.has_bibliography else ():
        if key != ALL_KEYS and key not in cited.works:
            _report_unknown(rendering, key, place)
    uses: dict[str, int] = {}
    for cluster in cited.clusters:
        for item in cluster.items:
            uses[item.key] = uses.get(item.key, 0) + 1
    made = CitationPlan(cited, _style(rendering, cited), uses)
    rendering.citations = made
    return made


def _style(rendering: Rendering, cited: CitedWorks) -> CitationStyle:
    tools, front = rendering.tools, rendering.document.front
    named = tools.citation_style(rendering.document) if cited.works else CslStyle()
    if named.problem:
        rendering.reporter.add(named.problem)
    elif named.name:
        # imported where a page asks for it
        from .csl_style import make_csl_style

        made = make_csl_style(rendering, named, cited)
        if made:
            return made
    if (front.citations.style or tools.config.citations.style) == "author-year":
        return AuthorYearStyle(cited, rendering.language.translate("n.d."))
    return NumericStyle(cited)


def _report_unknown(rendering: Rendering, key: str, place: Place | None) -> None:
    # each hint looks at all keys
    is_early = len(rendering.reporter.diagnostics) < _MOST_HINTS
    hint = rendering.tools.work_hint(key, rendering.document) if is_early else ""
    rendering.reporter.error("citation-key", f"no reference has the key {key}", place, hint)


def citation(rendering: Rendering, tokens: Sequence[Token], index: int) -> str:
    """A citation in the text."""
    citation = record_of(tokens[index], Citation)
    page = citations_of_page(rendering)
    known = page.cited.works
    missing = [item for item in citation.items if item.key not in known]
    if missing and citation.written and not is_mistake(citation.items[0], citation):
        return escape_html(citation.written)
    if rendering.parsed.page.has_bibliography:
        for item in missing:
            _report_unknown(rendering, item.key, item.place)
    uses = citation.uses or (0,) * len(citation.items)
    names = [
        f' id="{use_id("cite", escape_html(item.key), use)}"' if use else ""
        for item, use in zip(citation.items, uses, strict=True)
    ]
    cite = page.style.cite
    html = _broken(citation, names, [*known]) if missing else cite(rendering, citation, names)
    return f'<cite class="citation">{html}</cite>'


def _broken(citation: Citation, names: Sequence[str], keys: Sequence[str]) -> str:
    """A citation with keys that nothing has: these as they are written."""
    pieces = []
    for item, name in zip(citation.items, names, strict=True):
        is_known = item.key in keys
        shown = link_to(item.key, name, str(keys.index(item.key) + 1)) if is_known else escape_html(item.key)
        pieces.append(f"{before(item.prefix)}{shown}{behind(item.locator)}")
    return f"[{', '.join(pieces)}]"


def bibliography(rendering: Rendering, tokens: Sequence[Token], index: int) -> str:
    """The list of references."""
    entries: tuple[CitationEntry, ...] = tokens[index].meta["entries"]
    page = citations_of_page(rendering)
    works = publications(rendering, page.cited) if rendering.document.front.publications else ""
    return works + (_references(rendering, tokens, page, entries) if page.style.keys else "")


def _references(
    rendering: Rendering, tokens: Sequence[Token], page: CitationPlan, entries: Sequence[CitationEntry]
) -> str:
    uses = {entry.key: entry.uses for entry in entries}
    items = "".join(_entry(rendering, page, key, uses.get(key, 0)) for key in page.style.keys)
    name = escape_html(rendering.language.translate("References"))
    title = "" if has_heading(rendering, tokens) else f"<h2>{name}</h2>\n"
    opening = f'<section class="references" role="doc-bibliography" aria-label="{name}">'
    kind = f' class="{page.style.list_class}"' if page.style.list_class else ""
    return f"{opening}\n{title}<ol{kind}>\n{items}</ol>\n</section>\n"


def has_heading(rendering: Rendering, tokens: Sequence[Token]) -> bool:
    """Whether the author's last heading announces the list already."""
    last = next((record_of(t, Heading).text for t in reversed(tokens) if t.type == "heading_open"), "")
    names = ("References", "Bibliography", "Sources", "Literature")
    own = map(rendering.language.translate, names)
    return last.casefold() in {name.casefold() for name in (*names, *own)}


def _entry(rendering: Rendering, page: CitationPlan, key: str, uses: int) -> str:
    cited, shown = page.cited.works[key], escape_html(key)
    links = ""
    for use in range(1, uses + 1):
        text = "Back to the text, citation {number}" if uses > 1 else "Back to the text"
        label = back_label(rendering.language.translate(text, number=use))
        links += f' <a class="ref-backref" href="#{use_id("cite", shown, use)}" {label}'
    more = "" if cited.reference else work_links(rendering, cited.work)
    return f'<li id="ref-{shown}">{page.style.describe(rendering, key)}{more}{links}</li>\n'
