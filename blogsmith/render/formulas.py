"""Formulas → MathML in the page: conversion, numbers, and TeX mistakes at the author's place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import unescape
from types import MappingProxyType
from typing import TYPE_CHECKING

from markdown_it.token import Token

from ..base.diagnostics.fixes import Fix, TextEdit, exchange
from ..base.diagnostics.model import Place, Severity
from ..base.patterns import lazy_pattern
from ..model.documents import ConverterFallback
from ..syntax.records import Math, RowMark, XRef, record_of
from ..syntax.references.references import label_id
from ..tex.errors import TexError
from ..tex.on_demand import (
    doubled_row_end,
    find_definitions,
    group_lines,
    holds_tex,
    literal_underscore,
    math_content,
    portable_tex,
    typeset_tag,
)
from .context import Rendering, Rule
from .converters import plug_in
from .fragments import fragment_key
from .notes import reference
from .numbers import number_html, number_text
from .prose import escape_html, find_punctuation

if TYPE_CHECKING:
    from ..tex.convert import Convert
    from ..tex.parse.reader import Macro
    from ..tex.parse.state import RowNumber

NARROW = 26
"""Printed characters, roughly counted, that surely fit a phone of 360 px."""

_INNERMOST = lazy_pattern(r"\\begin\{([A-Za-z*]+)\}((?:(?!\\begin).)*?)\\end\{\1\}", re.DOTALL)
_BRACKETS = 2
_MAX_NESTING = 20
# commands that print a word of three letters or so
_WORD = lazy_pattern(r"\\(?:sin|cos|tan|log|exp|lim|max|min|sup|inf|det|dim|ker|arg|gcd|Pr)(?![A-Za-z])")
_COMMAND = lazy_pattern(r"\\[A-Za-z]+")
_MARKUP = lazy_pattern(r"<[^<>]*>")
_LINK = lazy_pattern(r"</?a\b[^<>]*>")
_UNPRINTED = lazy_pattern(r"[{}^_\s]")


def _inline(rendering: Rendering, tokens: Sequence[Token], index: int) -> str:
    """A formula in a line, kept together with the punctuation behind it.

    Chromium breaks a line between `</math>` and a comma, which CSS Text forbids.
    """
    formula = mathml(rendering, record_of(tokens[index], Math), most_printed=NARROW)
    tail = find_punctuation(tokens, index + 1)
    return f'<span class="math-joined">{formula}{tail}</span>' if formula and tail else formula + tail


def _display(rendering: Rendering, tokens: Sequence[Token], index: int) -> str:
    """A display with its numbers; one number stands beside the formula, several in their rows.

    A number is the link to its equation. Inside `<math>` it cannot be one (see `tex`), so the links of rows
    stand behind the formula, empty; the theme lays them over the numbers.
    """
    math = record_of(tokens[index], Math)
    single = len(math.rows) == 1
    numbered = any(mark.number for mark in math.rows)
    _check_tags(rendering, math)
    rows = [_row(rendering, mark) for mark in math.rows] if numbered and not single else ()
    content = mathml(rendering, math, rows)
    if not content:
        return ""
    tail = f'<span class="math-tail">{math.tail}</span>' if math.tail else ""
    wide = wide_mark(math.tex)
    tag = "span" if math.is_phrasing else "div"
    if single:
        mark = math.rows[0]
        number = _number(rendering, mark)
        return f'<{tag} class="math-display"{_id(mark)}{wide}>{content}{tail}{number}</{tag}>\n'
    typeset = "<math" in content
    anchors = "".join(_anchor(mark) for mark in math.rows if not (typeset and mark.number))
    links = "".join(_row_link(rendering, mark) for mark in math.rows if typeset and mark.number)
    return f'<{tag} class="math-display"{wide}>{anchors}{content}{tail}{links}</{tag}>\n'


def wide_mark(tex: str) -> str:
    """Says that a display may be wider than a phone, where nothing can stand beside it."""
    return ' data-wide=""' if estimate_width(tex) > NARROW else ""


def estimate_width(tex: str) -> int:
    """About how many characters the widest row prints; a matrix counts as its own widest row."""
    for _ in range(_MAX_NESTING):
        tex, replaced = _INNERMOST.subn(lambda found: "x" * (_widest(found[2]) + _BRACKETS), tex)
        if not replaced:
            break
    return _widest(tex)


def _widest(rows: str) -> int:
    rows = _COMMAND.sub("x", _WORD.sub("xxx", rows).replace("&", "x"))
    return max(len(_UNPRINTED.sub("", row)) for row in rows.split("\\\\"))


def _id(mark: RowMark) -> str:
    return f' id="{escape_html(mark.id)}"' if mark.id else ""


def _anchor(mark: RowMark) -> str:
    """A place for a row's id where the row itself cannot carry it."""
    return f"<span{_id(mark)}></span>" if mark.id else ""


