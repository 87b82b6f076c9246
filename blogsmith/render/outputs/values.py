"""Values in the text, `{= expression =}`, as HTML and as plain text."""

from __future__ import annotations

import re

from markdown_it.token import Token

from ...base.patterns import lazy_pattern
from ...languages.language import Language
from ...languages.sentences import translate_sentences
from ...model.cells import Value
from ...model.results import ValueResult
from ...syntax.records import get_record
from ...tex.displays import find_room
from ...tex.errors import TexError
from ...tex.on_demand import fit_display
from ..context import PageRendering
from ..formulas import page_converter, wide_attribute, wide_setting
from ..prose import escape_html
from .ansi import isolate, plain_output

_FENCES = (("$$", "$$"), ("$", "$"), (r"\[", r"\]"), (r"\(", r"\)"))
_PENDING = ValueResult(pending=True)
_POWER_FORMATS = ("e", "E", "g", "G")
"""Last letters of format specs that may print a power of ten."""
_POWER = lazy_pattern(r"([+-]?)(\d+(?:\.\d+)?)[eE]([+-]?)0*(\d+)", re.ASCII)
_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def strip_delimiters(latex: str) -> tuple[str, bool]:
    """Return the TeX between the delimiters, and whether they are delimiters of display math. The TeX is
    empty if `latex` is not exactly one delimited formula."""
    text = latex.strip()
    for opening, closing in _FENCES:
        if text.startswith(opening) and text.endswith(closing) and len(text) > len(opening + closing):
            inside = text[len(opening) : -len(closing)]
            is_one = not re.search(r"(?<!\\)\$|\\[(\[]", inside)
            return (inside.strip(), opening in ("$$", r"\[")) if is_one else ("", False)
    is_environment = text.startswith(r"\begin{") and text.endswith("}")
    return (text, True) if is_environment else ("", False)


def output_math(rendering: PageRendering, latex: str, *, display: bool) -> str:
    """Return the `<math>` for LaTeX without delimiters, or an empty string if it cannot be typeset."""
    try:
        found = page_converter(rendering)(
            latex, display=display, macros=rendering.macros, rows=(), packages=frozenset()
        )
    except TexError:
        return ""
    rendering.formulas += 1
    rendering.reading.add_formula(display=display)
    return found.mathml


def display_block(rendering: PageRendering, tex: str, mathml: str) -> str:
    """Return the block of a display formula. mathml: from `output_math`."""
    fitted = fit_display(mathml, find_room(wide_setting(rendering), 0, ""))
    return f'<div class="math-display"{wide_attribute(tex)}{fitted.attributes}>{fitted.mathml}</div>'


def value_html(rendering: PageRendering, token: Token) -> str:
    """Render a value in the text."""
    value = get_record(token, Value)
    result = rendering.results.values.get(value.number, _PENDING)
    if result.pending:
        hint = escape_html(rendering.language.translate("This value has not been computed."))
        code = f"<code>{escape_html(value.expression)}</code>"
        return f'<span class="value value-pending" title="{hint}">{code}</span>'
    stale = (
        f' value-stale" title="{escape_html(plain_output(stale_sentence(rendering.language, result.stale)))}'
        if result.stale
        else ""
    )
    tex = _tex(result) or _power_tex(value, result)
    shown = output_math(rendering, tex, display=False) if tex else ""
    return f'<span class="value{stale}">{shown or escape_html(_value_text(result))}</span>'


def stale_sentence(language: Language, stale: str) -> str:
    """Return the sentence that says why a result is out of date."""
    reason = translate_sentences(language, stale.rstrip("."))
    return language.translate("Out of date: {reason}.", reason=reason)


def _value_text(result: ValueResult) -> str:
    return isolate(" ".join(plain_output(result.text).split()))


def value_text(rendering: PageRendering, number: int) -> str:
    """Return the value with this number in the text as plain text; `…` if it was not computed."""
    result = rendering.results.values.get(number, _PENDING)
    if result.pending:
        return "…"
    tex = _tex(result)
    if tex:
        return rendering.parsed.page.options.linear_math(tex)
    values = rendering.parsed.cells.values
    power = _power(values[number - 1], result) if number <= len(values) else None
    if power is None:
        return _value_text(result)
    factor, exponent = power
    return f"{factor}{'×' if factor else ''}10{exponent.translate(_RAISED)}".replace("-", "−")


def _power_tex(value: Value, result: ValueResult) -> str:
    """Return the TeX of a number that is printed with a power of ten; empty for any other value."""
    power = _power(value, result)
    if power is None:
        return ""
    factor, exponent = power
    times = "\\times " if factor else ""
    return f"{factor}{times}10^{{{exponent}}}"


def _power(value: Value, result: ValueResult) -> tuple[str, str] | None:
    """Return (factor, exponent) of a number that its format spec prints as `3.9e-16`; None for any other
    value and without a format spec. The factor is empty if it is 1, unless the spec requests it."""
    if not value.spec.endswith(_POWER_FORMATS):
        return None
    found = _POWER.fullmatch(_value_text(result))
    if not found:
        return None
    sign, factor, exponent_sign, exponent = found.groups()
    is_unit = factor == "1" and value.spec[-1] in "gG" and sign != "-"
    return "" if is_unit else f"{sign}{factor}", f"{exponent_sign.strip('+')}{exponent}"


def _tex(result: ValueResult) -> str:
    """Return the value as inline TeX, or an empty string if it has no LaTeX form."""
    tex = strip_delimiters(result.latex)[0] or result.latex.strip()
    # every formula of SymPy starts with `\displaystyle`
    return tex.removeprefix("\\displaystyle").strip()
