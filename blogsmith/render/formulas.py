"""Formulas as MathML: conversion, numbers, and TeX errors at their position in the source."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import unescape
from types import MappingProxyType
from typing import TYPE_CHECKING

from markdown_it.token import Token

from ..base.diagnostics.fixes import Fix, TextEdit, make_replacement
from ..base.diagnostics.model import Place, Severity
from ..base.html_tags import remove_tags
from ..base.patterns import lazy_pattern
from ..model.documents import ConverterFallback
from ..syntax.records import Math, RowMark, XRef, get_record
from ..syntax.references.references import label_id
from ..tex.displays import DisplayRoom, FittedDisplay, find_room
from ..tex.errors import TexError
from ..tex.on_demand import (
    contains_tex,
    doubled_commands,
    doubled_row_end,
    dropped_comments,
    find_definitions,
    find_entity,
    find_further_errors,
    fit_display,
    group_lines,
    is_command,
    literal_underscore,
    math_content,
    name_formulas,
    portable_tex,
    typeset_tag,
)
from .context import PageRendering, Rule
from .converters import with_plugin
from .fragments import fragment_key
from .notes import reference
from .numbers import number_html, number_text, strip_links
from .prose import escape_html, find_punctuation, own_classes

if TYPE_CHECKING:
    from ..tex.convert import Convert
    from ..tex.parse.reader import Macro
    from ..tex.parse.state import RowNumber

PHONE_CHARACTERS = 26
"""Approximate number of printed characters that certainly fit on a phone 360 px wide."""

_INNERMOST = lazy_pattern(r"\\begin\{([A-Za-z*]+)\}((?:(?!\\begin).)*?)\\end\{\1\}", re.DOTALL)
_BRACKETS = 2
_MAX_NESTING = 20
# commands that print a word of about three letters
_WORD = lazy_pattern(r"\\(?:sin|cos|tan|log|exp|lim|max|min|sup|inf|det|dim|ker|arg|gcd|Pr)(?![A-Za-z])")
_COMMAND = lazy_pattern(r"\\[A-Za-z]+")
_LINK = lazy_pattern(r"</?a\b[^<>]*>")
_UNPRINTED = lazy_pattern(r"[{}^_\s]")


def _inline(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    """Render an inline formula. A following punctuation mark is kept on the same line. Chromium breaks a line
    between `</math>` and a comma, which CSS Text forbids."""
    formula = _typeset(rendering, get_record(tokens[index], Math), max_unbroken=PHONE_CHARACTERS).mathml
    if rendering.is_in_link and "<a " in formula:
        # `\href` or `\eqref` in a formula is a link
        math = get_record(tokens[index], Math)
        rendering.report_nested(f"${math.tex}$", math.origin.place(0, len(math.tex)))
        formula = strip_links(formula)
    if rendering.is_title or rendering.is_in_link:
        formula = name_formulas(formula, rendering.language.tag)
    tail = find_punctuation(tokens, index + 1)
    if not (formula and tail):
        return formula + tail
    # rows of a long formula are followed by an element, which the theme moves over a space of the last row
    sign = f"<span>{tail}</span>" if '<math class="math-lines"' in formula else tail
    return f'<span class="math-joined">{formula}{sign}</span>'


def _display(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    """Render a display formula with its number, or with the numbers of its rows. A number is a link to its
    equation. Row numbers are inside `<math>`, where links are not possible, so links without text follow the
    formula, and the theme positions them over the numbers."""
    math = get_record(tokens[index], Math)
    single = len(math.rows) == 1
    numbered = any(mark.number for mark in math.rows)
    _check_tags(rendering, math)
    rows = [_row(rendering, mark) for mark in math.rows] if numbered and not single else ()
    number = number_text(math.rows[0].number) if single and math.rows[0].number else ""
    wide = math.wide or wide_setting(rendering)
    room = find_room(wide, tokens[index].level, number)
    fitted = _typeset(rendering, math, rows, room=room)
    if fitted.attributes and fitted.is_scrolled(room):
        line = math.tex.lstrip().split("\n")[0]
        place = math.origin.place(math.tex.index(line), len(line))
        rendering.check_reporter.warn("math-wide", _WIDE, place, _WIDE_HINT)
    content = fitted.mathml
    if not content:
        return ""
    tail = f'<span class="math-tail">{math.tail}</span>' if math.tail else ""
    looks = wide_attribute(math.tex) + fitted.attributes
    tag = "span" if math.is_phrasing else "div"
    opening = f'<{tag} class="math-display{own_classes(tokens[index])}"'
    if single:
        mark = math.rows[0]
        number = _number(rendering, mark)
        return f"{opening}{_id(mark)}{looks}>{content}{tail}{number}</{tag}>\n"
    typeset = "<math" in content
    anchors = "".join(_anchor(mark) for mark in math.rows if not (typeset and mark.number))
    links = "".join(_row_link(rendering, mark) for mark in math.rows if typeset and mark.number)
    return f"{opening}{looks}>{anchors}{content}{tail}{links}</{tag}>\n"


_WIDE = "display math does not fit a phone and scrolls there"
_WIDE_HINT = (
    "shorten its widest fraction, root, matrix or box, or write it in lines, e.g. in `aligned`; "
    "write `{wide=scroll}` after it if it may scroll"
)


def wide_setting(rendering: PageRendering) -> str:
    """Return the page's setting for display formulas wider than the screen: `fit`, `shrink`, `break` or
    `scroll`."""
    return rendering.document.front.math.wide or rendering.tools.config.math.wide


def wide_attribute(tex: str) -> str:
    """Return ` data-wide=""` for a display formula that may be wider than a phone, otherwise an empty
    string."""
    return ' data-wide=""' if estimate_width(tex) > PHONE_CHARACTERS else ""


def estimate_width(tex: str) -> int:
    """Return the approximate number of printed characters of the formula's widest row. A matrix is as wide as
    its own widest row."""
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
    """Return an empty element with the id of a row, as the target of links. Empty if the row has no id."""
    return f"<span{_id(mark)}></span>" if mark.id else ""


def _number(rendering: PageRendering, mark: RowMark) -> str:
    if not mark.number:
        return ""
    shown = number_html(mark.number, rendering.macros, bare=mark.bare)
    if not mark.id:
        return f'<span class="eq-number">{shown}</span>'
    shown = name_formulas(shown, rendering.language.tag) if "<math" in shown else shown
    return f'<a class="eq-number" href="#{escape_html(mark.id)}">{shown}</a>'


def _check_tags(rendering: PageRendering, math: Math) -> None:
    r"""Report TeX in a `\tag` that cannot be typeset, at its position."""
    for mark in math.rows:
        if contains_tex(mark.number):
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


def _row_link(rendering: PageRendering, mark: RowMark) -> str:
    if not mark.id:
        return ""
    text = number_text(mark.number)
    number = text if mark.bare else f"({text})"
    label = rendering.language.translate("Equation {number}", number=number)
    return f'<a class="eq-anchor" href="#{escape_html(mark.id)}" aria-label="{escape_html(label)}"></a>'


def _row(rendering: PageRendering, mark: RowMark) -> RowNumber | None:
    if not mark.number:
        return None
    from ..tex.parse.state import RowNumber

    shown = number_html(mark.number, rendering.macros, bare=mark.bare)
    typeset = math_content(shown) if "<math" in shown else ""
    return RowNumber(mark.number, mark.id, mark.bare, typeset)


_DOUBLE_END = lazy_pattern(r"\\{4}")
_DOUBLED = 'doubled "\\\\" at the end of a row: this adds an empty row'


def _typeset(
    rendering: PageRendering,
    math: Math,
    rows: Sequence[RowNumber | None] = (),
    *,
    max_unbroken: int | None = None,
    room: DisplayRoom | None = None,
) -> FittedDisplay:
    """Return the formula as a `<math>` element, or an empty string if it only defines macros. rows: numbers
    of the rows. max_unbroken: number of printed characters above which an inline formula may break or scroll;
    None: never. room: space for a display formula."""
    rendering.formulas += 1
    rendering.reading.add_formula(display=math.display)
    _warn_of_escapes(rendering, math)
    if "&" in math.tex and (entity := find_entity(math.tex)):
        length = len(entity.written)
        error = TexError(
            "math-syntax", entity.message, entity.offset, length, hint=entity.hint, meant=entity.meant
        )
        return FittedDisplay(_error_html(rendering, math, error))
    packages = _packages(rendering)
    limit = max_unbroken if room is None else room
    inputs = (math.tex, math.display, limit, *rows, rendering.macros.digest, *sorted(packages))
    key, box_key = fragment_key(*inputs), fragment_key("box", *inputs) if room else b""
    cached = rendering.tools.cached_fragments
    kept = None if rendering.converter else cached.get(key)
    if kept is not None:
        fitted = FittedDisplay(kept, cached.get(box_key, ""))
        _keep(rendering, fitted, key, box_key)
        return fitted
    # positions are computed only if a converter may need them
    convert = page_converter(rendering, math.origin.place(0) if rendering.converter else None)
    try:
        found = convert(math.tex, display=math.display, macros=rendering.macros, rows=rows, packages=packages)
    except TexError as error:
        # macros of a formula with an error are still defined, so that formulas that use them have no further
        # errors
        rendering.define(find_definitions(math.tex, rendering.macros))
        return _errors(rendering, math, error, partial(convert, rows=(), packages=packages))
    _report_warnings(rendering, math, found.warnings)
    numbers: dict[str, str] = {}

    def number(link: re.Match[str]) -> str:
        target, form = unescape(link[1]), "full" if link[2] == "???" else "number"
        return numbers.setdefault(target, _reference(rendering, math, target, form))

    markup = _REFERENCE.sub(number, found.mathml) if "<a href" in found.mathml else found.mathml
    markup = _with_portable_tex(markup, math.tex, rendering.macros, numbers)
    if max_unbroken is not None:
        markup = _allow_breaks(markup, max_unbroken)
    fitted = FittedDisplay(markup) if room is None else fit_display(markup, room)
    if not (numbers or found.macros or found.warnings or rendering.converter):
        _keep(rendering, fitted, key, box_key)
    rendering.define(found.macros)
    return fitted


def _report_warnings(rendering: PageRendering, math: Math, warnings: Sequence[TexError]) -> None:
    for error in warnings:
        place = math.origin.place(error.offset, error.length)
        rendering.reporter.report(error.kind, error.message, place, hint=error.hint, severity="warning")


def _warn_of_escapes(rendering: PageRendering, math: Math) -> None:
    """Warn about backslashes and percent characters that are probably errors."""
    # a formula that is only `\_` is intentional
    if "\\_" in math.tex and math.tex.strip() != "\\_":
        _warn_of_underscore(rendering, math)
    if "\\\\\\\\" in math.tex and (at := doubled_row_end(math.tex)) >= 0:
        hint = "write `\\\\` once, or `\\\\[1em]` for more space between rows"
        fix = _single_row_ends(math, at)
        rendering.reporter.warn("math-escape", _DOUBLED, math.origin.place(at, 4), hint, fix)
    if "%" in math.tex or "\\\\" in math.tex:
        _warn_of_slips(rendering, math)


def _keep(rendering: PageRendering, fitted: FittedDisplay, key: bytes, box_key: bytes) -> None:
    """Store the HTML of a formula under `key`, and the attributes of its box under `box_key`, for the next
    rendering of the page. Called in the order of the page."""
    if fitted.attributes:
        rendering.fragments[box_key] = fitted.attributes
    rendering.fragments[key] = fitted.mathml


def _allow_breaks(formula: str, most_printed: int) -> str:
    """Return an inline formula that may break into lines. If no break is possible, it scrolls like a display
    formula. A formula of at most `most_printed` printed characters is returned unchanged."""
    if len(remove_tags(formula)) <= most_printed or "<math " not in formula:
        return formula
    return group_lines(formula, most_printed) or f'<span class="math-long">{formula}</span>'


def page_converter(rendering: PageRendering, place: Place | None = None) -> Convert:
    """Return the converter for formulas of this page. place: Start of the formula, if the author wrote it."""
    converter = rendering.converter
    if converter is None:
        return rendering.tools.formula

    def report(reason: str) -> None:
        rendering.fallbacks[ConverterFallback(converter.plugin, reason, place)] = None

    return with_plugin(rendering.tools.formula, converter, rendering.tools.plugin_formula, report)


def _warn_of_underscore(rendering: PageRendering, math: Math) -> None:
    r"""Warn about `\_`, which prints an underscore instead of a subscript."""
    at = literal_underscore(math.tex, rendering.macros)
    if at >= 0:
        hint = "write `_` for a subscript, or `\\text{a\\_b}` for a name"
        place = math.origin.place(at, 2)
        fix = make_replacement(place.line, place.column, "\\_", "_")
        rendering.reporter.warn(
            "math-escape", '"\\_" prints an underscore, not a subscript', place, hint, fix
        )


def _warn_of_slips(rendering: PageRendering, math: Math) -> None:
    """Warn about percent signs that start comments, and commands with two backslashes."""
    slips = (
        *dropped_comments(math.tex, display=math.display),
        *doubled_commands(math.tex, lambda name: name in rendering.macros or is_command(name)),
    )
    for slip in slips:
        place = math.origin.place(slip.offset, len(slip.written))
        fix = make_replacement(place.line, place.column, slip.written, slip.meant)
        rendering.reporter.warn("math-escape", slip.message, place, slip.hint, fix)


def _single_row_ends(math: Math, first: int) -> Fix:
    """Return a fix for all doubled row ends of a table. first: offset in the TeX of the first doubled row
    end."""
    table = math.tex[: math.tex.find("\\end{", first)]
    places = [math.origin.place(found.start(), 4) for found in _DOUBLE_END.finditer(table, first)]
    edits = tuple(TextEdit(place.line, place.column, "\\" * 4, "\\" * 2) for place in places)
    return Fix("write \\\\ at the end of each row", edits, is_safe=True)


def _with_portable_tex(
    mathml: str, tex: str, macros: Mapping[str, str | Macro], numbers: Mapping[str, str]
) -> str:
    """Return `mathml` with the attribute `data-tex`: TeX with expanded macros, for readers to copy. It is
    left out if the author's TeX contains no macros. numbers: label in the formula → printed text of the
    reference."""
    if not macros and "\\" not in tex:
        return mathml
    portable = portable_tex(tex, macros)
    if numbers:
        portable = _REFERENCE_TEX.sub(lambda found: _number_tex(numbers, found), portable).strip()
    if portable == tex or not mathml:
        return mathml
    end = mathml.index(">", mathml.index("<math "))
    return f'{mathml[:end]} data-tex="{escape_html(portable)}"{mathml[end:]}'


def _packages(rendering: PageRendering) -> frozenset[str]:
    """Return the LaTeX packages that the page sets, or those of the site if it sets none."""
    own = rendering.document.front.math.packages
    return frozenset(rendering.tools.config.math.packages if own is None else own)


def _number_tex(numbers: Mapping[str, str], reference: re.Match[str]) -> str:
    number = numbers.get(reference[1].strip(), "")
    return f"\\text{{{unescape(number)}}}" if number and "<" not in number else reference[0]


def _reference(rendering: PageRendering, math: Math, target: str, form: str) -> str:
    r"""Return the text that `\eqref{target}` or `\cref{target}` prints inside a formula. It is not a link,
    because assistive technology cannot reach a link inside a formula. form: as in `reference_html`."""
    written = re.search(rf"\\(?:eqref|[cC]?ref|autoref)\{{\s*{re.escape(target)}\s*\}}", math.tex)
    place = math.origin.place(written.start(), len(written[0])) if written else math.origin.place(0)
    page, _, name = target.rpartition("#")
    return _LINK.sub("", reference(rendering, XRef(label_id(name), page, form, place, target)))


def _errors(
    rendering: PageRendering, math: Math, first: TexError, convert: Callable[..., object]
) -> FittedDisplay:
    """Report the error `first` of a formula and all further errors. Return the formula's source as HTML.
    convert: converter used to find the further errors."""
    html = _error_html(rendering, math, first)
    if not rendering.converter:
        again = partial(convert, display=math.display, macros=rendering.macros)
        for further in find_further_errors(math.tex, first, again):
            _error_html(rendering, math, further)
    return FittedDisplay(html)


def _error_html(rendering: PageRendering, math: Math, error: TexError) -> str:
    place = math.origin.place(error.offset, error.length)
    as_source = rendering.tools.config.math.on_error == "render"
    written = math.tex[error.offset : error.offset + error.length]
    fix = (
        None
        if error.correction is None
        else make_replacement(place.line, place.column, written, error.correction)
    )
    severity: Severity = "warning" if as_source else "error"
    rendering.reporter.report(error.kind, error.message, place, hint=error.hint, severity=severity, fix=fix)
    return f'<code class="math-error">{escape_html(math.tex.strip())}</code>'


_REFERENCE_TEX = lazy_pattern(r"\\(?:eq|[cC]|auto)?ref\s*\{([^{}]*)\}")
_REFERENCE = lazy_pattern(r'<a href="#([^"]*)">(\(\?\?\)|\?\?\??)</a>')
r"""Regular expression of the converter's output for a `\ref`, which it prints without a number."""

RULES: Mapping[str, Rule] = MappingProxyType({"math_inline": _inline, "math_display": _display})
