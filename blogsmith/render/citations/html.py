"""Citations in the text, and the bibliography, as HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from markdown_it.token import Token

from ...base.diagnostics.model import Place
from ...base.patterns import lazy_pattern
from ...config.authors import author_names
from ...model.publications import CslStyle, Person, Publication
from ...syntax.records import Citation, CitationEntry, Heading, get_record
from ...syntax.references.citations import ALL_KEYS
from ..context import PageRendering
from ..prose import escape_html
from .cited_works import BibliographyEntry, PageReferences, collect_works, is_unknown_key_error
from .links import back_label, use_id, work_links, work_preview
from .rich_text import rich_html
from .styles import (
    AuthorYearStyle,
    CitationStyle,
    NumericStyle,
    format_locator,
    format_prefix,
    invert_name,
    link_to,
)

_LINK = lazy_pattern(r'<a href="[^"]*"( id="[^"]*")?[^<>]*>(.*?)</a>', re.DOTALL)
_MOST_HINTS = 50
"""Number of diagnostics of a page after which messages about unknown keys have no hint."""


@dataclass(slots=True)
class CitationPlan:
    """References and citation style of a page. Exists while the page is rendered."""

    cited: PageReferences
    style: CitationStyle
    uses: dict[str, int]
    """Key → number of citations in the text."""
    lacks_file: bool
    """Whether a bibliography of the page was not found. Unknown keys may be in it and are not reported."""


def citations_of_page(rendering: PageRendering) -> CitationPlan:
    """Return the citation plan of the page. The first call creates it and reports errors."""
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
    problems = tools.bibliography_problems(document) if page.has_bibliography else ()
    for found in problems:
        rendering.reporter.add(found)
    lacks_file = any(found.code == "bibliography-file" for found in problems)
    for key, place in page.uncited if page.has_bibliography and not lacks_file else ():
        if key != ALL_KEYS and key not in cited.works:
            _report_unknown(rendering, key, place)
    uses: dict[str, int] = {}
    for cluster in cited.clusters:
        for item in cluster.items:
            uses[item.key] = uses.get(item.key, 0) + 1
    made = CitationPlan(cited, _style(rendering, cited), uses, lacks_file)
    rendering.citations = made
    return made


def _style(rendering: PageRendering, cited: PageReferences) -> CitationStyle:
    tools, front = rendering.tools, rendering.document.front
    named = tools.citation_style(rendering.document) if cited.works else CslStyle()
    if named.problem:
        rendering.reporter.add(named.problem)
    elif named.name:
        # imported only for pages that use CSL
        from .csl_style import make_csl_style

        made = make_csl_style(rendering, named, cited)
        if made:
            return made
    if (front.citations.style or tools.config.citations.style) == "author-year":
        return AuthorYearStyle(cited, rendering.language.translate("n.d."))
    return NumericStyle(cited)


def _report_unknown(rendering: PageRendering, key: str, place: Place | None) -> None:
    # finding a hint searches all keys, so only the first errors get one
    is_early = len(rendering.reporter.diagnostics) < _MOST_HINTS
    hint = rendering.tools.work_hint(key, rendering.document) if is_early else ""
    rendering.reporter.error("citation-key", f'unknown citation key "{key}"', place, hint)


def citation(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    """Render a citation in the text."""
    citation = get_record(tokens[index], Citation)
    page = citations_of_page(rendering)
    known = page.cited.works
    missing = [item for item in citation.items if item.key not in known]
    if missing and citation.written and not is_unknown_key_error(citation.items[0], citation):
        return escape_html(citation.written)
    if rendering.parsed.page.has_bibliography and not page.lacks_file:
        for item in missing:
            _report_unknown(rendering, item.key, item.place)
    uses = citation.uses or (0,) * len(citation.items)
    names = [
        f' id="{use_id("cite", escape_html(item.key), use)}"' if use else ""
        for item, use in zip(citation.items, uses, strict=True)
    ]
    cite = page.style.cite
    html = _render_incomplete(citation, names, [*known]) if missing else cite(rendering, citation, names)
    if rendering.is_in_link:
        at = next((item.place for item in citation.items if item.place), None)
        rendering.report_nested(f"@{citation.items[0].key}", at)
        html = _LINK.sub(r"<span\1>\2</span>", html)
    return f'<cite class="citation">{html}</cite>'


def _render_incomplete(citation: Citation, names: Sequence[str], keys: Sequence[str]) -> str:
    """Render a citation that has unknown keys. An unknown key is printed as written, a known one as its
    number. names: as in `CitationStyle.cite`. keys: the known keys."""
    pieces = []
    for item, name in zip(citation.items, names, strict=True):
        is_known = item.key in keys
        shown = link_to(item.key, name, str(keys.index(item.key) + 1)) if is_known else escape_html(item.key)
        pieces.append(f"{format_prefix(item.prefix)}{shown}{format_locator(item.locator)}")
    return f"[{', '.join(pieces)}]"


def bibliography(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    """Render the bibliography."""
    entries: tuple[CitationEntry, ...] = tokens[index].meta["entries"]
    page = citations_of_page(rendering)
    works = publications(rendering, page.cited) if rendering.document.front.publications else ""
    return works + (_references(rendering, tokens, page, entries) if page.style.keys else "")


def _references(
    rendering: PageRendering, tokens: Sequence[Token], page: CitationPlan, entries: Sequence[CitationEntry]
) -> str:
    uses = {entry.key: entry.uses for entry in entries}
    items = "".join(_entry(rendering, page, key, uses.get(key, 0)) for key in page.style.keys)
    name = escape_html(rendering.language.translate("References"))
    title = "" if has_heading(rendering, tokens) else f"<h2>{name}</h2>\n"
    opening = f'<section class="references" role="doc-bibliography" aria-label="{name}">'
    kind = f' class="{page.style.list_class}"' if page.style.list_class else ""
    return f"{opening}\n{title}<ol{kind}>\n{items}</ol>\n</section>\n"


def has_heading(rendering: PageRendering, tokens: Sequence[Token]) -> bool:
    """Return whether the last heading of the page already introduces the bibliography."""
    last = next((get_record(t, Heading).text for t in reversed(tokens) if t.type == "heading_open"), "")
    names = ("References", "Bibliography", "Sources", "Literature")
    own = map(rendering.language.translate, names)
    return last.casefold() in {name.casefold() for name in (*names, *own)}


def _entry(rendering: PageRendering, page: CitationPlan, key: str, uses: int) -> str:
    cited, shown = page.cited.works[key], escape_html(key)
    links = ""
    for use in range(1, uses + 1):
        text = "Back to the text, citation {number}" if uses > 1 else "Back to the text"
        label = back_label(rendering.language.translate(text, number=use))
        links += f' <a class="ref-backref" href="#{use_id("cite", shown, use)}" {label}'
    more = "" if cited.reference else work_links(rendering, cited.work)
    return f'<li id="ref-{shown}">{page.style.describe(rendering, key)}{more}{links}</li>\n'


# A page of publications lists all entries of a bibliography by year, with the author's name highlighted and
# BibTeX to copy. Its filters are links and need no script: a link points to the marker of a kind, and while
# that marker is the target, the stylesheet hides the other kinds. Without a stylesheet, and on paper, all
# entries are shown.


_KINDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Articles": ("article-journal", "article-magazine", "article-newspaper", "review"),
        "Conference papers": ("paper-conference",),
        "Preprints": ("article",),
        "Books": ("book", "chapter", "entry-encyclopedia"),
        "Theses": ("thesis",),
        "Software and data": ("software", "dataset"),
    }
)
"""English name of a kind of publication → CSL types; all other types are `Other`."""
_OTHER = "Other"


def publications(rendering: PageRendering, cited: PageReferences) -> str:
    """Render the list of publications on a page, newest year first; empty if there are none."""
    tools, document = rendering.tools, rendering.document
    keys = tools.publication_keys(document)
    found = (tools.find_reference(key, document).work for key in keys)
    works = [work for work in found if work is not None]
    if document.front.selected:
        return _selected(rendering, [work for work in works if work.is_selected])
    if not works:
        return ""
    rendering.widgets.add("code")
    kinds = [name for name in (*_KINDS, _OTHER) if any(_kind(work) == name for work in works)]
    years = sorted({work.year for work in works}, key=_year_key, reverse=True)
    name = escape_html(rendering.language.translate("Publications"))
    head = (
        f'<section class="publications" id="publications" aria-label="{name}">\n{_filters(rendering, kinds)}'
    )
    sections = [_year(rendering, year, [work for work in works if work.year == year]) for year in years]
    return f"{head}{''.join(sections)}</section>\n"


def _selected(rendering: PageRendering, works: Sequence[Publication]) -> str:
    """Render selected publications under one heading, newest year first."""
    if not works:
        hint = "add `selected = {true}` to the entries that the page should show"
        place = rendering.document.front.places.get("selected")
        message = '"selected" has no effect because no entry is marked'
        rendering.reporter.warn("front-matter-unknown", message, place, hint)
        return ""
    rendering.widgets.update(("code", "people"))
    ordered = sorted(works, key=lambda work: _year_key(work.year), reverse=True)
    items = "".join(_item(rendering, work) for work in ordered)
    name = escape_html(rendering.language.translate("Selected publications"))
    opening = '<section class="publications" aria-labelledby="publications">'
    return f'{opening}\n<h2 id="publications">{name}</h2>\n<ul>\n{items}</ul>\n</section>\n'


def _year_key(year: str) -> tuple[bool, str]:
    # entries such as `in press` precede all years
    return not year.isdecimal() and bool(year), year


def _kind(work: Publication) -> str:
    return next((name for name, types in _KINDS.items() if work.kind in types), _OTHER)


def _id(kind: str) -> str:
    return f"only-{kind.lower().replace(' ', '-')}"


def _filters(rendering: PageRendering, kinds: Sequence[str]) -> str:
    """Render the links that show only one kind of publication. Empty if there is only one kind."""
    if len(kinds) < 2:
        return ""
    say = rendering.language.translate
    marks = "".join(f'<span class="filter-mark" id="{_id(kind)}"></span>' for kind in kinds)
    links = [f'<a href="#publications">{escape_html(say("All"))}</a>']
    links += [f'<a href="#{_id(kind)}">{escape_html(say(kind))}</a>' for kind in kinds]
    label = escape_html(say("Kinds of publications"))
    return f'{marks}\n<nav class="publication-kinds" aria-label="{label}">{" ".join(links)}</nav>\n'


def _year(rendering: PageRendering, year: str, works: Sequence[Publication]) -> str:
    shown = year or rendering.language.translate("n.d.")
    name = re.sub(r"[^0-9A-Za-z]+", "-", shown).strip("-") or "undated"
    items = "".join(_item(rendering, work) for work in works)
    heading = f'<h2 id="year-{name}">{escape_html(shown)}</h2>'
    opening = f'<section class="publication-year" aria-labelledby="year-{name}">'
    return f"{opening}\n{heading}\n<ul>\n{items}</ul>\n</section>\n"


def _item(rendering: PageRendering, work: Publication) -> str:
    style = NumericStyle(PageReferences({work.key: BibliographyEntry(work)}, ()))
    html = _mark_name(style.describe(rendering, work.key), _own_names(rendering), "<strong>", "</strong>")
    for names, url in _websites(rendering, work):
        html = _mark_name(html, names, f'<a href="{escape_html(url)}">', "</a>")
    kind = _id(_kind(work)).removeprefix("only-")
    opening = f'<li id="pub-{escape_html(work.key)}" data-kind="{kind}">'
    text = f"<p>{html}{work_links(rendering, work)}</p>\n"
    text += _award(rendering, work) if work.award else ""
    text += f"{_abstract(rendering, work) if work.abstract else ''}{_bibtex(work)}"
    side = _side(rendering, work)
    return f"{opening}{side}<div>{text}</div></li>\n" if side else f"{opening}{text}</li>\n"


def _side(rendering: PageRendering, work: Publication) -> str:
    """Render the venue and the image beside a publication; empty if it has neither."""
    badge = f'<span class="venue">{escape_html(work.venue)}</span>' if work.venue else ""
    side = badge + work_preview(rendering, work)
    if side:
        rendering.widgets.add("people")
    return f'<div class="work-side">{side}</div>' if side else ""


def _award(rendering: PageRendering, work: Publication) -> str:
    name, text = (rich_html(rendering, each, work.key) for each in (work.award, work.award_text))
    rendering.widgets.add("people")
    return f'<p class="award"><strong>{name}</strong>{f" {text}" if text else ""}</p>\n'


def _abstract(rendering: PageRendering, work: Publication) -> str:
    name = escape_html(rendering.language.translate("Abstract"))
    rendering.widgets.add("people")
    html = rich_html(rendering, work.abstract, work.key)
    return f'<details class="bibtex abstract"><summary>{name}</summary>\n<p>{html}</p>\n</details>\n'


def _bibtex(work: Publication) -> str:
    from ...bibliography.csl_json import publication_bibtex

    code = escape_html(work.bibtex or publication_bibtex(work))
    figure = f'<pre class="highlight" tabindex="0"><code class="language-bibtex">{code}</code></pre>'
    inner = f'<figure class="code" data-lang="bibtex">\n{figure}\n</figure>'
    return f'<details class="bibtex"><summary>BibTeX</summary>\n{inner}\n</details>'


def _own_names(rendering: PageRendering) -> tuple[str, ...]:
    """Return the forms of the page author's name that entries may contain, longest first."""
    from ...bibliography.works import read_name

    front, config = rendering.document.front, rendering.tools.config
    names = author_names(front.authors, config)
    forms = {form for name in names for form in _forms(read_name(name))}
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


def _forms(person: Person) -> Iterable[str]:
    yield person.full
    if person.family and person.given:
        initials = invert_name(person)
        yield initials
        yield f"{initials.partition(', ')[2]} {person.short}"


def _websites(rendering: PageRendering, work: Publication) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the forms of a name and a URL, for each author of a publication whom the setting `coauthors`
    contains. First names are compared by their initials, because entries often have only those."""
    from ...bibliography.works import read_name

    urls = {read_name(name): url for name, url in rendering.tools.config.coauthors.items()}
    known = {(person.family, person.given[:1]): url for person, url in urls.items()}
    for person in work.authors:
        if url := known.get((person.family, person.given[:1])):
            yield tuple(_forms(person)), url


def _mark_name(html: str, names: Sequence[str], opening: str, closing: str) -> str:
    """Return the HTML with `opening` and `closing` around the first occurrence of a name outside tags. names:
    forms of the name; the first form that occurs is used."""
    for name in names:
        pattern = rf"(?<![\w-]){re.escape(escape_html(name))}(?![\w-])(?![^<>]*>)"
        made, count = re.subn(pattern, lambda found: f"{opening}{found[0]}{closing}", html, count=1)
        if count:
            return made
    return html
