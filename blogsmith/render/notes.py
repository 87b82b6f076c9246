"""Numbered links within the page or site: footnotes, citations, references."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import unescape
from types import MappingProxyType

from markdown_it.token import Token
from msgspec.structs import replace

from ..base.patterns import lazy_pattern
from ..model.links import LinkTitle
from ..syntax.records import NoteItem, NoteRef, XRef, get_record
from ..syntax.references.labels import Label, label_hint
from .citations.links import back_label, use_id
from .citations.rules import RULES as CITATION_RULES
from .context import PageRendering, Rule
from .link_titles import title_html
from .numbers import number_html
from .prose import escape_html

_OUTPUTS: Mapping[str, str] = MappingProxyType({"fig": "figure", "tbl": "table"})
"""Start of a label → the kind of cell output."""
_TEXTS: Mapping[str, str] = MappingProxyType(
    {
        "eq": "Equation {number}",
        "fig": "Figure {number}",
        "tbl": "Table {number}",
        "lst": "Listing {number}",
        "sec": "Section {number}",
    }
)
"""Kind of label → text of a reference; theorems and similar use their own names."""
_ALTTEXT = lazy_pattern(r'<math [^>]*?alttext="([^"]*)".*?</math>', re.DOTALL)
_TAG = lazy_pattern(r"<[^<>]*>")
_NUMBER = "\0"
"""Placeholder for a number, which may be HTML; a character that no text contains."""


def _mark(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    ref = get_record(tokens[index], NoteRef)
    name = use_id("fnref", ref.number, ref.use)
    if rendering.is_in_link:
        rendering.report_nested(ref.written, ref.place)
        return f'<sup class="footnote-ref" id="{name}">{ref.number}</sup>'
    link = f'<a href="#fn-{ref.number}" id="{name}" role="doc-noteref">{ref.number}</a>'
    return f'<sup class="footnote-ref">{link}</sup>'


def _notes_open(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    label = escape_html(rendering.language.translate("Footnotes"))
    return f'<section class="footnotes" role="doc-endnotes" aria-label="{label}">\n<ol>\n'


def _notes_close(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    return "</ol>\n</section>\n"


def _note_open(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    return f'<li id="fn-{get_record(tokens[index], NoteItem).number}">\n'


def _note_close(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    return "</li>\n"


def with_back_links(rendering: PageRendering, html: str, token: Token) -> str:
    """Return a note's HTML with back links to its references, in its last paragraph if it ends in one."""
    item = get_record(token, NoteItem)
    links = ""
    for use in range(1, item.uses + 1):
        text = "Back to the text, mark {number}" if item.uses > 1 else "Back to the text"
        label = back_label(rendering.language.translate(text, number=use))
        links += f' <a class="footnote-backref" href="#{use_id("fnref", item.number, use)}" {label}'
    end = "</li>\n"
    body = html.removesuffix(end)
    if body.endswith("</p>\n"):
        return f"{body[:-5]}{links}</p>\n{end}"
    return f"{body}<p>{links.lstrip()}</p>\n{end}" if links else html


def _xref(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    ref = get_record(tokens[index], XRef)
    if rendering.is_in_link:
        rendering.report_nested(ref.written, ref.place)
        ref = replace(ref, is_linked=False)
    return reference(rendering, ref, typesets=True)


def reference(rendering: PageRendering, ref: XRef, *, typesets: bool = False) -> str:
    """Return the link to a label, or the author's text after reporting an error.

    typesets: Whether to typeset formulas in the text of a heading. If not, they are in linear form.
    """
    labels = rendering.tools.labels(ref.page, rendering.document) if ref.page else rendering.labels
    if labels is None:
        hint = rendering.tools.slug_hint(ref.page)
        fix = rendering.reporter.correct(ref.place, ref.page, rendering.tools.nearest_slug(ref.page))
        rendering.reporter.error("ref-page", f'post not found: "{ref.page}"', ref.place, hint, fix)
        return escape_html(ref.written)
    label = labels.get(ref.target)
    if label is None:
        where = f' in "{ref.page}"' if ref.page else ""
        near = rendering.reporter.nearest(ref.target, labels)
        hint = (
            f"did you mean {_author_spelling(near, ref)}?"
            if near
            else label_hint(_author_spelling(ref.target, ref))
        )
        hint = _cell_hint(rendering, ref) or hint
        message = f'label not found: "{_author_spelling(ref.target, ref)}"{where}'
        meant = _author_spelling(near, ref) if near else None
        fix = rendering.reporter.correct(ref.place, _author_spelling(ref.target, ref), meant)
        rendering.reporter.error("ref-undefined", message, ref.place, hint, fix)
        return escape_html(ref.written)
    if not label.number:
        hint = "add `\\tag{…}`, or check `math.numbering`, `\\notag` and starred environments"
        rendering.reporter.warn("ref-unnumbered", f'label "{ref.target}" has no number', ref.place, hint)
    url = rendering.tools.post_url(ref.page, rendering.document) if ref.page else ""
    if url:
        rendering.links.add(url)
    text = reference_html(label, ref.form, rendering)
    if typesets and label.is_heading_text:
        text = _heading_html(rendering, url, label.id) or text
    if not ref.is_linked:
        return text
    return f'<a class="xref" href="{escape_html(url)}#{escape_html(label.id)}">{text}</a>'


def _heading_html(rendering: PageRendering, url: str, anchor: str) -> str:
    """Return the title of a heading. url: URL with base path of its page; empty for this page."""
    path = str(rendering.document.path)
    if url:
        path = rendering.tools.link(
            url.removeprefix(rendering.tools.config.base_path), rendering.document
        ).page
    title = rendering.tools.link_title(path, anchor)
    return title_html(rendering, title, path) if isinstance(title, LinkTitle) else ""


def _cell_hint(rendering: PageRendering, ref: XRef) -> str:
    """Return a hint if a cell has the label, but without the `fig-` or `tbl-` that numbers it."""
    kind, _, name = ref.target.partition("-")
    thing = _OUTPUTS.get(kind, "")
    labels = [cell.label for cell in rendering.parsed.cells.cells]
    is_meant = bool(thing) and not ref.page and name in labels
    return f"write `#| label: {ref.target}` in the cell" if is_meant else ""


def _author_spelling(label_id: str, ref: XRef) -> str:
    """Return an id in the author's spelling, `eq:x` or `eq-x`."""
    return label_id if ref.target in ref.written else label_id.replace("-", ":", 1)


def label_text(rendering: PageRendering, label: Label) -> str:
    """Return a full reference to a label as plain text: `Theorem 1`, `Equation (2)`."""
    html = _ALTTEXT.sub(r"\1", reference_html(label, "full", rendering))
    return unescape(_TAG.sub("", html))


def reference_html(label: Label, form: str, rendering: PageRendering) -> str:
    """Return the HTML of a reference's text."""
    name = rendering.kind_name(label.name)
    if label.number in ("", label.name):
        return escape_html(name)
    is_equation = label.kind == "eq"
    number = number_html(label.number, rendering.macros) if is_equation else escape_html(label.number)
    if form == "number" or label.is_heading_text:
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
        **CITATION_RULES,
        "xref": _xref,
    }
)
