"""Operators of the physics package: vectors, functions with growing brackets, words between formulas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ...parse.reader import Expander, FormulaReader, fill
from .brackets import PARTNERS, enclose, take_bracketed

# no thin space between a function and its bracket
_CLOSE = ("\\mathopen", "{", "}")
_NABLA = "\\mathbf{\\nabla}"


def _sign(tex: str) -> Expander:
    """Return an expander that always gives `tex`."""
    return lambda reader, command: fill(tex)


def _bold(around: str) -> Expander:
    """Return an expander for a bold argument: upright, or slanted with a star."""

    def expand(reader: FormulaReader, command: str) -> list[str]:
        bold = "\\boldsymbol{#1}" if reader.star() else "\\mathbf{#1}"
        return fill(around.replace("…", bold), reader.argument())

    return expand


def _operator_expander(operator: str, growing: str) -> Expander:
    """Return an expander for an operator that brackets may follow. growing: opening brackets that then grow.
    If it contains `{`, an argument in braces is printed with braces."""

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
    r"""Return an expander for `\sin[2](x)`: a function with an optional power and growing parentheses."""

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
    """Return `exponent` as a superscript. Primes need no superscript."""
    return list(exponent) if all(token == "'" for token in exponent) else fill("^{#1}", exponent)


def _text(words: str) -> Expander:
    r"""Return an expander for `\qif` and similar: words with a quad on both sides; with a star, only after
    them."""

    def expand(reader: FormulaReader, command: str) -> list[str]:
        before = "" if reader.star() else "\\quad"
        return fill(f"{before}\\text{{#1}}\\quad ", fill(words) if words else reader.argument())

    return expand


def _table(names: str, **options: bool) -> dict[str, Expander]:
    return {"\\" + name: _function(name, **options) for name in names.split()}


# long names of functions, which have no arguments
_LONG_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "sine": "sin",
        "cosine": "cos",
        "tangent": "tan",
        "cosecant": "csc",
        "secant": "sec",
        "cotangent": "cot",
    }
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
"""Commands that mean something else without the package."""
