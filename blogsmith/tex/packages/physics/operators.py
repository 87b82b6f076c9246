"""Operators of the physics package: vectors, functions with growing brackets, words, derivatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ...parse.reader import Expander, FormulaReader, fill
from .brackets import PARTNERS, enclose, take_bracketed

_D = "\\mathrm{d}"
_CURLY_D = "\\partial "
_STATED = r"\MathMLintent{derivative($f,$x)}{\frac{~\MathMLarg{f}{#1}}{~\MathMLarg{x}{#2}}}"
"""Derivative with its intent, if function and variable are one letter. `~`: the differential, such as d."""
_TALL_NAMES = """
frac dfrac tfrac cfrac flatfrac dv pdv fdv binom dbinom over sum prod int iint iiint oint sqrt left begin
mqty pmqty bmqty vmqty stackrel overset underset overbrace underbrace
"""
_TALL = frozenset("\\" + name for name in _TALL_NAMES.split())


def _parenthesis(reader: FormulaReader) -> list[str]:
    content = take_bracketed(reader, "(")
    return [] if content is None else enclose("(", content, ")")


def _power(tokens: Sequence[str] | None) -> list[str]:
    return fill("^{#1}", tokens) if tokens else []


def _differential(sign: str) -> Expander:
    r"""Return an expander for `\dd x`, `\dd{x}`, `\dd[3]{x}`, `\dd(…)`. An argument in braces gets space
    around it."""

    def expand(reader: FormulaReader, command: str) -> list[str]:
        head = [*fill(sign), *_power(reader.optional())]
        if reader.peek() == "{":
            return fill("\\mathinner{#1#2}", head, reader.argument())
        return head + _parenthesis(reader)

    return expand


def _variation(reader: FormulaReader, command: str) -> list[str]:
    head = [*fill("\\delta "), *_power(reader.optional())]
    return head + (fill("{#1}", reader.argument()) if reader.peek() == "{" else _parenthesis(reader))


def _derivative(sign: str, most: int) -> Expander:
    r"""Return an expander for `\dv{x}`, `\dv{f}{x}`, `\dv[n]{f}{x}`; with a star, the fraction is written
    with a slash.

    most: maximum number of arguments. A third argument is a second variable: `\pdv{f}{x}{y}` is of the second
    order.
    """

    def expand(reader: FormulaReader, command: str) -> list[str]:
        fraction = "\\flatfrac" if reader.star() else "\\frac"
        order = reader.optional() or []
        arguments = [reader.argument()]
        while len(arguments) < most and reader.peek() == "{":
            arguments.append(reader.argument())
        function = arguments.pop(0) if len(arguments) > 1 else []
        if len(arguments) > 1:
            order = [str(len(arguments))]
            below = [token for variable in arguments for token in fill(f"{sign} #1", variable)]
        else:
            below = [*fill(f"{sign} #1", _base(arguments[0]) if order else arguments[0]), *_power(order)]
        made = fill(f"{fraction}{{{sign}#1#2}}{{#3}}", _power(order), function, below)
        if fraction == "\\frac" and not order and _is_letter(function) and _is_letter(arguments[0]):
            concept = "derivative" if sign == _D else "partial-derivative" if sign == _CURLY_D else ""
            if concept:
                made = fill(_STATED.replace("derivative", concept).replace("~", sign), function, arguments[0])
        return made + _parenthesis(reader)

    return expand


def _is_letter(tokens: Sequence[str]) -> bool:
    """Return whether an argument is a single letter. A group around a single letter does not change the
    spacing."""
    return len(tokens) == 1 and tokens[0].isalpha()


def _base(variable: list[str]) -> list[str]:
    """Return `variable` as a base for an exponent: in braces if it has an exponent or a prime already."""
    return fill("{#1}", variable) if "^" in variable or "'" in variable else variable


def _flat_fraction(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand `\flatfrac{a}{b}`. Its slash grows only beside a tall construct such as a fraction. Elsewhere a
    growing slash would be too large even between letters, because fonts have slashes of almost every
    height."""
    above, below = reader.argument(), reader.argument()
    is_tall = any(token in _TALL for token in (*above, *below))
    return fill("{\\left.#1\\middle/#2\\right.}" if is_tall else "{#1/#2}", above, below)


