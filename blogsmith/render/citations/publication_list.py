"""A page of publications: all entries of a bibliography by year, the author's name marked, BibTeX to copy.

What is shown can be chosen by links alone: a link leads to the mark of a kind, and the style sheet hides the
others while it is the target. Without style sheets, and on paper, everything is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from ...model.publications import Person, Publication
from ..context import Rendering
from ..prose import escape_html
from .cited_works import CitedWork, CitedWorks
from .links import work_links
from .styles import NumericStyle, invert_name

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
"""English name of a kind → types of CSL; all others are `Other`."""
_OTHER = "Other"


def publications(rendering: Rendering, cited: CitedWorks) -> str:
    """The list of a page, newest year first."""
    tools, document = rendering.tools, rendering.document
    keys = tools.publication_keys(document)
    found = (tools.work(key, document).work for key in keys)
    works = [work for work in found if work is not None]
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


def _year_key(year: str) -> tuple[bool, str]:
    # `in press` comes before all years
    return not year.isdecimal() and bool(year), year


def _kind(work: Publication) -> str:
    return next((name for name, types in _KINDS.items() if work.kind in types), _OTHER)


def _id(kind: str) -> str:
    return f"only-{kind.lower().replace(' ', '-')}"


def _filters(rendering: Rendering, kinds: Sequence[str]) -> str:
    """Links that choose; none where there is nothing to choose from."""
    if len(kinds) < 2:
        return ""
    say = rendering.language.translate
    marks = "".join(f'<span class="filter-mark" id="{_id(kind)}"></span>' for kind in kinds)
    links = [f'<a href="#publications">{escape_html(say("All"))}</a>']
    links += [f'<a href="#{_id(kind)}">{escape_html(say(kind))}</a>' for kind in kinds]
    label = escape_html(say("Kinds of publications"))
    return f'{marks}\n<nav class="publication-kinds" aria-label="{label}">{" ".join(links)}</nav>\n'


def _year(rendering: Rendering, year: str, works: Sequence[Publication]) -> str:
    shown = year or rendering.language.translate("n.d.")
    name = re.sub(r"[^0-9A-Za-z]+", "-", shown).strip("-") or "undated"
    items = "".join(_item(rendering, work) for work in works)
    heading = f'<h2 id="year-{name}">{escape_html(shown)}</h2>'
    opening = f'<section class="publication-year" aria-labelledby="year-{name}">'
    return f"{opening}\n{heading}\n<ul>\n{items}</ul>\n</section>\n"


def _item(rendering: Rendering, work: Publication) -> str:
    style = NumericStyle(CitedWorks({work.key: CitedWork(work)}, ()))
    html = _mark_own(style.describe(rendering, work.key), _own_names(rendering))
    kind = _id(_kind(work)).removeprefix("only-")
    opening = f'<li id="pub-{escape_html(work.key)}" data-kind="{kind}">'
    return f"{opening}<p>{html}{work_links(rendering, work)}</p>\n{_bibtex(work)}</li>\n"


def _bibtex(work: Publication) -> str:
    from ...bibliography.csl_json import bibtex_of

    code = escape_html(work.bibtex or bibtex_of(work))
    figure = f'<pre class="highlight" tabindex="0"><code class="language-bibtex">{code}</code></pre>'
    inner = f'<figure class="code" data-lang="bibtex">\n{figure}\n</figure>'
    return f'<details class="bibtex"><summary>BibTeX</summary>\n{inner}\n</details>'


def _own_names(rendering: Rendering) -> tuple[str, ...]:
    """The forms in which the author of the page may be named, longest first."""
    from ...bibliography.names import read_name

    front, config = rendering.document.front, rendering.tools.config
    names = front.authors or ((config.author,) if config.author else ())
    forms = {form for name in names for form in _forms(read_name(name))}
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


def _forms(person: Person) -> Iterable[str]:
    yield person.full
    if person.family and person.given:
        initials = invert_name(person)
        yield initials
        yield f"{initials.partition(', ')[2]} {person.short}"


def _mark_own(html: str, names: Sequence[str]) -> str:
    """The author's name, where it stands first, made strong; never inside of a tag."""
    for name in names:
        pattern = rf"(?<![\w-]){re.escape(escape_html(name))}(?![\w-])(?![^<>]*>)"
        made, count = re.subn(pattern, lambda found: f"<strong>{found[0]}</strong>", html, count=1)
        if count:
            return made
    return html
