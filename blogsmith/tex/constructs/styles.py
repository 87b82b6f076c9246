"""Switches that apply to the end of the group: style, size and colour."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..mathml.atoms import ORD, Atom
from ..mathml.fragments import join_fragments
from ..parse.colors import COMMANDS as COLOR_COMMANDS
from ..parse.colors import define_color, read_color
from ..parse.lengths import css
from ..parse.parser import Command, Parser
from ..parse.state import DISPLAY, SCRIPT, SCRIPTSCRIPT, TEXT
from .fractions import set_in_style

_STYLES: Mapping[str, int] = MappingProxyType(
    {
        "\\displaystyle": DISPLAY,
        "\\textstyle": TEXT,
        "\\scriptstyle": SCRIPT,
        "\\scriptscriptstyle": SCRIPTSCRIPT,
    }
)
SIZES: Mapping[str, float] = MappingProxyType(
    {
        "\\Tiny": 0.5,
        "\\tiny": 0.5,
        "\\sixptsize": 0.6,
        "\\SMALL": 0.6,
        "\\scriptsize": 0.7,
        "\\footnotesize": 0.8,
        "\\small": 0.9,
        "\\normalsize": 1.0,
        "\\large": 1.2,
        "\\Large": 1.44,
        "\\LARGE": 1.728,
        "\\huge": 2.074,
        "\\Huge": 2.488,
    }
)
"""Size command → size relative to the text around the formula."""


def _style_rest(parser: Parser, style: int | None = None) -> Atom:
    """Return the rest of the row as one element, set in `style` if given. Spaces between atoms are the same
    as without the switch."""
    old, table = parser.style, parser.atoms
    if style is not None:
        parser.set_style(style)
    out = parser.row(parser.previous, infix_ends=True)
    parser.style, parser.atoms = old, table
    parser.has_read_rest = True
    return parser.last_kind, join_fragments(out)


def _style(parser: Parser, command: str) -> Atom:
    style = _STYLES[command]
    kind, xml = _style_rest(parser, style)
    return kind, set_in_style(style, xml)


def _size(parser: Parser, command: str) -> Atom:
    outer, parser.size = parser.size, SIZES[command]
    kind, xml = _style_rest(parser)
    parser.size = outer
    return kind, scale(SIZES[command] / outer, xml)


def scale(factor: float, xml: str) -> str:
    """Return `xml` scaled by a factor."""
    return f'<mstyle mathsize="{css(factor)}">{xml}</mstyle>'


def _color(parser: Parser, command: str) -> Atom:
    color = read_color(parser, command)
    kind, xml = _style_rest(parser)
    return kind, set_color(color, xml)


def set_color(color: str, xml: str) -> str:
    """Return `xml` in a colour."""
    return f'<mstyle mathcolor="{color}">{xml}</mstyle>'


def _textcolor(parser: Parser, command: str) -> Atom:
    r"""Typeset `\textcolor{red}{x}`. The argument keeps its atom class, so a coloured relation has its
    spaces."""
    color = read_color(parser, command)
    out = parser.parse_group(parser.argument(), before=parser.previous, open_end=True)
    return parser.last_kind if out else ORD, set_color(color, join_fragments(out))


def _shade(parser: Parser, command: str) -> Atom:
    out = parser.parse_group(parser.argument(), before=parser.previous, open_end=True)
    return parser.last_kind if out else ORD, set_color(COLOR_COMMANDS[command], join_fragments(out))


COMMANDS: Mapping[str, Command] = MappingProxyType(
    {name: _style for name in _STYLES}
    | {name: _shade for name in COLOR_COMMANDS}
    | {name: _size for name in SIZES}
    | {"\\color": _color, "\\textcolor": _textcolor, "\\mathcolor": _textcolor, "\\definecolor": define_color}
)
