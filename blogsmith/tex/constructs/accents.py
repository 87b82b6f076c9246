"""Accents and lines over and under a letter or a formula."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...base.patterns import lazy_pattern
from ..mathml.atoms import ORD, Atom
from ..parse.parser import Command, Parser

# Chromium places combining accents next to their base, so these are the spacing forms.
_NARROW = """
hat ˆ check ˇ tilde ˜ bar ¯ dot ˙ ddot ¨ breve ˘ mathring ˚ ring ˚ acute ´ grave ` dddot … ddddot ⃜ Bar ¯
"""
_WIDE = """
widehat ˆ widetilde ˜ widecheck ˇ overline ‾ overrightarrow → overleftarrow ← overleftrightarrow ↔
Overrightarrow ⇒ Overleftarrow ⇐ overleftharpoon ↼ overrightharpoon ⇀ Overleftrightarrow ⇔
overlinesegment ⎴ widebar ‾ overbar ‾ mathbar ‾
"""
_UNDER = """
underline _ utilde ˜ underrightarrow → underleftarrow ← underleftrightarrow ↔
underlinesegment ⎵ uwave ˜ underrightharpoon ⇀ underleftharpoon ↼ wideutilde ˜ undertilde ˜
"""


_LETTER = lazy_pattern("<mi(?: class=[^<>]*)?>(.)\ufe01?</mi>")
# italic, bold italic and script; plain letters are slanted by MathML
_SLANTED = lazy_pattern("[A-Za-zα-ωϑϕϖϰϱϵıȷℎℬℰℱℋℐℒℳℛℯℊℴ\U0001d434-\U0001d503\U0001d6e2-\U0001d755]")


def _pairs(table: str) -> dict[str, str]:
    words = table.split()
    return {"\\" + name: sign for name, sign in zip(words[::2], words[1::2], strict=True)}


_NARROW_SIGNS: Mapping[str, str] = MappingProxyType(_pairs(_NARROW))
_WIDE_SIGNS: Mapping[str, str] = MappingProxyType(_pairs(_WIDE))
_UNDER_SIGNS: Mapping[str, str] = MappingProxyType(_pairs(_UNDER))


def _slant(base: str) -> str:
    """Return a CSS class for one slanted letter: it moves the accent to the right, as TeX's skew does."""
    letter = _LETTER.fullmatch(base)
    return ' class="math-slant"' if letter and _SLANTED.match(letter[1]) else ""


def add_accent(base: str, sign: str, *, wide: bool = False) -> str:
    """Return `base` with the accent `sign` above. wide: stretch the accent to the width of the base."""
    if not wide:
        return f'<mover accent="true"{_slant(base)}>{base}<mo stretchy="false">{sign}</mo></mover>'
    return f'<mover accent="true">{base}<mo stretchy="true">{sign}</mo></mover>'


def _narrow(parser: Parser, command: str) -> Atom:
    return ORD, add_accent(parser.element(), _NARROW_SIGNS[command])


def _vec(parser: Parser, command: str) -> Atom:
    base = parser.element()
    return (
        ORD,
        f'<mover accent="true"{_slant(base)}>{base}<mo stretchy="false" class="math-vec">→</mo></mover>',
    )


def _wide(parser: Parser, command: str) -> Atom:
    return ORD, add_accent(parser.element(), _WIDE_SIGNS[command], wide=True)


def _under(parser: Parser, command: str) -> Atom:
    sign = f'<mo stretchy="true">{_UNDER_SIGNS[command]}</mo>'
    return ORD, f'<munder accentunder="true">{parser.element()}{sign}</munder>'


COMMANDS: Mapping[str, Command] = MappingProxyType(
    {name: _narrow for name in _NARROW_SIGNS}
    | {name: _wide for name in _WIDE_SIGNS}
    | {name: _under for name in _UNDER_SIGNS}
    | {"\\vec": _vec}
)
