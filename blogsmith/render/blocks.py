"""Block containers: callouts, collapsibles, tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from markdown_it.token import Token

from ..base.html_tags import read_text
from ..languages.language import Language
from ..model.dates import parse_date
from ..syntax.records import Callout, Collapsible, TableRecord, get_record
from ..tex.on_demand import name_formulas
from .context import PageRendering, Rule
from .headings import spoken_name
from .margins import is_margin_note, margin_note_opening
from .notes import reference_html
from .prose import attributes, escape_html


def _callout_open(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    callout = get_record(tokens[index], Callout)
    if is_margin_note(callout):
        return margin_note_opening(rendering, callout, tokens[index])
    own = str(tokens[index].attrs.get("class", ""))
    classes = f'class="{escape_html(" ".join(filter(None, ("callout", f"callout-{callout.kind}", own))))}"'
    name = f' id="{escape_html(callout.id)}"' if callout.id else ""
    look = {
        "data-exercise": callout.exercise if rendering.tools.config.theorems.exercises else "",
        **{"data-icon": callout.icon, "data-color": callout.color, "data-style": callout.style},
    }
    rest = attributes(tokens[index], "class", "id") + "".join(
        f' {key}="{escape_html(value)}"' for key, value in look.items() if value
    )
    if callout.fold:
        rendering.reading.enter(is_folded=callout.fold == "-")
        opened = " open" if callout.fold == "+" else ""
        start = f'<details {classes} data-kind="{callout.kind}"{name}{rest}{opened}>\n'
    else:
        said = escape_html(_spoken_title(rendering, callout, tokens[index + 2 : index + 3]))
        label = "" if "aria-label" in tokens[index].attrs else f' aria-label="{said}"'
        start = f'<aside {classes} data-kind="{callout.kind}" role="note"{label}{name}{rest}>\n'
    if callout.has_title:
        return start
    tag = _title_tag(callout)
    return f'{start}<{tag} class="callout-title">{_label(rendering, callout)}</{tag}>\n'


def _spoken_title(rendering: PageRendering, callout: Callout, inline: Sequence[Token]) -> str:
    """Return the title of a callout as plain text. inline: starts with the token of the author's title, if
    the callout has one."""
    if not callout.has_title:
        return read_text(_label(rendering, callout))
    label = read_text(_label_before_title(rendering, callout, inline[0]))
    title = spoken_name(rendering, inline[0].children or ())
    title = _before_title(rendering, read_text(_exercise(rendering, callout))) + title
    return f"{label} ({title})" if label and title else label or title


def _title_tag(callout: Callout) -> str:
    return "summary" if callout.fold else "p"


def _label(rendering: PageRendering, callout: Callout) -> str:
    title = rendering.kind_name(callout.title)
    if exercise := _exercise(rendering, callout):
        label = _number_label(rendering, callout, title)
        return f'{label} <span class="callout-name">({exercise})</span>'
    return _number_label(rendering, callout, title) if callout.number else escape_html(title)


def _exercise(rendering: PageRendering, callout: Callout) -> str:
    """Return the reference to an exercise, for a solution whose title names the exercise; empty for other
    callouts. It is a link, except in the title of a fold."""
    label = rendering.labels.get(callout.exercise) if callout.names_exercise else None
    if label is None:
        return ""
    text = reference_html(label, "full", rendering)
    # the title of a fold is a button, and a button must not contain links
    return text if callout.fold else f'<a class="xref" href="#{escape_html(label.id)}">{text}</a>'


def _number_label(rendering: PageRendering, callout: Callout, title: str) -> str:
    """Return `title`, the name of a kind of callout, with the callout's number if it has one, as HTML."""
    label = rendering.language.translate("{name} {number}", name=title, number=callout.number)
    return f'<span class="callout-label">{escape_html(label if callout.number else title)}</span>'


def _label_before_title(rendering: PageRendering, callout: Callout, title: Token) -> str:
    """Return the name of the callout's kind, printed before the author's title as in `Theorem (Row sums)`;
    empty if the page does not print it."""
    name = rendering.kind_name(callout.title)
    # An author may have written `Theorem of Fermat`, which needs no second `Theorem`.
    repeats = title.content.casefold().startswith((name.casefold(), callout.title.casefold()))
    if callout.number or (callout.is_statement and not repeats):
        return _number_label(rendering, callout, name)
    return ""


