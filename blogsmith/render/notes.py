"""Numbered links within the page or site: footnotes, citations, references."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from markdown_it.token import Token
from markupsafe import Markup
from msgspec.structs import replace

from ..base.html_tags import read_text
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
"""Prefix of a cell's label → English name of the output that the label refers to."""
_TEXTS: Mapping[str, str] = MappingProxyType(
    {
        "eq": "Equation {number}",
        "fig": "Figure {number}",
        "tbl": "Table {number}",
        "lst": "Listing {number}",
        "sec": "Section {number}",
        "line": "Line {number}",
    }
)
"""Kind of label → text of a reference. References to theorems and similar use their own names."""
_ALTTEXT = lazy_pattern(r'<math [^>]*?alttext="([^"]*)".*?</math>', re.DOTALL)
_NUMBER = "\0"
"""Placeholder for a number, which may be HTML. This character does not occur in text."""


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
    """Return a note's HTML with a link back to the text for each reference to the note. The links are at the
    end of its last paragraph, or if it does not end in a paragraph, in a new one."""
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


def _image_hint(rendering: PageRendering, target: str) -> str:
    """Return a hint if an image in a paragraph with other text has the id `target`, otherwise ""."""
    inline = (child for token in rendering.parsed.tokens for child in token.children or ())
    if any(child.type == "image" and child.attrs.get("id") == target for child in inline):
        return f'put the image alone in its paragraph: `![text](a.png "caption"){{#{target}}}`'
    return ""


def reference(rendering: PageRendering, ref: XRef, *, typesets: bool = False) -> str:
    """Return the link to a label. If the post or the label is not found, report an error and return the
    author's text. typesets: whether to typeset the formulas of titles and to name other pages."""
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
            f"did you mean `{_author_spelling(near, ref)}`?"
            if near
            else label_hint(_author_spelling(ref.target, ref))
        )
        hint = _cell_hint(rendering, ref) or ("" if ref.page else _image_hint(rendering, ref.target)) or hint
        message = f'label not found: "{_author_spelling(ref.target, ref)}"{where}'
        meant = _author_spelling(near, ref) if near else None
        fix = rendering.reporter.correct(ref.place, _author_spelling(ref.target, ref), meant)
        rendering.reporter.error("ref-undefined", message, ref.place, hint, fix)
        return escape_html(ref.written)
    if not label.number:
        hint = "add `\\tag{…}` to the formula, remove its `\\notag` or `*`, or check `math.numbering`"
        if label.kind != "eq":
            hint = f"write a link: `[text](#{label.id})`"
        message = f'label "{_author_spelling(ref.target, ref)}" has no number'
        rendering.reporter.warn("ref-unnumbered", message, ref.place, hint)
    url = rendering.tools.post_url(ref.page, rendering.document) if ref.page else ""
    if url:
        rendering.links.add(url)
    text = reference_html(label, ref.form, rendering)
    if typesets and label.is_heading_text:
        text = _title_html(rendering, _source_path(rendering, url), label.id) or text
    elif typesets and url:
        text = name_page(rendering, _source_path(rendering, url), label, text)
    if label.is_withheld:
        message = f'"{ref.written}" has no effect because the solution is left out'
        hint = "remove the reference, or show the solution with `solutions: {show: end}` and no later `after`"
        rendering.reporter.warn("ref-withheld", message, ref.place, hint)
    if label.is_withheld or not ref.is_linked:
        return text
    return f'<a class="xref" href="{escape_html(url)}#{escape_html(label.id)}">{text}</a>'


def name_page(rendering: PageRendering, path: str, label: Label, text: str) -> str:
    """Return the reference `text` with the title of the page that contains the label. The title is left out
    if that page is this page, or if both share one numbering. path: source path of the page with the
    label."""
    is_unique = label.series and label.series == rendering.parsed.page.series
    if is_unique or not label.number or label.is_heading_text or path == str(rendering.document.path):
        return text
    title = _title_html(rendering, path, "")
    values = {"reference": Markup(text), "title": Markup(f"<em>{title}</em>")}
    return str(rendering.language.translate("{reference} of {title}", **values)) if title else text


def _source_path(rendering: PageRendering, url: str) -> str:
    """Return the source path of a page by its URL with the base path; empty for this page."""
    if not url:
        return str(rendering.document.path)
    return rendering.tools.link(url.removeprefix(rendering.tools.config.base_path), rendering.document).page


def _title_html(rendering: PageRendering, path: str, anchor: str) -> str:
    """Return the title of a heading on the page at source path `path`, as HTML. anchor: id of the heading; if
    empty, the title is that of the page."""
    title = rendering.tools.link_title(path, anchor)
    return title_html(rendering, title, path) if isinstance(title, LinkTitle) else ""


def _cell_hint(rendering: PageRendering, ref: XRef) -> str:
    """Return a hint for a reference such as `@fig-loss` if a cell has the label `loss` without the prefix.
    Otherwise return an empty string."""
    kind, _, name = ref.target.partition("-")
    thing = _OUTPUTS.get(kind, "")
    labels = [cell.label for cell in rendering.parsed.cells.cells]
    is_meant = bool(thing) and not ref.page and name in labels
    return f"write `#| label: {ref.target}` in the cell" if is_meant else ""


def _author_spelling(label_id: str, ref: XRef) -> str:
    """Return an id with the separator that the author used: `eq:x` or `eq-x`."""
    return label_id if ref.target in ref.written else label_id.replace("-", ":", 1)


def label_text(rendering: PageRendering, label: Label) -> str:
    """Return the text of a reference as plain text: `Theorem 1`, `Equation (2)`."""
    html = _ALTTEXT.sub(r"\1", reference_html(label, "full", rendering))
    return read_text(html)


def reference_html(label: Label, form: str, rendering: PageRendering) -> str:
    """Return the text of a reference as HTML. form: `number` for the number alone, otherwise `full`."""
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
