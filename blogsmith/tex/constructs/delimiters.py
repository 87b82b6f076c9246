r"""Delimiters: `\left … \right`, `\big` and related commands."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..mathml.atoms import CLOSE, INNER, OPEN, ORD, REL, THICK, Atom, escape
from ..parse.errors import ParseError
from ..parse.parser import Command, Parser
from ..parse.scan import strip_mark

_NAMES = """
( ( \\lparen ( ) ) \\rparen ) [ [ \\lbrack [ ] ] \\rbrack ] \\{ { \\lbrace { \\} } \\rbrace } | | \\vert
| \\lvert | \\rvert | \\| ‖ \\Vert ‖ \\lVert ‖ \\rVert ‖ \\mid | \\parallel ‖ \\langle ⟨ \\lang ⟨ < ⟨
\\lt ⟨ \\rangle ⟩ \\rang ⟩ > ⟩ \\gt ⟩ ⟨ ⟨ ⟩ ⟩ ‖ ‖ ∣ | ∥ ‖ \\lceil ⌈ \\rceil ⌉ \\lfloor ⌊ \\rfloor ⌋ ⌈ ⌈
⌉ ⌉ ⌊ ⌊ ⌋ ⌋ \\lgroup ⟮ \\rgroup ⟯ ⟮ ⟮ ⟯ ⟯ \\lmoustache ⎰ \\rmoustache ⎱ ⎰ ⎰ ⎱ ⎱ \\llbracket ⟦
\\rrbracket ⟧ ⟦ ⟦ ⟧ ⟧ \\lBrack ⟦ \\rBrack ⟧ \\lBrace ⦃ \\rBrace ⦄ ⦃ ⦃ ⦄ ⦄ \\lAngle ⟪ \\rAngle ⟫ ⟪ ⟪ ⟫ ⟫
\\llangle ⦉ \\rrangle ⦊ \\llparenthesis ⦇ \\rrparenthesis ⦈ \\ulcorner ⌜ \\urcorner ⌝ \\llcorner ⌞
\\lrcorner ⌟ ⌜ ⌜ ⌝ ⌝ ⌞ ⌞ ⌟ ⌟ / / \\slash / \\backslash \\ \\setminus \\ \\uparrow ↑ \\downarrow ↓
\\updownarrow ↕ \\Uparrow ⇑ \\Downarrow ⇓ \\Updownarrow ⇕ \\lVvert ⦀ \\rVvert ⦀ \\Vvert ⦀ \\arrowvert |
\\Arrowvert ‖ \\bracevert ⎪
"""


def _table() -> dict[str, str]:
    words = _NAMES.split()
    return dict(zip(words[::2], words[1::2], strict=True)) | {".": ""}


DELIMITERS: Mapping[str, str] = MappingProxyType(_table())
"""Token → delimiter; empty for `.`, the empty delimiter."""

_SIZES: Mapping[str, str] = MappingProxyType({"big": "1.2em", "Big": "1.8em", "bigg": "2.4em", "Bigg": "3em"})
_LIMITS = ("<munder><mo", "<mover><mo", "<munderover><mo")
# delimiters whose dictionary entries stretch in this form
_STRETCHY_PREFIX = frozenset("([{|‖⟨⌈⌊⟮⟦⟪")
_STRETCHY_POSTFIX = frozenset(")]}|‖⟩⌉⌋⟯⟧⟫")


def fence(sign: str, form: str) -> str:
    """Return `sign` as a delimiter that grows with its content. form: `prefix`, `postfix` or `infix`."""
    if not sign:
        return ""
    known = sign in (_STRETCHY_PREFIX if form == "prefix" else _STRETCHY_POSTFIX)
    more = "" if known else ' stretchy="true" symmetric="true" lspace="0" rspace="0"'
    return f'<mo fence="true" form="{form}"{more}>{escape(sign)}</mo>'


def parse_delimiter(parser: Parser, token: str) -> str:
    """Return the delimiter that `token` names. ParseError if it names none."""
    found = DELIMITERS.get(token)
    if found is None:
        said = f'invalid delimiter "{token}"' if token else "missing delimiter"
        hint = "write a delimiter such as `(`, `[`, `\\{`, `|` or `\\langle`, or `.` for none"
        raise ParseError(
            "math-syntax", f'{said} after "{parser.command}"', token or parser.command, hint=hint
        )
    return found


def _read_fence(parser: Parser) -> str:
    while parser.peek() in parser.macros:
        parser.expand(parser.pop())
    token = parser.peek()
    if token == "{":
        inside = [t for t in parser.argument() if t != " "]
        return parse_delimiter(parser, inside[0] if len(inside) == 1 else "{")
    parser.pop()
    return parse_delimiter(parser, strip_mark(token) if token[:1] == "\0" else token)


def _left(parser: Parser, command: str) -> Atom:
    opening = _read_fence(parser)
    mark, environment = parser.mark(), parser.environment
    parser.environment = ""
    parts = [fence(opening, "prefix")]
    while True:
        parts += map(_wrap_limits, parser.row())
        if parser.end_token == "\\middle":
            middle = parser.end_token
            parser.command = middle
            parts.append(_middle(_read_fence(parser)))
            continue
        break
    parser.environment = environment
    if parser.end_token != "\\right":
        raise _unclosed_error(parser, command)
    parser.command = parser.end_token
    parts.append(fence(_read_fence(parser), "postfix"))
    parser.command = command
    parser.restore(mark)
    return INNER, f"<mrow>{''.join(parts)}</mrow>"


def _wrap_limits(piece: str) -> str:
    """Put the limits of a sum into a row: otherwise Firefox fits the delimiters to the sum alone."""
    return f"<mrow>{piece}</mrow>" if piece.startswith(_LIMITS) else piece


def _middle(sign: str) -> str:
    if not sign:
        return ""
    grows = 'stretchy="true" symmetric="true" lspace="0" rspace="0"'
    return f'<mo fence="true" form="infix" {grows}>{escape(sign)}</mo>'


def _unclosed_error(parser: Parser, command: str) -> ParseError:
    found = parser.end_token
    if not found:
        return ParseError("math-brace", '"\\left" is never closed', command, unclosed=True)
    return ParseError("math-brace", f'unexpected "{found}": "\\left" is still open', found)


def _big_delimiter(parser: Parser, command: str) -> Atom:
    r"""Typeset `\bigl(` and related commands."""
    name = command[1:]
    role = name[-1] if name[-1] in "lrm" else ""
    size = _SIZES[name[:-1] if role else name]
    sign = _read_fence(parser)
    kind = {"l": OPEN, "r": CLOSE, "m": REL}.get(role, ORD)
    if not sign:
        return kind, "<mrow></mrow>"
    form = {"l": ' form="prefix"', "r": ' form="postfix"'}.get(role, "")
    space = f'lspace="{THICK}" rspace="{THICK}"' if role == "m" else 'lspace="0" rspace="0"'
    height = f'minsize="{size}" maxsize="{size}" stretchy="true" symmetric="true"'
    return kind, f"<mo{form} {space} {height}>{escape(sign)}</mo>"


def _stray(parser: Parser, command: str) -> Atom:
    raise ParseError("math-brace", f'unmatched "{command}": nothing is open here', command)


COMMANDS: Mapping[str, Command] = MappingProxyType(
    {"\\left": _left} | {f"\\{size}{role}": _big_delimiter for size in _SIZES for role in ("", "l", "r", "m")}
)