def _number(rendering: Rendering, mark: RowMark) -> str:
    if not mark.number:
        return ""
    shown = number_html(mark.number, rendering.macros, bare=mark.bare)
    if not mark.id:
        return f'<span class="eq-number">{shown}</span>'
    return f'<a class="eq-number" href="#{escape_html(mark.id)}">{shown}</a>'


def _check_tags(rendering: Rendering, math: Math) -> None:
    """Report TeX in a `\\tag` that cannot be typeset, at its place."""
    for mark in math.rows:
        if holds_tex(mark.number):
            try:
                typeset_tag(mark.number, rendering.macros)
            except TexError as error:
                start = max(0, math.tex.find(mark.number))
                rendering.reporter.error(
                    error.kind,
                    error.message,
                    math.origin.place(start + error.offset, error.length),
                    error.hint,
                )


def _row_link(rendering: Rendering, mark: RowMark) -> str:
    if not mark.id:
        return ""
    text = number_text(mark.number)
    number = text if mark.bare else f"({text})"
    label = rendering.language.translate("Equation {number}", number=number)
    return f'<a class="eq-anchor" href="#{escape_html(mark.id)}" aria-label="{escape_html(label)}"></a>'


def _row(rendering: Rendering, mark: RowMark) -> RowNumber | None:
    if not mark.number:
        return None
    from ..tex.parse.state import RowNumber

    shown = number_html(mark.number, rendering.macros, bare=mark.bare)
    typeset = math_content(shown) if "<math" in shown else ""
    return RowNumber(mark.number, mark.id, mark.bare, typeset)


_DOUBLE_END = lazy_pattern(r"\\{4}")
_DOUBLED = "each row ends with \\\\\\\\, so an empty row stands between them"


def mathml(
    rendering: Rendering,
    math: Math,
    rows: Sequence[RowNumber | None] = (),
    *,
    most_printed: int | None = None,
) -> str:
    """The `<math>` element; empty for a formula that only defines macros.

    most_printed: characters of a formula in a line; what prints more may break, or scrolls.
    """
    rendering.formulas += 1
    rendering.reading.add_formula(display=math.display)
    # the sign alone is meant as one
    if "\\_" in math.tex and math.tex.strip() != "\\_":
        _warn_of_underscore(rendering, math)
    if "\\\\\\\\" in math.tex and (at := doubled_row_end(math.tex)) >= 0:
        hint = "write \\\\ once; for more space between rows \\\\[1em]"
        fix = _single_row_ends(math, at)
        rendering.reporter.warn("math-escape", _DOUBLED, math.origin.place(at, 4), hint, fix)
    packages = _packages(rendering)
    key = fragment_key(math.tex, math.display, most_printed, *rows, rendering.macros_key, *sorted(packages))
    kept = None if rendering.converter else rendering.tools.kept.get(key)
    if kept is not None:
        rendering.fragments[key] = kept
        return kept
    # places are counted out for those who may ask
    convert = page_converter(rendering, math.origin.place(0) if rendering.converter else None)
    try:
        found = convert(math.tex, display=math.display, macros=rendering.macros, rows=rows, packages=packages)
    except TexError as error:
        # one mistake among many definitions makes no mistake of every formula that needs them
        rendering.define(find_definitions(math.tex, rendering.macros))
        return _error_html(rendering, math, error)
    numbers: dict[str, str] = {}

    def number(link: re.Match[str]) -> str:
        target = unescape(link[1])
        return numbers.setdefault(target, _reference(rendering, math, target))

    markup = _REFERENCE.sub(number, found.mathml) if "<a href" in found.mathml else found.mathml
    markup = _with_portable_tex(markup, math.tex, rendering.macros, numbers)
    if most_printed is not None:
        markup = _broken(markup, most_printed)
    if not (numbers or found.macros or rendering.converter):
        rendering.fragments[key] = markup
    rendering.define(found.macros)
    return markup


