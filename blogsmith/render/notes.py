"""Everything that points elsewhere in the page or site by number: footnotes, citations, references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from markdown_it.token import Token

from ..diagnostics.model import Place, TextMap
from ..model.documents import Reference
from ..syntax.math.formulas import text_with_formulas
from ..syntax.records import Citation, CitationEntry, Heading, NoteItem, NoteRef, XRef, get
from ..syntax.references.labels import Label
from .context import Rendering, Rule
from .numbers import number_html
from .prose import escape_html

_OUTPUTS: Mapping[str, str] = MappingProxyType({"fig": "figure", "tbl": "table"})
"""Begin of a label → what a cell shows."""
_TEXTS: Mapping[str, str] = MappingProxyType(
    {
        "eq": "Equation {number}",
        "fig": "Figure {number}",
        "tbl": "Table {number}",
        "lst": "Listing {number}",
        "sec": "Section {number}",
    }
)
"""Kind of label → what a reference says; theorems and the like are called by their own names."""
_NUMBER = "\0"
"""Stands for a number, which may be HTML: a sign that no text holds."""


def _mark(rendering: Rendering, tokens: Sequence[Token], index: int) -> str:
    ref = get(tokens[index], NoteRef)
    name = _use_id("fnref", ref.number, ref.use)
    link = f'<a href="#fn-{ref.number}" id="{name}" role="doc-noteref">{ref.number}</a>'
    return f'<sup class="footnote-ref">{link}</sup>'


def _use_id(prefix: str, key: object, use: int) -> str:
    return f"{prefix}-{key}" if use == 1 else f"{prefix}-{key}-{use}"


def _notes_open(rendering: Rendering, tokens: Sequence[Token], index: int) -> str:
    label = escape_html(rendering.language.translate("Footnotes"))
    return f'<section class="footnotes" role="doc-endnotes" aria-label="{label}">\n<ol>\n'


def _notes_close(rendering: Rendering, tokens: Sequence[Token], index: int) -> str:
    return "</ol>\n</section>\n"


def _note_open(rendering: Rendering, tokens: Sequence[Token], index: int) -> str:
    return f'<li id="fn-{get(tokens[index], NoteItem).number}">\n'


def _note_close(rendering: Rendering, tokens: Sequence[Token], index: int) -> str:
    return "</li>\n"


def _back_label(text: str) -> str:
    """The label of a link back to the text."""
    return f'role="doc-backlink" aria-label="{escape_html(text)}">↩</a>'


def with_back_links(rendering: Rendering, html: str, token: Token) -> str:
    """The note's HTML with a link back to each of its marks, in its last paragraph if it ends in one."""
    item = get(token, NoteItem)
    links = ""
    for use in range(1, item.uses + 1):
        text = "Back to the text, mark {number}" if item.uses > 1 else "Back to the text"
        label = _back_label(rendering.language.translate(text, number=use))
        links += f' <a class="footnote-backref" href="#{_use_id("fnref", item.number, use)}" {label}'
    end = "</li>\n"
    body = html.removesuffix(end)
    if body.endswith("</p>\n"):
        return f"{body[:-5]}{links}</p>\n{end}"
    return f"{body}<p>{links.lstrip()}</p>\n{end}" if links else html


def _citation(rendering: Rendering, tokens: Sequence[Token], index: int) -> str:
    citation = get(tokens[index], Citation)
    pieces = []
    uses = citation.uses or (0,) * len(citation.items)
    for item, number, use in zip(citation.items, citation.numbers, uses, strict=True):
        locator = f", {escape_html(item.locator)}" if item.locator else ""
        key = escape_html(item.key)
        if number == 0:
            pieces.append(f"{key}{locator}")
            continue
        name = f' id="{_use_id("cite", key, use)}"' if use else ""
        pieces.append(f'<a href="#ref-{key}"{name} role="doc-biblioref">{number}</a>{locator}')
    return f'<cite class="citation">[{", ".join(pieces)}]</cite>'


def _bibliography(rendering: Rendering, tokens: Sequence[Token], index: int) -> str:
    entries: tuple[CitationEntry, ...] = tokens[index].meta["entries"]
    known = rendering.parsed.page.references
    items = "".join(_entry(rendering, known[entry.key], entry.uses) for entry in entries)
    name = escape_html(rendering.language.translate("References"))
    title = "" if _has_heading(rendering, tokens) else f"<h2>{name}</h2>\n"
    opening = f'<section class="references" role="doc-bibliography" aria-label="{name}">'
    return f"{opening}\n{title}<ol>\n{items}</ol>\n</section>\n"


def _has_heading(rendering: Rendering, tokens: Sequence[Token]) -> bool:
    """Whether the author's last heading announces the list already."""
    last = next((get(t, Heading).text for t in reversed(tokens) if t.type == "heading_open"), "")
    names = ("References", "Bibliography", "Sources", "Literature")
    own = map(rendering.language.translate, names)
    return last.casefold() in {name.casefold() for name in (*names, *own)}