def _d(reader: FormulaReader, command: str) -> list[str]:
    return fill(_D)


_TOTAL = _derivative(_D, 2)
_PARTIAL = _derivative(_CURLY_D, 3)
_FUNCTIONAL = _derivative("\\delta ", 2)


# no thin space between a function and its bracket
_CLOSE = ("\\mathopen", "{", "}")
_NABLA = "\\mathbf{\\nabla}"


def _sign(tex: str) -> Expander:
    """Return an expander that always returns `tex`."""
    return lambda reader, command: fill(tex)


def _bold(around: str) -> Expander:
    """Return an expander for a bold argument: upright, or slanted with a star. around: TeX with `…` for
    it."""

    def expand(reader: FormulaReader, command: str) -> list[str]:
        bold = "\\boldsymbol{#1}" if reader.star() else "\\mathbf{#1}"
        return fill(around.replace("…", bold), reader.argument())

    return expand


def _operator_expander(operator: str, growing: str) -> Expander:
    """Return an expander for an operator and the brackets after it. growing: opening brackets that grow with
    their content. If it contains `{`, an argument in braces is printed with braces."""

    def expand(reader: FormulaReader, command: str) -> list[str]:
        bracket = reader.peek()
        if not bracket or bracket not in growing:
            return fill(operator) + (reader.argument() if bracket == "{" else [])
        if bracket == "{":
            made = enclose("\\{", reader.argument(), "\\}")
        else:
            made = enclose(bracket, take_bracketed(reader, bracket) or (), PARTNERS[bracket])
        return [*fill(operator), *(_CLOSE if "\\operatorname" in operator else ()), *made]

    return expand


def _function(name: str, *, power: bool, limits: bool = False) -> Expander:
    r"""Return an expander for `\sin[2](x)`: a function with an optional power and growing parentheses. power:
    whether the power is allowed. limits: whether scripts are limits."""

    def expand(reader: FormulaReader, command: str) -> list[str]:
        exponent = reader.optional() if power else None
        head = fill(f"\\operatorname{'*' * limits}{{{name}}}")
        head += _superscript(exponent or ())
        content = take_bracketed(reader, "(")
        if content is None:
            return head
        return [*head, *_CLOSE, *enclose("(", content, ")")]

    return expand


def _superscript(exponent: Sequence[str]) -> list[str]:
    """Return `exponent` as a superscript; unchanged if it consists of primes."""
    return list(exponent) if all(token == "'" for token in exponent) else fill("^{#1}", exponent)


def _text(words: str) -> Expander:
    r"""Return an expander for `\qif` and similar: words with a quad before and after them; with a star, only
    after."""

    def expand(reader: FormulaReader, command: str) -> list[str]:
        before = "" if reader.star() else "\\quad"
        return fill(f"{before}\\text{{#1}}\\quad ", fill(words) if words else reader.argument())

    return expand


def _table(names: str, **options: bool) -> dict[str, Expander]:
    return {"\\" + name: _function(name, **options) for name in names.split()}


