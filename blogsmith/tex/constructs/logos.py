r"""`\TeX` and related logos, and characters by number."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..mathml.atoms import ORD, Atom, escape
from ..parse.errors import ParseError
from ..parse.parser import Command, Parser
from ..parse.scan import clean_text, cut_token
from .boxes import raise_box, space


def _letter(text: str) -> str:
    return f"<mtext>{text}</mtext>"


def _row(*pieces: str) -> str:
    return f"<mrow>{''.join(pieces)}</mrow>"


_TEX = (_letter("T"), space(-0.1667), raise_box(-0.2155, _letter("E")), space(-0.125), _letter("X"))
_SMALL_A = '<mtext><span class="math-smallcaps">a</span></mtext>'
_LOGOS: Mapping[str, str] = MappingProxyType(
    {
        "\\TeX": _row(*_TEX),
        "\\LaTeX": _row(_letter("L"), space(-0.35), raise_box(0.2, _SMALL_A), space(-0.15), *_TEX),
        "\\KaTeX": _row(_letter("K"), space(-0.17), raise_box(0.2, _SMALL_A), space(-0.15), *_TEX),
        "\\Temml": _row(_letter("T"), space(-0.2), raise_box(-0.2155, _letter("e")), _letter("mml")),
    }
)


def _logo(parser: Parser, command: str) -> Atom:
    return ORD, _LOGOS[command]


def _char(parser: Parser, command: str) -> Atom:
    r"""Typeset `\char"41`, `\char'101`, `\char65`, ``\char`A``."""
    first = parser.pop()
    if first == "`":
        return _character_atom(parser.pop().removeprefix("\\"), command)
    base = {'"': 16, "'": 8}.get(first, 10)
    digits = "" if base != 10 else first
    while parser.stack and parser.stack[-1].isalnum() and parser.stack[-1].isascii():
        token = parser.stack[-1]
        good = len(token) - len(token.lstrip("0123456789ABCDEF" if base == 16 else "0123456789"))
        if not good:
            break
        parser.stack.pop()
        digits += token[:good]
        if good < len(token):
            parser.stack.append(cut_token(token, good, len(token)))
            break
    return _number_atom(digits, base, command)


def _number_atom(digits: str, base: int, command: str) -> Atom:
    try:
        number = int(digits, base) if digits.isalnum() and len(digits) < 10 else 0
    except ValueError:
        number = 0
    return _character_atom(chr(number) if 32 <= number <= 0x10FFFF else "", command)


def _character_atom(character: str, command: str) -> Atom:
    if len(clean_text(character)) != 1:
        raise ParseError("math-syntax", f'invalid character code after "{command}"', command)
    return ORD, _letter(escape(character))


def _unicode(parser: Parser, command: str) -> Atom:
    r"""Typeset MathJax's `\unicode{x3b1}`."""
    parser.optional()
    text = "".join(parser.argument()).strip().lower()
    return _number_atom(text.removeprefix("x"), 16 if text.startswith("x") else 10, command)


COMMANDS: Mapping[str, Command] = MappingProxyType(
    {name: _logo for name in _LOGOS} | {"\\char": _char, "\\unicode": _unicode}
)