def _entry(rendering: Rendering, reference: Reference, uses: int) -> str:
    key = escape_html(reference.key)
    links = ""
    for use in range(1, uses + 1):
        text = "Back to the text, citation {number}" if uses > 1 else "Back to the text"
        label = _back_label(rendering.language.translate(text, number=use))
        links += f' <a class="ref-backref" href="#{_use_id("cite", key, use)}" {label}'
    return f'<li id="ref-{key}">{_describe(rendering, reference)}{links}</li>\n'


def _describe(rendering: Rendering, reference: Reference) -> str:
    """Authors. Title. Venue volume(issue), pages, year. Note."""
    title = f"<cite>{_title(rendering, reference)}</cite>"
    if reference.url:
        title = f'<a href="{escape_html(reference.url)}">{title}</a>'
    authors = escape_html(_names(reference.authors))
    issue = f"({reference.issue})" if reference.issue else ""
    where = " ".join(filter(None, (reference.venue, f"{reference.volume}{issue}")))
    venue = escape_html(", ".join(filter(None, (where, reference.pages, reference.year))))
    parts = [part for part in (authors, title, venue, escape_html(reference.note)) if part]
    # an author's initial and a title's question mark end a sentence already
    return " ".join(p if p.endswith((".", "!", "?")) else f"{p}." for p in parts)


def _title(rendering: Rendering, reference: Reference) -> str:
    """The title with its formulas typeset; a mistake in one is reported at the entry."""
    text = reference.title or reference.key
    place = reference.place or Place(1)
    origin = TextMap(text, ((place.line, place.column),) * (text.count("\n") + 1))
    return rendering.render(rendering, text_with_formulas(origin))


def _names(authors: Sequence[str]) -> str:
    if len(authors) < 3:
        return " & ".join(authors)
    return f"{', '.join(authors[:-1])} & {authors[-1]}"


def _xref(rendering: Rendering, tokens: Sequence[Token], index: int) -> str:
    return reference(rendering, get(tokens[index], XRef))


def reference(rendering: Rendering, ref: XRef) -> str:
    """The link to a label, or the author's text if there is none."""
    labels = rendering.tools.labels(ref.page) if ref.page else rendering.labels
    if labels is None:
        hint = rendering.tools.slug_hint(ref.page)
        rendering.reporter.error("ref-page", f"there is no post {ref.page}", ref.place, hint)
        return escape_html(ref.written)
    label = labels.get(ref.target)
    if label is None:
        where = f" in {ref.page}" if ref.page else ""
        near = rendering.reporter.nearest(ref.target, labels)
        hint = f"did you mean {_like(near, ref)}?" if near else "a label is written \\label{eq:x} or {#eq:x}"
        hint = _cell_hint(rendering, ref) or hint
        message = f"there is no label {_like(ref.target, ref)}{where}"
        rendering.reporter.error("ref-undefined", message, ref.place, hint)
        return escape_html(ref.written)
    if not label.number:
        hint = "give it a \\tag{…} or a number: see math.numbering, \\notag and starred environments"
        rendering.reporter.warn("ref-unnumbered", f"{ref.target} shows no number", ref.place, hint)
    url = rendering.tools.post_url(ref.page) if ref.page else ""
    if url:
        rendering.links.add(url)
    text = _reference_html(label, ref.form, rendering)
    return f'<a class="xref" href="{escape_html(url)}#{escape_html(label.id)}">{text}</a>'


def _cell_hint(rendering: Rendering, ref: XRef) -> str:
    """A hint, where a cell of the page has the label, but without the `fig-` or `tbl-` that numbers it."""
    kind, _, name = ref.target.partition("-")
    thing = _OUTPUTS.get(kind, "")
    labels = [cell.label for cell in rendering.parsed.cells.cells]
    is_meant = bool(thing) and not ref.page and name in labels
    return f"a cell's {thing} has #| label: {ref.target}" if is_meant else ""


def _like(label_id: str, ref: XRef) -> str:
    """An id as the author writes labels here, `eq:x` or `eq-x`."""
    return label_id if ref.target in ref.written else label_id.replace("-", ":", 1)


def _reference_html(label: Label, form: str, rendering: Rendering) -> str:
    """HTML of what a reference says."""
    name = rendering.name_of(label.name)
    if label.number in ("", label.name):
        return escape_html(name)
    is_equation = label.kind == "eq"
    number = number_html(label.number, rendering.macros) if is_equation else escape_html(label.number)
    is_text = label.kind == "sec" and not label.number[:1].isdigit()
    if form == "number" or is_text:
        return number
    text = "{name} {number}" if label.kind == "thm" else _TEXTS[label.kind]
    said = rendering.language.translate(text, name=name, number=_NUMBER)
    before, _, behind = said.partition(_NUMBER)
    return f"{escape_html(before)}{number}{escape_html(behind)}"


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "footnote_ref": _mark,
        "footnotes_open": _notes_open,
        "footnotes_close": _notes_close,
        "footnote_open": _note_open,
        "footnote_close": _note_close,
        "citation": _citation,
        "bibliography": _bibliography,
        "xref": _xref,
    }
)
