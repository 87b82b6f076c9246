r"""Brackets of the physics package that grow with their content, and Dirac notation.

These are `\qty(…)` and related commands, commutators, and `\eval`. A size (`\big` … `\Bigg`) before the
content sets a fixed height; a star prevents growing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ...parse.reader import Expander, FormulaReader, fill

_BRA = r"\mathinner{\MathMLintent{bra($x)}{\left\langle\MathMLarg{x}{#1}\right\vert}}"
_KET = r"\mathinner{\MathMLintent{ket($x)}{\left\vert\MathMLarg{x}{#1}\right\rangle}}"
_BRACKET = (
    r"\mathinner{\MathMLintent{inner-product($a,$b)}"
    r"{\left\langle\MathMLarg{a}{#1}\middle\vert\MathMLarg{b}{#2}\right\rangle}}"
)
_FIXED_BRACKET = r"\langle{#1}\vert{#2}\rangle "
_DYAD = (
    r"\mathinner{\MathMLintent{outer-product($a,$b)}"
    r"{\left\vert\MathMLarg{a}{#1}\middle\rangle\!\middle\langle\MathMLarg{b}{#2}\right\vert}}"
)
_FIXED_DYAD = r"\vert{#1}\rangle\!\langle{#2}\vert "
# by number of stars: 0: the operator does not affect brackets; 1: no brackets grow; 2: brackets grow with
# everything
_ELEMENTS = (
    r"{\left\langle{#1}\right\vert}{#2}{\left\vert{#3}\right\rangle}",
    r"\langle{#1}\vert{#2}\vert{#3}\rangle ",
    r"\left\langle{#1}\middle\vert{#2}\middle\vert{#3}\right\rangle ",
)


def _bra(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand `\bra{a}`. A following `\ket{b}` is joined to it as one bracket, ⟨a|b⟩."""
    fixed = reader.star()
    bra = reader.argument()
    if reader.peek() != "\\ket":
        return fill(r"\langle{#1}\vert " if fixed else _BRA, bra)
    reader.pop()
    fixed = reader.star() or fixed
    return fill(_FIXED_BRACKET if fixed else _BRACKET, bra, _group(reader) or [])


def _ket(reader: FormulaReader, command: str) -> list[str]:
    fixed = reader.star()
    return fill(r"\vert{#1}\rangle " if fixed else _KET, reader.argument())


def _pair(growing: str, fixed: str) -> Expander:
    """Return an expander for a command with one or two arguments. If the second is missing, the first is used
    twice. growing, fixed: TeX with growing brackets, and TeX for the star, which prevents growing."""

    def expand(reader: FormulaReader, command: str) -> list[str]:
        template = fixed if reader.star() else growing
        first = reader.argument()
        second = _group(reader)
        return fill(template, first, first if second is None else second)

    return expand


def _stars(reader: FormulaReader) -> int:
    return 1 + reader.star() if reader.star() else 0


