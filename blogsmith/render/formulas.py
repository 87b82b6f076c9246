"""Formulas → MathML in the page: conversion, numbers, and TeX mistakes at the author's place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from markdown_it.token import Token

from ..syntax.records import Math, RowMark, get
from ..tex.convert import convert_formula
from ..tex.errors import TexError
from ..tex.macros import definitions
from ..tex.numbering import RowNumber
from .context import Rendering, Rule


def _inline(rendering: Rendering, tokens: Sequence[Token], index: int) -> str:
    return mathml(rendering, get(tokens[index], Math))


def _display(rendering: Rendering, tokens: Sequence[Token], index: int) -> str:
    """A display with its numbers; one number stands beside the formula, several in their rows."""
    math = get(tokens[index], Math)
    numbered = [mark for mark in math.rows if mark.number]
    single = len(math.rows) == 1 and bool(numbered)
    rows = () if single else tuple(_row(mark) for mark in math.rows)
    content = mathml(rendering, math, rows if numbered else ())
    if not content:
        return ""
    tail = f'<span class="math-tail">{math.tail}</span>' if math.tail else ""
    if not single:
        return f'<div class="math-display">{content}{tail}</div>\n'
    name = numbered[0].id
    number = _number(numbered[0])
    return f'<div class="math-display"{f" id={chr(34)}{name}{chr(34)}" if name else ""}>{content}{tail}{number}</div>\n'


def _number(mark: RowMark) -> str:
    if not mark.id:
        return f'<span class="eq-number">({mark.number})</span>'
    return f'<a class="eq-number" href="#{mark.id}">({mark.number})</a>'


def _row(mark: RowMark) -> RowNumber | None:
    return RowNumber(mark.number, mark.id) if mark.number else None


def mathml(rendering: Rendering, math: Math, rows: Sequence[RowNumber | None] = ()) -> str:
    """The `<math>` element; empty for a formula that only defines macros."""
    rendering.formulas += 1
    try:
        tex, macros = definitions(math.tex, rendering.macros)
        rendering.macros.update(macros)
        if macros and not tex.strip():
            return ""
        return convert_formula(math.tex, display=math.display, macros=rendering.macros, rows=rows).mathml
    except TexError as error:
        return _wrong(rendering, math, error)


def _wrong(rendering: Rendering, math: Math, error: TexError) -> str:
    place = math.origin.place(error.offset, error.length)
    as_source = rendering.tools.config.math.on_error == "render"
    rendering.reporter.report(
        error.kind, error.message, place, hint=error.hint, severity="warning" if as_source else "error"
    )
    source = math.tex.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f'<code class="math-error">{source}</code>'


RULES: Mapping[str, Rule] = MappingProxyType({"math_inline": _inline, "math_display": _display})
