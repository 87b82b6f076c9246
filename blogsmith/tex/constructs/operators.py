r"""Named functions, limits, and commands that set the atom class; `\not`."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from types import MappingProxyType

from ...base.patterns import lazy_pattern
from ..mathml.atoms import (
    BIN,
    CLOSE,
    FUNCTION,
    INNER,
    INTEGRAL,
    LIMIT_FUNCTION,
    LIMITS,
    MEDIUM,
    NONE,
    OPEN,
    ORD,
    PUNCT,
    REL,
    SIDES,
    Atom,
    add_spaces,
    group_fragments,
    is_operator,
    join_fragments,
    operator,
    remove_spaces,
)
from ..mathml.glyph_atoms import atoms
from ..parse.parser import Command, Parser
from ..parse.state import DISPLAY, SCRIPT
from .stacks import ARROWS

_SLASH = "\u0338"
_SPACED_OPERATOR = lazy_pattern(
    r"((?:<mrow>|<mspace[^<>]*/>)+)(<mo(?: [^<>]*)?>[^<]+</mo>)((?:</mrow>|<mspace[^<>]*/>)+)"
)
r"""Matches an operator with spaces around it, as from `\implies`."""


def _not(parser: Parser, command: str) -> Atom:
    kind, xml = parser.atom_argument()
    return (REL if kind in (ORD, NONE) and "<mo" in xml else kind), _strike(xml)


def _strike(xml: str) -> str:
    """Return `xml` with a slash, as one composed character if Unicode has it."""
    if found := _SPACED_OPERATOR.fullmatch(xml):
        struck = _strike(found[2])
        is_tight = 'lspace="0"' in found[2]
        return f"{found[1]}{remove_spaces(struck) if is_tight else struck}{found[3]}"
    start = xml.find(">") + 1
    end = xml.find("</", start)
    sign = xml[start:end]
    if not xml.startswith(("<mo", "<mi", "<mn")) or xml.startswith("<mov") or not sign:
        return f'<mrow><mpadded width="0"><mtext>\u00a0{_SLASH}</mtext></mpadded>{xml}</mrow>'
    plain = {"&lt;": "<", "&gt;": ">", "∣": "∣", "|": "∣", "‖": "∥"}.get(sign, sign)
    composed = unicodedata.normalize("NFC", plain[:1] + _SLASH)
    if xml.startswith("<mo"):
        return operator(REL, composed + plain[1:])
    return f"{xml[:start]}{composed}{plain[1:]}{xml[end:]}"


_FUNCTIONS = """
arccos arcctg arccot arccsc arcsec arcsin arctan arctg arg ch cos cosec cosh cot cotg coth csc ctg cth
deg dim exp hom ker lg ln log sec sgn sh sin sinh tan tanh tg th erf tr Tr rank span
"""
_LIMIT_FUNCTIONS = "det gcd inf lim max min Pr sup plim argmax argmin liminf limsup injlim projlim"
_SPACED: Mapping[str, str] = MappingProxyType(
    {
        "argmax": "arg\u2009max",
        "argmin": "arg\u2009min",
        "liminf": "lim\u2009inf",
        "limsup": "lim\u2009sup",
        "injlim": "inj\u2009lim",
        "projlim": "proj\u2009lim",
    }
)


def function_name(text: str) -> str:
    """Return a function name as an upright identifier. A single letter needs an attribute to be upright."""
    variant = ' mathvariant="normal"' if len(text) == 1 else ""
    return f"<mi{variant}>{text}</mi>"


def _function(parser: Parser, command: str) -> Atom:
    return FUNCTION, function_name(command[1:])


def _limit_function(parser: Parser, command: str) -> Atom:
    return LIMIT_FUNCTION, function_name(_SPACED.get(command[1:], command[1:]))


def _decorated_limit(parser: Parser, command: str) -> Atom:
    r"""Typeset `\varlimsup` and related commands: lim with a line or an arrow."""
    where, sign = _LIMIT_ACCENTS[command]
    accent = "accent" if where == "over" else "accentunder"
    return LIMIT_FUNCTION, f'<m{where} {accent}="true"><mi>lim</mi><mo stretchy="true">{sign}</mo></m{where}>'


_LIMIT_ACCENTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "\\varlimsup": ("over", "‾"),
        "\\varliminf": ("under", "_"),
        "\\varinjlim": ("under", "→"),
        "\\varprojlim": ("under", "←"),
    }
)


def _operatorname(parser: Parser, command: str) -> Atom:
    starred = parser.star() or command.endswith("withlimits")
    source = parser.argument()
    kind = LIMIT_FUNCTION if starred else FUNCTION
    return kind, operator_name(parser, source)


_IN_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "*": "*",
        "-": "-",
        "'": "′",
        "\\,": "\u2009",
        "\\ ": "\u00a0",
        "~": "\u00a0",
        "\\;": "\u2004",
        "\\:": "\u205f",
    }
)


def operator_name(parser: Parser, source: list[str]) -> str:
    """Return `source` as one upright name; as a row of elements if it contains more than letters."""
    words = [_IN_NAMES.get(token, token) for token in source if token != " "]
    if words and all(word.replace(".", "").isalnum() or word in _IN_NAMES.values() for word in words):
        return function_name("".join(words))
    face, bold = parser.face, parser.bold
    parser.set_face("rm", bold=False)
    out = parser.parse_group(source)
    parser.set_face(face, bold)
    return join_fragments(out)


def _class(kind: int) -> Command:
    def with_class(parser: Parser, command: str) -> Atom:
        out = parser.parse_group(parser.argument())
        return kind, group_fragments(out) if parser.style >= SCRIPT else _with_space(kind, out)

    return with_class


def _with_space(kind: int, out: list[str]) -> str:
    """Return `out` as one element. If this is an operator, it gets the spaces of the atom class `kind`."""
    xml = group_fragments(out)
    if kind in SIDES and len(out) == 1 and is_operator(xml):
        before, behind = SIDES[kind]
        return xml.replace(' lspace="0" rspace="0"', f' lspace="{before}" rspace="{behind}"', 1)
    return add_spaces(kind, xml)


def _mathop(parser: Parser, command: str) -> Atom:
    source = parser.argument()
    out = parser.parse_group(source)
    xml = join_fragments(out)
    return LIMITS if is_operator(xml) else LIMIT_FUNCTION, xml


def _mod(parser: Parser, command: str) -> Atom:
    word = '<mi>mod</mi><mspace width="0.3333em"/>'
    if command == "\\bmod":
        return BIN, f'<mo lspace="{MEDIUM}" rspace="{MEDIUM}">mod</mo>'
    width = "1em" if parser.style == DISPLAY else "0.6667em" if command == "\\mod" else "0.4444em"
    gap = f'<mspace width="{width}"/>'
    argument = parser.argument()
    if command == "\\mod":
        # amsmath leaves the argument in the row, where it takes the scripts that follow
        parser.push(argument)
        return ORD, f"<mrow>{gap}{word}</mrow>"
    inside = "".join(parser.parse_group(argument))
    body = inside if command == "\\pod" else word + inside
    return ORD, f'<mrow>{gap}<mo stretchy="false">(</mo>{body}<mo stretchy="false">)</mo></mrow>'


def _idotsint(parser: Parser, command: str) -> Atom:
    return INTEGRAL, "<mrow><mo>∫</mo><mi>⋯</mi><mo>∫</mo></mrow>"


def _dots(parser: Parser, command: str) -> Atom:
    r"""Typeset amsmath's `\dots`: centred before an operator, relation or long arrow, otherwise on the
    baseline."""
    follower = parser.peek()
    plain = atoms("", False)
    kind = plain[follower][0] if follower in plain else ORD
    centred = kind in (BIN, REL, LIMITS, INTEGRAL) or follower == "\\not" or follower in ARROWS
    return plain["\\cdots" if centred else "\\ldots"]


COMMANDS: Mapping[str, Command] = MappingProxyType(
    {"\\" + name: _function for name in _FUNCTIONS.split()}
    | {"\\" + name: _limit_function for name in _LIMIT_FUNCTIONS.split()}
    | {name: _decorated_limit for name in _LIMIT_ACCENTS}
    | {name: _mod for name in ("\\bmod", "\\mod", "\\pmod", "\\pod")}
    | {
        "\\operatorname": _operatorname,
        "\\operatornamewithlimits": _operatorname,
        "\\dots": _dots,
        "\\mathop": _mathop,
        "\\mathord": _class(ORD),
        "\\mathbin": _class(BIN),
        "\\mathrel": _class(REL),
        "\\mathopen": _class(OPEN),
        "\\mathclose": _class(CLOSE),
        "\\mathpunct": _class(PUNCT),
        "\\mathinner": _class(INNER),
        "\\idotsint": _idotsint,
        "\\not": _not,
    }
)
