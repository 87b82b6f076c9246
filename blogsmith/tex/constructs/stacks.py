r"""Symbols above and below others: `\overset`, `\substack`, braces, accents and stretching arrows."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...base.patterns import lazy_pattern
from ..mathml.atoms import (
    BIN,
    LIMIT_FUNCTION,
    LIMITS,
    ORD,
    REL,
    Atom,
    add_attribute,
    add_spaces,
    is_operator,
    join_fragments,
    remove_spaces,
)
from ..parse.errors import ParseError
from ..parse.lexer import ROW_BREAKS
from ..parse.parser import Command, Parser
from ..parse.state import SCRIPT, SCRIPTSCRIPT
from .grid import small_table

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
    """Return a CSS class that moves the accent over a single slanted letter to the right, as TeX's skew
    does."""
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


def _script_style(parser: Parser) -> int:
    return SCRIPT if parser.style < SCRIPT else SCRIPTSCRIPT


def _base(parser: Parser) -> Atom:
    """Read the base of a stack. A group of one symbol keeps the class of the symbol; others are ORD."""
    source = parser.argument()
    kept = [token for token in source if token != " "]
    if len(kept) == 1 and kept[0] not in parser.macros and kept[0] in parser.atoms:
        return parser.atoms[kept[0]]
    return ORD, join_fragments(parser.parse_group(source))


def _overset(parser: Parser, command: str) -> Atom:
    script = parser.parse_styled(_script_style(parser))
    kind, base = _base(parser)
    if command == "\\stackrel":
        kind = REL
    elif command == "\\stackbin":
        kind = BIN
    where = "under" if command == "\\underset" else "over"
    if kind in (LIMITS, LIMIT_FUNCTION) and is_operator(base):
        base = add_attribute(base, 'movablelimits="false"')
    if kind in (BIN, REL):
        # the spaces are outside, because with a wide label Chromium would add the symbol's own spaces
        return kind, add_spaces(kind, f"<m{where}>{remove_spaces(base)}{script}</m{where}>")
    return LIMITS if kind == LIMITS else ORD, f"<m{where}>{base}{script}</m{where}>"


def _underoverset(parser: Parser, command: str) -> Atom:
    below, above = parser.parse_styled(_script_style(parser)), parser.parse_styled(_script_style(parser))
    kind, base = _base(parser)
    if kind in (BIN, REL):
        return kind, add_spaces(kind, f"<munderover>{remove_spaces(base)}{below}{above}</munderover>")
    return ORD, f"<munderover>{base}{below}{above}</munderover>"


_ARROWS = """
xrightarrow → xleftarrow ← xleftrightarrow ↔ xRightarrow ⇒ xLeftarrow ⇐ xLeftrightarrow ⇔ xmapsto ↦
xlongequal = xhookrightarrow ↪ xhookleftarrow ↩ xrightharpoonup ⇀ xrightharpoondown ⇁ xleftharpoonup ↼
xleftharpoondown ↽ xrightleftharpoons ⇌ xleftrightharpoons ⇋ xtwoheadrightarrow ↠ xtwoheadleftarrow ↞
xtofrom ⇄ xrightleftarrows ⇄ xrightequilibrium ⇌ xleftequilibrium ⇋ xLongleftrightarrow ⟺
xrightharpoondown ⇁ xleftrightarrows ⇆ xLongrightarrow ⟹ xLongleftarrow ⟸
"""
_BRACES = """
overbrace ⏞ underbrace ⏟ overbracket ⎴ underbracket ⎵ overparen ⏜ underparen ⏝ overgroup ⏠ undergroup ⏡
wideparen ⏜
"""


ARROWS: Mapping[str, str] = MappingProxyType(_pairs(_ARROWS))
"""Command → symbol of an arrow that grows with its label."""
_BRACE_SIGNS: Mapping[str, str] = MappingProxyType(_pairs(_BRACES))


def _arrow(parser: Parser, command: str) -> Atom:
    style = _script_style(parser)
    below = parser.optional()
    lower = join_fragments(parser.parse_group(below, style)) if below else ""
    upper = parser.parse_styled(style)
    return REL, label_arrow(ARROWS[command], upper, lower)


def label_arrow(sign: str, upper: str, lower: str = "") -> str:
    """Return an arrow as long as its labels."""
    arrow = f'<mo stretchy="true">{sign}</mo>'
    upper, lower = (
        label if label.startswith("<mrow") or not label else f"<mrow>{label}</mrow>"
        for label in (upper, lower)
    )
    if not lower:
        return f'<mover class="math-xarrow">{arrow}{upper}</mover>'
    if upper in ("", "<mrow></mrow>"):
        return f'<munder class="math-xarrow">{arrow}{lower}</munder>'
    return f'<munderover class="math-xarrow">{arrow}{lower}{upper}</munderover>'


def _brace(parser: Parser, command: str) -> Atom:
    r"""Typeset `\underbrace{x}_{label}`: the label is written as a script and placed below."""
    over = command.startswith(("\\over", "\\wide"))
    if command in ("\\overbracket", "\\underbracket"):
        parser.optional()  # thickness of the rule, which has no effect
        parser.optional()  # its height
    where, accent = ("over", "accent") if over else ("under", "accentunder")
    sign = f'<mo stretchy="true">{_BRACE_SIGNS[command]}</mo>'
    xml = f'<m{where} {accent}="true">{parser.element()}{sign}</m{where}>'
    script = "^" if over else "_"
    while parser.peek() in parser.macros:
        parser.expand(parser.pop())
    if parser.peek() == script:
        parser.pop()
        return ORD, f"<m{where}>{xml}{parser.script(script)}</m{where}>"
    return ORD, xml


def _substack(parser: Parser, command: str) -> Atom:
    source = parser.argument()
    style, table = parser.style, parser.atoms
    if parser.style < SCRIPT:
        parser.set_style(SCRIPT)
    rows = _rows(parser, source, command)
    parser.style, parser.atoms = style, table
    body = "".join(f"<mtr><mtd>{row}</mtd></mtr>" for row in rows)
    return ORD, small_table(body, in_script=style >= SCRIPT)


def _rows(parser: Parser, source: list[str], command: str) -> list[str]:
    parser.stack.append("}")
    parser.push(source)
    rows = []
    while True:
        rows.append("".join(parser.row()))
        if parser.end_token in ROW_BREAKS:
            if parser.stack and parser.stack[-1] == "[":
                parser.optional()
            continue
        if parser.end_token != "}":
            raise ParseError(
                "math-syntax",
                f'"{parser.end_token}" is not allowed in "{command}"',
                parser.end_token,
                hint=f"remove it: `{command}` has one column",
            )
        return rows


def _sideset(parser: Parser, command: str) -> Atom:
    r"""Typeset `\sideset{_a^b}{_c^d}\sum`: scripts at the corners of an operator."""
    left, right = parser.argument(), parser.argument()
    kind, base = parser.atom_argument()
    before, behind = _corner(parser, left), _corner(parser, right)
    scripts = f"{behind}<mprescripts/>{before}"
    return kind, f"<mmultiscripts>{base}{scripts}</mmultiscripts>"


def _corner(parser: Parser, source: list[str]) -> str:
    """Return the subscript and superscript in `source`, `_a^b`, as a pair for `mmultiscripts`."""
    parser.stack.append("}")
    parser.push(source)
    found = {"_": "<mrow></mrow>", "^": "<mrow></mrow>"}
    primes = 0
    while parser.peek() != "}":
        token = parser.pop()
        if token == "'":
            primes += 1
        elif token in found:
            found[token] = parser.script(token)
        else:
            raise ParseError(
                "math-syntax",
                f'"{token}" is not allowed in "{parser.command}": expected scripts only',
                token,
                hint="write it as in `\\sideset{_a^b}{_c^d}\\sum`",
            )
    parser.pop()
    if primes:
        found["^"] = f'<mo lspace="0" rspace="0">{"′" * primes}</mo>'
    return found["_"] + found["^"]


def _prescript(parser: Parser, command: str) -> Atom:
    style = _script_style(parser)
    above, below = parser.parse_styled(style), parser.parse_styled(style)
    base = parser.element()
    return ORD, f"<mmultiscripts>{base}<mprescripts/>{below}{above}</mmultiscripts>"


COMMANDS: Mapping[str, Command] = MappingProxyType(
    {
        **{name: _overset for name in ("\\overset", "\\underset", "\\stackrel", "\\stackbin")}
        | {name: _arrow for name in ARROWS}
        | {name: _brace for name in _BRACE_SIGNS}
        | {
            "\\underoverset": _underoverset,
            "\\substack": _substack,
            "\\sideset": _sideset,
            "\\prescript": _prescript,
        },
        **{name: _narrow for name in _NARROW_SIGNS}
        | {name: _wide for name in _WIDE_SIGNS}
        | {name: _under for name in _UNDER_SIGNS}
        | {"\\vec": _vec},
    }
)