def _broken(formula: str, most_printed: int) -> str:
    """A formula in a line as it may break there; what cannot scrolls by itself, as a display does."""
    if len(_MARKUP.sub("", formula)) <= most_printed or "<math " not in formula:
        return formula
    return group_lines(formula, most_printed) or f'<span class="math-long">{formula}</span>'


def page_converter(rendering: Rendering, place: Place | None = None) -> Convert:
    """What typesets a formula of this page. place: where it begins, if it is the author's."""
    converter = rendering.converter
    if converter is None:
        return rendering.tools.formula

    def report(reason: str) -> None:
        rendering.fallbacks[ConverterFallback(converter.plugin, reason, place)] = None

    return plug_in(rendering.tools.formula, converter, rendering.tools.foreign, report)


def _warn_of_underscore(rendering: Rendering, math: Math) -> None:
    """An author who escapes `_` for Markdown gets what TeX makes of it, and no subscript."""
    at = literal_underscore(math.tex, rendering.macros)
    if at >= 0:
        hint = "a subscript is written _; in a name, write \\text{a\\_b}"
        place = math.origin.place(at, 2)
        fix = exchange(place.line, place.column, "\\_", "_")
        rendering.reporter.warn("math-escape", "\\_ is a literal underscore, no subscript", place, hint, fix)


def _single_row_ends(math: Math, first: int) -> Fix:
    """A fix of every row end of the table whose first one stands there."""
    table = math.tex[: math.tex.find("\\end{", first)]
    places = [math.origin.place(found.start(), 4) for found in _DOUBLE_END.finditer(table, first)]
    edits = tuple(TextEdit(place.line, place.column, "\\" * 4, "\\" * 2) for place in places)
    return Fix("write \\\\ at the end of each row", edits, is_safe=True)


def _with_portable_tex(
    mathml: str, tex: str, macros: Mapping[str, str | Macro], numbers: Mapping[str, str]
) -> str:
    """`mathml` with the TeX to copy where that is not the author's: nobody else knows a site's macros.

    numbers: label in the formula → what is printed for a reference to it.
    """
    if not macros and "\\" not in tex:
        return mathml
    portable = portable_tex(tex, macros)
    if numbers:
        portable = _REFERENCE_TEX.sub(lambda found: _number_tex(numbers, found), portable).strip()
    if portable == tex or not mathml:
        return mathml
    end = mathml.index(">", mathml.index("<math "))
    return f'{mathml[:end]} data-tex="{escape_html(portable)}"{mathml[end:]}'


def _packages(rendering: Rendering) -> frozenset[str]:
    """LaTeX packages that the page asks for, else the site."""
    own = rendering.document.front.math.packages
    return frozenset(rendering.tools.config.math.packages if own is None else own)


def _number_tex(numbers: Mapping[str, str], reference: re.Match[str]) -> str:
    number = numbers.get(reference[1].strip(), "")
    return f"\\text{{{unescape(number)}}}" if number and "<" not in number else reference[0]


def _reference(rendering: Rendering, math: Math, target: str) -> str:
    r"""The number that `\eqref{target}` inside a formula prints.

    It is no link: nothing inside a formula can be reached by assistive technology, which sees one thing.
    """
    written = re.search(rf"\\(?:eqref|ref)\{{\s*{re.escape(target)}\s*\}}", math.tex)
    place = math.origin.place(written.start(), len(written[0])) if written else math.origin.place(0)
    page, _, name = target.rpartition("#")
    return _LINK.sub("", reference(rendering, XRef(label_id(name), page, "number", place, target)))


def _error_html(rendering: Rendering, math: Math, error: TexError) -> str:
    place = math.origin.place(error.offset, error.length)
    as_source = rendering.tools.config.math.on_error == "render"
    written = math.tex[error.offset : error.offset + error.length]
    fix = None if error.meant is None else exchange(place.line, place.column, written, error.meant)
    severity: Severity = "warning" if as_source else "error"
    rendering.reporter.report(error.kind, error.message, place, hint=error.hint, severity=severity, fix=fix)
    return f'<code class="math-error">{escape_html(math.tex.strip())}</code>'


_REFERENCE_TEX = lazy_pattern(r"\\(?:eq)?ref\s*\{([^{}]*)\}")
_REFERENCE = lazy_pattern(r'<a href="#([^"]*)">(?:\(\?\?\)|\?\?)</a>')
"""What the converter makes of a `\\ref`, whose number it cannot know."""

RULES: Mapping[str, Rule] = MappingProxyType({"math_inline": _inline, "math_display": _display})
