"""Code fences: the highlighted figure, diagrams, indented code. Fences that run stand in `cells.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from markdown_it.token import Token

from ..syntax.cells.option_values import FOLD
from ..syntax.records import Fence, record_of
from .captions import inline_html
from .code import FigureOptions, Highlighted, code_figure, has_long_lines, highlight, is_known_language
from .code_notes import line_marks
from .context import Rendering, Rule
from .diagrams import diagram_figure, is_diagram
from .fragments import fragment_key
from .prose import escape_html


def fence(rendering: Rendering, token: Token) -> str:
    """The figure of a fence that is no cell: its diagram or its code."""
    record = record_of(token, Fence)
    if is_diagram(rendering, record.language):
        return diagram_figure(rendering, token.content, record)
    return code_of_fence(rendering, token, token.content, record)


def code_of_fence(
    rendering: Rendering, token: Token, source: str, record: Fence, *, fold_open: bool = False
) -> str:
    """The figure of the code `source`, shown as `record` says; a language nobody knows is reported."""
    rendering.code_blocks += 1
    if not record.fold or fold_open:
        rendering.reading.add_code(source.count("\n"))
    rendering.widgets.add("code")
    settings = rendering.tools.config.code
    numbered = settings.line_numbers if record.numbered is None else record.numbered
    fold = rendering.language.translate("Show code") if record.fold in (True, FOLD) else record.fold
    options = FigureOptions(
        title=record.title,
        first_line=record.first_line,
        marked=record.marked,
        added=record.added,
        removed=record.removed,
        marks=line_marks(rendering.language, record),
        numbered=numbered,
        wide=has_long_lines(source, numbered=numbered),
        fold=fold,
        fold_open=fold_open,
        id=record.id,
        classes=(*str(token.attrs.get("class", "")).split(), *record.classes),
    )
    if record.added or record.removed or record.marks or record.listing:
        rendering.widgets.add("teaching")
    return _listing(rendering, record, _figure(rendering, source, record, options)) + "\n"


def _figure(rendering: Rendering, source: str, record: Fence, options: FigureOptions) -> str:
    key = fragment_key(source, record.language, options)
    kept = rendering.tools.kept.get(key)
    if kept is not None:
        rendering.fragments[key] = kept
        return kept
    settings = rendering.tools.config.code
    shown = highlight(
        source,
        record.language,
        deadline_s=settings.deadline_s,
        max_line=settings.max_line,
        lex=rendering.tools.lex,
    )
    figure = code_figure(shown.lines, record.language, options)
    if shown.problem:
        _report_plain(rendering, record, shown)
    else:
        rendering.fragments[key] = figure
    return figure


def _report_plain(rendering: Rendering, record: Fence, shown: Highlighted) -> None:
    code = "code-plain" if is_known_language(record.language) else "code-language"
    message, _, near = shown.problem.partition(" (")
    fix = rendering.reporter.substitute(record.place, record.language, shown.meant or None)
    message = f"{message}; the code is shown plain"
    rendering.reporter.warn(code, message, record.place, near.removesuffix(")"), fix)


def _listing(rendering: Rendering, record: Fence, figure: str) -> str:
    """The figure below its number and caption, if it has one of them."""
    if not (record.number or record.caption):
        return figure
    rendering.widgets.add("teaching")
    name = rendering.language.translate("Listing {number}", number=record.number)
    label = f'<span class="listing-label">{escape_html(name)}.</span>' if record.number else ""
    text = inline_html(rendering, record.caption) if record.caption else ""
    anchor = f' id="{escape_html(record.listing)}"' if record.listing else ""
    caption = f"{label}{' ' if label and text else ''}{text}"
    return f'<figure class="listing"{anchor}><figcaption>{caption}</figcaption>\n{figure}</figure>'


def _code_block(rendering: Rendering, tokens: Sequence[Token], index: int) -> str:
    rendering.code_blocks += 1
    rendering.reading.add_code(tokens[index].content.count("\n"))
    rendering.widgets.add("code")
    settings = rendering.tools.config.code
    source, numbered = tokens[index].content, settings.line_numbers
    shown = highlight(source, "", deadline_s=settings.deadline_s, max_line=settings.max_line)
    options = FigureOptions(numbered=numbered, wide=has_long_lines(source, numbered=numbered))
    figure = code_figure(shown.lines, "", options)
    return figure + "\n"


RULES: Mapping[str, Rule] = MappingProxyType({"code_block": _code_block})
