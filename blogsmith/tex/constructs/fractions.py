"""Fractions, binomials and roots."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..mathml.atoms import ORD, Atom, add_argument, add_intent
from ..parse.errors import ParseError
from ..parse.lengths import read_length
from ..parse.parser import Command, Infix, Parser
from ..parse.state import DISPLAY, SCRIPT, SCRIPTSCRIPT, TEXT, Combine
from .boxes import read_length_tokens
from .delimiters import fence, parse_delimiter

STRUT = '<mspace height=".84em" depth=".36em"/>'
"""Space as high and as deep as a line of TeX's text."""
_THIN_LINE = ' linethickness="0"'
_DISPLAYSTYLE_VALUES = ("true", "false")


def _inner(style: int) -> int:
    """Return the style of numerator and denominator in a fraction whose own style is `style`."""
    return TEXT if style == DISPLAY else SCRIPT if style == TEXT else SCRIPTSCRIPT


def _parts(parser: Parser, style: int) -> tuple[str, str]:
    return parser.parse_styled(_inner(style)), parser.parse_styled(_inner(style))


def _frac(parser: Parser, command: str) -> Atom:
    above, below = _parts(parser, parser.style)
    return ORD, f"<mfrac>{above}{below}</mfrac>"


def set_in_style(style: int, xml: str) -> str:
    """Return `xml` in TeX's `style`, whatever the style of its context."""
    display = _DISPLAYSTYLE_VALUES[style != DISPLAY]
    level = max(0, style - TEXT)
    return f'<mstyle displaystyle="{display}" scriptlevel="{level}">{xml}</mstyle>'


def _styled_frac(parser: Parser, command: str) -> Atom:
    style = DISPLAY if command == "\\dfrac" else TEXT
    above, below = _parts(parser, style)
    return ORD, set_in_style(style, f"<mfrac>{above}{below}</mfrac>")


def _cfrac(parser: Parser, command: str) -> Atom:
    r"""Typeset `\cfrac`, a continued fraction: both parts are in display style, the numerator has the height
    of a line."""
    parser.optional()  # [l] or [r], the alignment of the numerator; MathML Core centres it
    above, below = parser.parse_styled(DISPLAY), parser.parse_styled(DISPLAY)
    parts = set_in_style(DISPLAY, STRUT + above) + set_in_style(DISPLAY, below)
    return ORD, set_in_style(DISPLAY, f"<mfrac>{parts}</mfrac>")


def fence_formula(opening: str, xml: str, closing: str) -> str:
    """Return `xml` between two delimiters as high as it is. An empty delimiter is omitted."""
    return f"<mrow>{fence(opening, 'prefix')}{xml}{fence(closing, 'postfix')}</mrow>"


def _binom(parser: Parser, command: str) -> Atom:
    style = {"\\dbinom": DISPLAY, "\\tbinom": TEXT}.get(command, parser.style)
    above, below = _parts(parser, style)
    xml = _choice(above, below)
    return ORD, xml if command == "\\binom" else set_in_style(style, xml)


def _choice(above: str, below: str) -> str:
    parts = f"{add_argument(above, 'n')}{add_argument(below, 'k')}"
    xml = fence_formula("(", f"<mfrac{_THIN_LINE}>{parts}</mfrac>", ")")
    return add_intent(xml, "binomial-coefficient($n,$k)")


def _genfrac(parser: Parser, command: str) -> Atom:
    opening, closing = _delimiter(parser), _delimiter(parser)
    line = read_length(parser.name_argument(), command) if not _is_empty(parser) else None
    chosen = "".join(parser.name_argument()).strip()
    if chosen not in ("", "0", "1", "2", "3"):
        raise parser.syntax_error(
            f'invalid style "{chosen}" of "{command}": expected 0, 1, 2 or 3',
            hint="write `0` for display style, `1` for text style, or `2` or `3` for script styles",
        )
    style = int(chosen) if chosen else parser.style
    above, below = _parts(parser, style)
    thickness = "" if line is None else f' linethickness="{line}"'
    xml = f"<mfrac{thickness}>{above}{below}</mfrac>"
    if opening or closing:
        xml = fence_formula(opening, xml, closing)
    return ORD, set_in_style(style, xml) if chosen else xml


def _is_empty(parser: Parser) -> bool:
    """If the next token begins an empty group, consume the group. Return whether it did."""
    if parser.peek() == "{" and len(parser.stack) > 1 and parser.stack[-2] == "}":
        del parser.stack[-2:]
        return True
    return False


def _delimiter(parser: Parser) -> str:
    found = [token for token in parser.argument() if token != " "]
    if not found:
        return ""
    return parse_delimiter(parser, found[0])


def _sqrt(parser: Parser, command: str) -> Atom:
    if parser.peek() == "[":
        bracket = parser.peek()
        index = parser.optional()
        if index is None:
            raise ParseError("math-brace", '"[" after "\\sqrt" is never closed', bracket, unclosed=True)
        xml = "".join(parser.parse_group(index, SCRIPTSCRIPT))
        return ORD, f"<mroot>{parser.element()}<mrow>{xml}</mrow></mroot>"
    return ORD, f"<msqrt>{parser.element()}</msqrt>"


def _root(parser: Parser, command: str) -> Atom:
    index: list[str] = []
    while parser.peek() and parser.peek() != "\\of":
        index.append(parser.pop())
    if not parser.pop():
        raise parser.syntax_error('missing "\\of" after "\\root"', hint="write `\\sqrt[n]{x}`")
    parser.spend(len(index))
    xml = "".join(parser.parse_group(index, SCRIPTSCRIPT))
    return ORD, f"<mroot>{parser.element()}<mrow>{xml}</mrow></mroot>"


def _infix(parser: Parser, command: str) -> Combine:
    r"""Read `\over` or a related command, with its delimiters and line thickness if it has any. Return the
    function that makes the fraction."""
    opening, closing, line = _INFIXES[command]
    if command.endswith("withdelims"):
        opening, closing = parse_delimiter(parser, parser.pop()), parse_delimiter(parser, parser.pop())
    if command.startswith("\\above"):
        line = f' linethickness="{read_length(read_length_tokens(parser), command)}"'

    def combine(above: str, below: str) -> str:
        if command == "\\choose":
            return _choice(above, below)
        xml = f"<mfrac{line}>{above}{below}</mfrac>"
        return fence_formula(opening, xml, closing) if opening or closing else xml

    return combine


_INFIXES: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        "\\over": ("", "", ""),
        "\\above": ("", "", ""),
        "\\atop": ("", "", _THIN_LINE),
        "\\choose": ("(", ")", _THIN_LINE),
        "\\brace": ("{", "}", _THIN_LINE),
        "\\brack": ("[", "]", _THIN_LINE),
        "\\overwithdelims": ("", "", ""),
        "\\abovewithdelims": ("", "", ""),
        "\\atopwithdelims": ("", "", _THIN_LINE),
    }
)

COMMANDS: Mapping[str, Command] = MappingProxyType(
    {
        "\\frac": _frac,
        "\\dfrac": _styled_frac,
        "\\tfrac": _styled_frac,
        "\\cfrac": _cfrac,
        "\\binom": _binom,
        "\\dbinom": _binom,
        "\\tbinom": _binom,
        "\\genfrac": _genfrac,
        "\\sqrt": _sqrt,
        "\\root": _root,
    }
)
INFIXES: Mapping[str, Infix] = MappingProxyType({name: _infix for name in _INFIXES})