def _title_open(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    callout = get_record(tokens[index], Callout)
    if is_margin_note(callout):
        return '<p class="margin-title">'
    start = f'<{_title_tag(callout)} class="callout-title">'
    label = _label_before_title(rendering, callout, tokens[index + 1])
    exercise = _before_title(rendering, _exercise(rendering, callout))
    return f'{start}{label} <span class="callout-name">({exercise}' if label else start


def _before_title(rendering: PageRendering, exercise: str) -> str:
    """Return `exercise` with a separator, to put before a title; empty if `exercise` is empty."""
    return f"{exercise}{rendering.language.translate('{item}, {next}', item='', next='')}" if exercise else ""


def _title_close(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    callout = get_record(tokens[index], Callout)
    end = ")</span>" if _label_before_title(rendering, callout, tokens[index - 1]) else ""
    return f"{end}</{_title_tag(callout)}>\n"


def _body_open(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    callout = get_record(tokens[index], Callout)
    start = "" if is_margin_note(callout) else '<div class="callout-body">\n'
    moment = parse_date(callout.held_until) if callout.held_until else None
    if moment is None:
        return start
    language = rendering.language
    text = language.translate("not published before {date}", date=language.format_date(moment))
    return f'{start}<p class="solution-held"><span class="badge">{escape_html(text)}</span></p>\n'


def _body_close(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    return "" if is_margin_note(get_record(tokens[index], Callout)) else "</div>\n"


def _callout_close(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    if not get_record(tokens[index], Callout).fold:
        return "</aside>\n"
    rendering.reading.leave()
    return "</details>\n"


def _solutions_open(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    title = escape_html(rendering.language.translate("Solutions"))
    return f'<section class="solutions" aria-label="{title}">\n<h2>{title}</h2>\n'


def _solutions_close(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    return "</section>\n"


def _withheld(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    return ""


def _render_end_mark(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    mark = '<span class="qed">∎</span>'
    return f'<p class="qed-line">{mark}</p>\n' if tokens[index].block else f" {mark}"


def _collapsible_open(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    is_open = get_record(tokens[index], Collapsible).open
    rendering.reading.enter(is_folded=not is_open)
    opened = " open" if is_open else ""
    return f"<details{attributes(tokens[index])}{opened}>\n"


def _label_open(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    return "<summary>"


def _label_close(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    return "</summary>\n"


def _collapsible_close(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    rendering.reading.leave()
    return "</details>\n"


def _element_open(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    token = tokens[index]
    if token.tag == "details":
        rendering.reading.enter(is_folded="open" not in token.attrs)
    return f"<{token.tag}{attributes(token)}>" + ("\n" if token.block else "")


def _element_close(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    tag = tokens[index].tag
    if tag == "details":
        rendering.reading.leave()
    return f"</{tag}>{tokens[index].markup}"


def _table_open(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    table = get_record(tokens[index], TableRecord)
    name = f' id="{escape_html(table.id)}"' if table.id else ""
    # Screen reader users could not distinguish two regions of the same name.
    label = (
        rendering.language.translate("Table {number}", number=table.number)
        if table.number
        else rendering.language.translate("Table {number} on this page", number=table.ordinal)
    )
    wrap = f'<div class="table-wrap" role="region" tabindex="0" aria-label="{escape_html(label)}">'
    return f"{wrap}\n<table{name}{attributes(tokens[index], 'id')}>\n"


def caption(rendering: PageRendering, table_open: Token, html: str) -> str:
    """Return the `<caption>` of the table that starts with `table_open`. html: the caption's text."""
    return f"{table_caption(rendering.language, get_record(table_open, TableRecord).number, html)}\n"


def table_caption(language: Language, number: str, html: str) -> str:
    """Return the `<caption>`; empty if both number and text are empty. html: the caption's text."""
    name = escape_html(language.translate("Table {number}", number=number))
    label = f'<span class="table-label">{name}.</span>' if number else ""
    return f"<caption>{label}{' ' if label and html else ''}{html}</caption>" if label or html else ""


def header_cell(rendering: PageRendering, children: Sequence[Token], html: str) -> str:
    """Return the content of a header cell. If it contains only formulas, they get accessible names.

    Checkers and some screen readers ignore text in `<math>`, so the header would be empty to them.
    """
    has_text = any(child.type != "math_inline" for child in children)
    return html if has_text else name_formulas(html, rendering.language.tag)


def _table_close(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    return "</table>\n</div>\n"


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "callout_open": _callout_open,
        "solutions_open": _solutions_open,
        "solutions_close": _solutions_close,
        "withheld": _withheld,
        "callout_title_open": _title_open,
        "callout_title_close": _title_close,
        "callout_body_open": _body_open,
        "callout_body_close": _body_close,
        "callout_close": _callout_close,
        "qed": _render_end_mark,
        "collapsible_open": _collapsible_open,
        "collapsible_label_open": _label_open,
        "collapsible_label_close": _label_close,
        "collapsible_close": _collapsible_close,
        "markdown_open": _element_open,
        "markdown_close": _element_close,
        "table_open": _table_open,
        "table_close": _table_close,
    }
)
