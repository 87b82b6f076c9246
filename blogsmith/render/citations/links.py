"""Links after a bibliography entry to places where the publication is available."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ...base.diagnostics.model import Diagnostic
from ...bibliography.references import publication_links
from ...model.links import LinkTarget
from ...model.publications import Publication
from ..context import PageRendering
from ..prose import escape_html
from ..variants import thumbnail_tag


def work_links(rendering: PageRendering, work: Publication) -> str:
    """Render the links to places where a publication is available."""
    say = rendering.language.translate
    # other names, such as DOI, need no translation
    links = [
        f'<a href="{escape_html(url)}">{escape_html(say(name)) if name in work.links else name}</a>'
        for name, url in _urls(rendering, work)
    ]
    return f' <span class="ref-links">{" ".join(links)}</span>' if links else ""


def _urls(rendering: PageRendering, work: Publication) -> Iterator[tuple[str, str]]:
    for name, url in publication_links(work):
        if not url.startswith("/"):
            yield name, url
            continue
        # The URL is a file of this site.
        target = rendering.tools.link(url, rendering.document)
        if target.problem:
            _report(rendering, work, target)
        else:
            yield name, target.url


def work_preview(rendering: PageRendering, work: Publication) -> str:
    """Render the small image of a publication; empty if it has none."""
    if not work.preview:
        return ""
    found = rendering.tools.image(work.preview, rendering.document)
    if isinstance(found, LinkTarget):
        _report(rendering, work, found)
        return ""
    return thumbnail_tag(rendering, found)


def _report(rendering: PageRendering, work: Publication, target: LinkTarget) -> None:
    """Report, at the entry of the publication, a file that the entry names but that is missing or not
    allowed."""
    entry = rendering.tools.work_place(work.key, rendering.document)
    place = entry.place if entry else None
    found = Diagnostic(target.code, target.problem, entry.path if entry else "", place, hint=target.hint)
    rendering.reporter.add(replace(found, source_line=entry.source_line) if entry else found)


# Ids of references to notes and citations, and links back to them.


def use_id(prefix: str, key: object, use: int) -> str:
    """Return the id of the n-th reference to a note or entry. key: number or key of the target; use: n, from
    1."""
    return f"{prefix}-{key}" if use == 1 else f"{prefix}-{key}-{use}"


def back_label(text: str) -> str:
    """Return the end of a link back to the reference in the text: its last attribute, its content and its end
    tag. text: accessible name."""
    return f'role="doc-backlink" aria-label="{escape_html(text)}">↩</a>'
