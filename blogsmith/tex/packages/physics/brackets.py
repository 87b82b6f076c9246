r"""Brackets of the physics package that grow with their content.

These are `\qty(…)` and related commands, commutators, and `\eval`. A size (`\big` … `\Bigg`) before the
content sets a fixed height; a star prevents growing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ...parse.reader import Expander, FormulaReader, fill

SIZES = ("\\big", "\\Big", "\\bigg", "\\Bigg")
PARTNERS: Mapping[str, str] = MappingProxyType({"(": ")", "[": "]", "|": "|"})
"""Brackets that may enclose an argument, in addition to braces."""
_PRINTED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"(": ("(", ")"), "[": ("[", "]"), "{": ("\\{", "\\}"), "|": ("\\lvert ", "\\rvert ")}
)
FIXED = "*"
"""Value of `size` for brackets that neither grow nor are enlarged."""


def enclose(opening: str, content: Sequence[str], closing: str, size: str = "") -> list[str]:
    """Return `content` in brackets. size: one of `SIZES`, `FIXED`, or "" for brackets that grow."""
    if size == FIXED:
        return fill(f"{opening}#1{closing}", content)
    if size:
        return fill(f"{size}l{opening}#1{size}r{closing}", content)
    # in a group, because TeX would otherwise print f\qty(x) with a thin space after the f
    return fill(rf"{{\left{opening}#1\right{closing}}}", content)


def read_size(reader: FormulaReader) -> str:
    """Consume a star or a size. Return it; "" if neither is next."""
    if reader.star():
        # \abs*\big{…}: the star wins over the size
        _ = reader.peek() in SIZES and reader.pop()
        return FIXED
    return reader.pop() if reader.peek() in SIZES else ""


def take_bracketed(reader: FormulaReader, opening: str) -> list[str] | None:
    """Consume brackets and return their content; None if `opening` is not next."""
    content = reader.read_delimited(opening, PARTNERS[opening])
    if content is None and reader.peek() == opening:
        raise reader.syntax_error(f'"{opening}" is never closed by "{PARTNERS[opening]}"')
    return content


def take_group(reader: FormulaReader, command: str) -> list[str]:
    """Consume and return the next group."""
    if reader.peek() != "{":
        raise reader.syntax_error(f'missing argument in braces after "{command}"')
    return reader.argument()


def quantity(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand `\qty(…)`, `\qty[…]`, `\qty|…|`, `\qty{…}`; empty parentheses if no bracket follows."""
    size = read_size(reader)
    for bracket, (opening, closing) in _PRINTED.items():
        content = _group(reader) if bracket == "{" else take_bracketed(reader, bracket)
        if content is not None:
            return enclose(opening, content, closing, size)
    return enclose("(", (), ")")


def _group(reader: FormulaReader) -> list[str] | None:
    return reader.argument() if reader.peek() == "{" else None


def fence(opening: str, closing: str, before: str = "") -> Expander:
    """Return an expander that puts brackets around its argument. before: TeX to print before them."""

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
    r"""Expand `\eval{…}_a^b`, `\eval[…|_a^b` and `\eval(…|_a^b`: a bar on the right, at least as high as an
    integral."""
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
    }
)