# long names of functions, which have no arguments
_LONG_NAMES: Mapping[str, str] = MappingProxyType(
    {"sine": "sin", "cosine": "cos", "tangent": "tan", "cosecant": "csc", "secant": "sec", "cotangent": "cot"}
)
_NAMED: Mapping[str, str] = MappingProxyType(
    {
        **{long: short for long, short in _LONG_NAMES.items()},
        **{f"hyp{long}": f"{short}h" for long, short in _LONG_NAMES.items()},
        **{f"arc{long}": f"arc{short}" for long, short in _LONG_NAMES.items()},
        **{f"a{long}": f"a{short}" for long, short in _LONG_NAMES.items()},
        "exponential": "exp",
        "logarithm": "log",
        "naturallogarithm": "ln",
        "rank": "rank",
        "Residue": "Res",
    }
)
_FUNCTIONS = """
sin sinh arcsin cos cosh arccos tan tanh arctan csc arccsc sec arcsec cot coth arccot log ln
"""
_WORDS = "if then else otherwise unless given using assume since let for all even odd integer and or as in"

EXPANDERS: Mapping[str, Expander] = MappingProxyType(
    {
        **dict.fromkeys(("\\vectorbold", "\\vb"), _bold("…")),
        **dict.fromkeys(("\\vectorarrow", "\\va"), _bold("\\vec{…}")),
        **dict.fromkeys(("\\vectorunit", "\\vu"), _bold("\\hat{…}")),
        **dict.fromkeys(("\\dotproduct", "\\vdot"), _sign("\\boldsymbol{\\cdot}")),
        **dict.fromkeys(("\\crossproduct", "\\cross", "\\cp"), _sign("\\times ")),
        **dict.fromkeys(("\\vnabla", "\\gradientnabla"), _sign(_NABLA)),
        **dict.fromkeys(("\\gradient", "\\grad"), _operator_expander(_NABLA, "([")),
        "\\divergence": _operator_expander(_NABLA + "\\boldsymbol{\\cdot}", "(["),
        "\\curl": _operator_expander(_NABLA + "\\times ", "(["),
        "\\laplacian": _operator_expander("\\nabla^{2}", "(["),
        "\\divisionsymbol": _sign("÷"),
        "\\imaginary": _sign("ℑ"),
        **_table("asin acos atan csch acsc sech asec acot", power=True),
        "\\trace": _function("tr", power=False),
        "\\Trace": _function("Tr", power=False),
        **{"\\" + name: _sign(f"\\operatorname{{{short}}}") for name, short in _NAMED.items()},
        **{
            "\\" + name: _sign(f"\\operatorname*{{{short}}}")
            for name, short in (("determinant", "det"), ("Probability", "Pr"))
        },
        "\\Res": _operator_expander("\\operatorname{Res}", "([{"),
        **dict.fromkeys(("\\principalvalue", "\\pv"), _operator_expander("\\mathcal{P}", "")),
        "\\PV": _operator_expander("\\operatorname{P.V.}", ""),
        **dict.fromkeys(("\\qqtext", "\\qq"), _text("")),
        **dict.fromkeys(("\\qcomma", "\\qc"), _sign("\\text{,}\\quad ")),
        "\\qcc": _text("c.c."),
        **{f"\\q{word}": _text(word) for word in _WORDS.split()},
        "\\diffd": _d,
        **dict.fromkeys(("\\differential", "\\dd"), _differential(_D)),
        **dict.fromkeys(("\\variation", "\\var"), _variation),
        **dict.fromkeys(("\\derivative", "\\dv"), _TOTAL),
        **dict.fromkeys(("\\partialderivative", "\\pderivative", "\\pdv"), _PARTIAL),
        **dict.fromkeys(("\\functionalderivative", "\\fderivative", "\\fdv"), _FUNCTIONAL),
        "\\flatfrac": _flat_fraction,
    }
)

REDEFINED: Mapping[str, Expander] = MappingProxyType(
    {
        "\\div": EXPANDERS["\\divergence"],
        **_table(_FUNCTIONS, power=True),
        **_table("exp tr Tr erf", power=False),
        **_table("det Pr", power=False, limits=True),
        "\\Re": _operator_expander("\\operatorname{Re}", "{"),
        "\\Im": _operator_expander("\\operatorname{Im}", "{"),
    }
)
"""Commands that the package redefines."""