def _expectation(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand `\ev{A}` to ⟨A⟩, and `\ev{A}{\psi}` to ⟨ψ|A|ψ⟩."""
    stars = _stars(reader)
    operator = reader.argument()
    state = _group(reader)
    if state and operator:
        return fill(_ELEMENTS[stars], state, operator, state)
    return fill(r"\langle{#1}\rangle " if stars else r"\left\langle{#1}\right\rangle ", operator)


def _element(reader: FormulaReader, command: str) -> list[str]:
    stars = _stars(reader)
    return fill(_ELEMENTS[stars], reader.argument(), reader.argument(), reader.argument())


_INNER = _pair(_BRACKET, _FIXED_BRACKET)
_OUTER = _pair(_DYAD, _FIXED_DYAD)


SIZES = ("\\big", "\\Big", "\\bigg", "\\Bigg")
PARTNERS: Mapping[str, str] = MappingProxyType({"(": ")", "[": "]", "|": "|"})
"""Brackets that may enclose an argument, in addition to braces."""
_PRINTED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"(": ("(", ")"), "[": ("[", "]"), "{": ("\\{", "\\}"), "|": ("\\lvert ", "\\rvert ")}
)
FIXED = "*"
"""Value of `size` for brackets that neither grow nor are enlarged."""


def enclose(opening: str, content: Sequence[str], closing: str, size: str = "") -> list[str]:
    """Return `content` between two brackets. size: one of `SIZES`, `FIXED`, or "" for brackets that grow."""
    if size == FIXED:
        return fill(f"{opening}#1{closing}", content)
    if size:
        return fill(f"{size}l{opening}#1{size}r{closing}", content)
    # in a group, because TeX would otherwise print f\qty(x) with a thin space after the f
    return fill(rf"{{\left{opening}#1\right{closing}}}", content)


def read_size(reader: FormulaReader) -> str:
    """Consume a star or a size command. Return `FIXED` for a star, or the command; "" if neither is next."""
    if reader.star():
        # \abs*\big{…}: the star wins over the size
        _ = reader.peek() in SIZES and reader.pop()
        return FIXED
    return reader.pop() if reader.peek() in SIZES else ""


def take_bracketed(reader: FormulaReader, opening: str) -> list[str] | None:
    """Consume `opening`, content and closing bracket. Return the content; None if `opening` is not next."""
    content = reader.read_delimited(opening, PARTNERS[opening])
    if content is None and reader.peek() == opening:
        hint = f"write `{PARTNERS[opening]}` where it ends"
        raise reader.syntax_error(f'"{opening}" is never closed by "{PARTNERS[opening]}"', hint=hint)
    return content


def take_group(reader: FormulaReader, command: str) -> list[str]:
    """Consume and return the next group."""
    if reader.peek() != "{":
        raise reader.syntax_error(
            f'missing argument in braces after "{command}"', hint=f"write `{command}{{…}}`"
        )
    return reader.argument()


def quantity(reader: FormulaReader, command: str) -> list[str]:
    r"""Return the expansion of `\qty(…)`, `\qty[…]`, `\qty|…|` or `\qty{…}`. If no bracket follows, return
    empty parentheses."""
    size = read_size(reader)
    for bracket, (opening, closing) in _PRINTED.items():
        content = _group(reader) if bracket == "{" else take_bracketed(reader, bracket)
        if content is not None:
            return enclose(opening, content, closing, size)
    return enclose("(", (), ")")


def _group(reader: FormulaReader) -> list[str] | None:
    return reader.argument() if reader.peek() == "{" else None


def fence(opening: str, closing: str, before: str = "") -> Expander:
    """Return an expander that puts brackets around its argument. before: TeX in front of the brackets."""

    def expand(reader: FormulaReader, command: str) -> list[str]:
        size = read_size(reader)
        made = enclose(opening, take_group(reader, command), closing, size)
        return [*fill(before), *made] if before else made

    return expand


def commutator(opening: str, closing: str) -> Expander:
    """Return an expander that puts brackets around its two arguments."""

    def expand(reader: FormulaReader, command: str) -> list[str]:
        size = read_size(reader)
        first = take_group(reader, command)
        return enclose(opening, [*first, ",", *reader.argument()], closing, size)

    return expand


def expand_eval(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand `\eval{…}_a^b`, `\eval[…|_a^b` and `\eval(…|_a^b` to the content and a bar at its right, at
    least as high as an integral."""
    content = "\\smash{#1}" if reader.star() else "#1"
    for bracket in "([":
        inside = reader.read_delimited(bracket, "|")
        if inside is not None:
            return fill(rf"\left{bracket}{content}\vphantom{{\int}}\right\rvert ", inside)
    return fill(rf"\left.{content}\vphantom{{\int}}\right\rvert ", take_group(reader, command))


_ANTICOMMUTATOR = commutator("\\{", "\\}")

EXPANDERS: Mapping[str, Expander] = MappingProxyType(
    {
        "\\quantity": quantity,
        "\\pqty": fence("(", ")"),
        "\\bqty": fence("[", "]"),
        "\\Bqty": fence("\\{", "\\}"),
        "\\vqty": fence("\\lvert ", "\\rvert "),
        "\\absolutevalue": fence("\\lvert ", "\\rvert "),
        "\\abs": fence("\\lvert ", "\\rvert "),
        "\\norm": fence("\\lVert ", "\\rVert "),
        "\\order": fence("(", ")", "\\mathcal{O}"),
        "\\evaluated": expand_eval,
        "\\eval": expand_eval,
        "\\commutator": commutator("[", "]"),
        "\\comm": commutator("[", "]"),
        "\\anticommutator": _ANTICOMMUTATOR,
        "\\acomm": _ANTICOMMUTATOR,
        "\\poissonbracket": _ANTICOMMUTATOR,
        "\\pb": _ANTICOMMUTATOR,
        **dict.fromkeys(("\\innerproduct", "\\ip"), _INNER),
        **dict.fromkeys(("\\outerproduct", "\\dyad", "\\ketbra", "\\op"), _OUTER),
        **dict.fromkeys(("\\expectationvalue", "\\expval", "\\ev"), _expectation),
        **dict.fromkeys(("\\matrixelement", "\\matrixel", "\\mel"), _element),
    }
)


REDEFINED: Mapping[str, Expander] = MappingProxyType({"\\bra": _bra, "\\ket": _ket, "\\braket": _INNER})
"""Commands that the package redefines."""
