"""Subscripts and superscripts, primes, and limits of operators."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

from ...base.html_tags import remove_tags
from ..mathml.atoms import INTEGRAL, LIMIT_FUNCTION, LIMITS, add_attribute, is_operator, superscript_intent
from ..mathml.glyph_atoms import SCRIPT_CHARACTERS
from .errors import ParseError
from .reader import Expander, Macro
from .scan import split

_PRIME_COUNTS: Mapping[str, int] = MappingProxyType({"'": 1, "′": 1, "″": 2, "‴": 3, "⁗": 4})
STARTS = frozenset(("_", "^", "\\limits", "\\nolimits", *_PRIME_COUNTS))
"""Tokens that begin a script, or change the position of scripts."""
_PRIMES: Mapping[int, str] = MappingProxyType({1: "′", 2: "″", 3: "‴", 4: "⁗"})


class ScriptParser(Protocol):
    """Methods of the parser that this module calls."""

    stack: list[str]
    macros: dict[str, Macro | Expander]

    def peek(self) -> str:
        """Return the next token."""

    def push(self, made: list[str]) -> None:
        """Push tokens to be read next."""

    def expand(self, call: str) -> None:
        """Push the expansion of a macro."""

    def script(self, token: str) -> str:
        """Return the argument of `_` or `^`."""

    def is_display_style(self) -> bool:
        """Return whether limits are placed above and below here."""


def add_scripts(parser: ScriptParser, base: str, kind: int) -> str:
    """Return `base` with the scripts and primes that follow. kind: atom class of `base`."""
    lower = upper = ""
    primes = 0
    above = parser.is_display_style() and kind in (LIMITS, LIMIT_FUNCTION)
    stack, macros = parser.stack, parser.macros
    while (token := parser.peek()) in STARTS or token in SCRIPT_CHARACTERS or (macros and token in macros):
        stack.pop()
        if macros and token in macros:
            parser.expand(token)
        elif token in SCRIPT_CHARACTERS:
            push_script_character(parser, token)
        elif token in _PRIME_COUNTS:
            if upper:
                raise _double(token)
            primes += _PRIME_COUNTS[token]
        elif token == "_":
            if lower:
                raise _double(token)
            lower = parser.script(token)
        elif token == "^":
            if upper:
                raise _double(token)
            upper = parser.script(token)
        else:
            above = _has_limits(token, kind)
            if above and not parser.is_display_style() and is_operator(base) and "movable" not in base:
                base = add_attribute(base, 'movablelimits="false"')
    if primes:
        upper = _add_primes(primes, upper)
    if not lower and not upper:
        return base
    if is_operator(base) and "minsize=" in base:
        base = f"<mrow>{base}</mrow>"  # Chromium does not stretch the base of a script
    if base.startswith("<mtext"):
        # Firefox moves the subscript of text in another font up to the baseline
        base = f"<mrow>{base}</mrow>"
    low, high = ("under", "over") if above else ("sub", "sup")
    mend = _correct_slant(parser, lower, upper) if kind == INTEGRAL and lower and not above else ""
    if lower and upper:
        return f"<m{low}{high}{mend}>{base}{lower}{upper}</m{low}{high}>"
    if lower:
        return f"<m{low}{mend}>{base}{lower}</m{low}>"
    if kind != INTEGRAL and not above:
        base, mend = superscript_intent(base, upper)
    return f"<m{high}{mend}>{base}{upper}</m{high}>"


def _correct_slant(parser: ScriptParser, lower: str, upper: str) -> str:
    """Return a CSS class that moves the subscript of an integral to the left, or an empty string. Chromium
    includes the slant of an integral in its width, so its subscript is too far right."""
    if parser.is_display_style():
        # if there are both scripts, there is a gap only after a longer subscript
        longer = len(remove_tags(lower)) > len(remove_tags(upper))
        return ' class="math-int"' if longer else ""
    return ' class="math-int-text"'


def _has_limits(token: str, kind: int) -> bool:
    if kind < INTEGRAL:
        hint = "write it after `\\sum`, `\\int`, `\\operatorname{…}` or `\\mathop{…}`"
        raise ParseError("math-syntax", f'"{token}" does not follow an operator', token, hint=hint)
    return token == "\\limits"


def _add_primes(primes: int, upper: str) -> str:
    """Return the primes, up to four in one character, followed by the rest of the superscript."""
    counts = [4] * (primes // 4) + ([primes % 4] if primes % 4 else [])
    signs = "".join(f'<mo lspace="0" rspace="0">{_PRIMES[count]}</mo>' for count in counts)
    return signs if len(counts) == 1 and not upper else f"<mrow>{signs}{upper}</mrow>"


def _double(token: str) -> ParseError:
    hint = "group with braces, as in `{x_a}_b`"
    return ParseError("math-syntax", "double subscript or superscript", token, hint=hint)


def push_script_character(parser: ScriptParser, token: str) -> None:
    """Push `^{2}` for a typed `²`, and similar for other raised and lowered characters."""
    mark, plain = SCRIPT_CHARACTERS[token]
    signs = [plain]
    while parser.stack and SCRIPT_CHARACTERS.get(parser.stack[-1], ("", ""))[0] == mark:
        signs.append(SCRIPT_CHARACTERS[parser.stack.pop()][1])
    parser.push([mark, "{", *split("".join(signs)), "}"])
