r"""Math fonts, and switches to the end of the group: `\mathbf{…}`, `\bf`, style, size and colour."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..mathml.alphabets import MathAlphabet
from ..mathml.atoms import ORD, Atom, add_attribute, group_fragments, is_operator, join_fragments
from ..parse.colors import COMMANDS as COLOR_COMMANDS
from ..parse.colors import copy_color, dark_twin, define_color, read_color
from ..parse.lengths import css
from ..parse.parser import Command, Parser
from ..parse.state import DISPLAY, SCRIPT, SCRIPTSCRIPT, TEXT
from .fractions import set_in_style
from .operators import function_name

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
    r"""Return the rest of the row, after a switch such as `\bf`, as one element in `style`; None keeps the
    style. Spaces between atoms are the same as without the switch."""
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
    """Return `xml` in a colour. Authors choose colours for white paper, so a dark page shows a dark colour
    lighter."""
    twin = dark_twin(color)
    style = f' style="color:light-dark({color},{twin})"' if twin else ""
    return f'<mstyle mathcolor="{color}"{style}>{xml}</mstyle>'


def _textcolor(parser: Parser, command: str) -> Atom:
    r"""Typeset `\textcolor{red}{x}`. The argument keeps its atom class, so a coloured relation has its
    spaces."""
    color = read_color(parser, command)
    out = parser.parse_group(parser.argument(), before=parser.previous, open_end=True)
    return parser.last_kind if out else ORD, set_color(color, join_fragments(out))


def _shade(parser: Parser, command: str) -> Atom:
    out = parser.parse_group(parser.argument(), before=parser.previous, open_end=True)
    return parser.last_kind if out else ORD, set_color(COLOR_COMMANDS[command], join_fragments(out))


_FACES: Mapping[str, MathAlphabet] = MappingProxyType(
    {
        "\\mathrm": "rm",
        "\\mathup": "rm",
        "\\symup": "rm",
        "\\symrm": "rm",
        "\\mathnormal": "",
        "\\mathit": "it",
        "\\mathbf": "bf",
        "\\symbf": "bf",
        "\\symbfup": "bf",
        "\\bold": "bf",
        "\\mathbfup": "bf",
        "\\mathbfit": "bi",
        "\\symbfit": "bi",
        "\\mathcal": "cal",
        "\\symcal": "cal",
        "\\mathscr": "scr",
        "\\EuScript": "scr",
        "\\symscr": "scr",
        "\\mathbfcal": "bcal",
        "\\symbfcal": "bcal",
        "\\mathbfscr": "bscr",
        "\\symbfscr": "bscr",
        "\\mathfrak": "frak",
        "\\symfrak": "frak",
        "\\frak": "frak",
        "\\mathbffrak": "bfrak",
        "\\symbffrak": "bfrak",
        "\\mathbb": "bb",
        "\\symbb": "bb",
        "\\Bbb": "bb",
        "\\mathds": "bb",
        "\\mathbbm": "bb",
        "\\mathpzc": "scr",
        "\\mathsf": "sf",
        "\\symsf": "sf",
        "\\symsfup": "sf",
        "\\mathsfup": "sf",
        "\\mathsfit": "sfit",
        "\\symsfit": "sfit",
        "\\mathbfsf": "bsf",
        "\\mathbfsfup": "bsf",
        "\\symbfsf": "bsf",
        "\\symbfsfup": "bsf",
        "\\mathbfsfit": "bsfit",
        "\\symbfsfit": "bsfit",
        "\\mathtt": "tt",
        "\\symtt": "tt",
        "\\symit": "it",
        "\\symnormal": "",
    }
)
_SWITCHES: Mapping[str, MathAlphabet] = MappingProxyType(
    {
        "\\rm": "rm",
        "\\it": "it",
        "\\mit": "",
        "\\bf": "bf",
        "\\cal": "cal",
        "\\scr": "scr",
        "\\frak": "frak",
        "\\sf": "sf",
        "\\tt": "tt",
        "\\oldstyle": "rm",
        "\\rmfamily": "rm",
        "\\upshape": "rm",
        "\\sffamily": "sf",
        "\\ttfamily": "tt",
        "\\bfseries": "bf",
        "\\itshape": "it",
    }
)
# in these fonts, neighbouring letters form a word
_WORDS = frozenset(("rm", "it", "bf", "sf", "tt", "bi", "bsf", "sfit", "bsfit"))


def _font_command(parser: Parser, command: str) -> Atom:
    return ORD, set_in_font(parser, _FACES[command], parser.argument())


def set_in_font(parser: Parser, face: MathAlphabet, source: list[str]) -> str:
    """Return `source` in a font, as one element."""
    old, bold = parser.face, parser.bold
    parser.set_face(face, bold and face in ("rm", "cal", "scr", "frak", "sf", "sfit"))
    word = _word_identifier(parser, source) if face in _WORDS and len(source) > 1 else ""
    xml = word or group_fragments(parser.parse_group(source))
    parser.set_face(old, bold)
    return xml


def _word_identifier(parser: Parser, source: list[str]) -> str:
    """Return one identifier if `source` is a word; otherwise ""."""
    word = "".join(source).replace(" ", "")
    upright = parser.face == "rm" and not parser.bold
    letters = word.replace("°", "") if upright else word
    if len(word) < 2 or not letters.isalpha() or not (upright or word.isascii()):
        return ""
    if upright:
        name = function_name(word)
        # Firefox puts space between it and a slanted letter
        return name if parser.style >= SCRIPT else f"<mpadded>{name}</mpadded>"
    if parser.face == "it":
        # letters of the math alphabet are spaced as in a product
        return f"<mtext><i>{word}</i></mtext>"
    table = parser.atoms
    faced = (table[c][1] for c in word)
    return f"<mi>{''.join(letter[letter.index('>') + 1 : -5] for letter in faced)}</mi>"


def _switch(parser: Parser, command: str) -> Atom:
    old, bold = parser.face, parser.bold
    parser.set_face(_SWITCHES[command], bold=False)
    out = parser.row(infix_ends=True)
    parser.set_face(old, bold)
    parser.has_read_rest = True
    return ORD, join_fragments(out)


def _boldsymbol(parser: Parser, command: str) -> Atom:
    source = parser.argument()
    kept = [token for token in source if token != " "]
    kind = parser.atoms[kept[0]][0] if len(kept) == 1 and kept[0] in parser.atoms else ORD
    old, bold = parser.face, parser.bold
    # LaTeX resets the font for the argument, so an outer font does not apply inside
    parser.set_face("", bold=True)
    out = parser.parse_group(source)
    parser.set_face(old, bold)
    out = [_bold_operator(piece) for piece in out]
    if kind != ORD and len(out) == 1:
        xml = _bold_operator(parser.atoms[kept[0]][1])
        return kind, xml
    return ORD, group_fragments(out)


def _bold_operator(piece: str) -> str:
    return add_attribute(piece, 'style="font-weight:bold"') if is_operator(piece) else piece


def _boldmath(parser: Parser, command: str) -> Atom:
    old, bold = parser.face, parser.bold
    parser.set_face(parser.face, bold=command == "\\boldmath")
    out = parser.row(infix_ends=True)
    parser.set_face(old, bold)
    parser.has_read_rest = True
    return ORD, join_fragments(out)


COMMANDS: Mapping[str, Command] = MappingProxyType(
    {name: _font_command for name in _FACES}
    | {name: _switch for name in _SWITCHES}
    | {name: _boldsymbol for name in ("\\boldsymbol", "\\bm", "\\pmb")}
    | {"\\boldmath": _boldmath, "\\unboldmath": _boldmath}
    | {name: _style for name in _STYLES}
    | {name: _shade for name in COLOR_COMMANDS}
    | {name: _size for name in SIZES}
    | {"\\color": _color, "\\textcolor": _textcolor, "\\mathcolor": _textcolor, "\\definecolor": define_color}
    | {"\\colorlet": copy_color}
)
