r"""Space and boxes: kerns, phantoms, `\smash`, laps, rules, frames and strokes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..mathml.atoms import GLUE, ORD, Atom, add_argument, add_intent, join_fragments
from ..parse.lengths import css, read_ems, read_length
from ..parse.parser import Command, Parser
from ..parse.state import SCRIPT, TEXT

_SPACES: Mapping[str, float] = MappingProxyType(
    {
        "\\,": 3 / 18,
        "\\thinspace": 3 / 18,
        "\\:": 4 / 18,
        "\\>": 4 / 18,
        "\\medspace": 4 / 18,
        "\\;": 5 / 18,
        "\\thickspace": 5 / 18,
        "\\!": -3 / 18,
        "\\negthinspace": -3 / 18,
        "\\negmedspace": -4 / 18,
        "\\negthickspace": -5 / 18,
        "\\enspace": 0.5,
        "\\enskip": 0.5,
        "\\quad": 1.0,
        "\\qquad": 2.0,
    }
)
_WORD_SPACES = ("\\ ", "~", "\\space", "\\nobreakspace")
_LENGTHS = ("\\kern", "\\mkern", "\\hskip", "\\mskip", "\\hspace", "\\mspace")
_NOTHING = (
    "\\relax",
    "\\nobreak",
    "\\allowbreak",
    "\\noindent",
    "\\nonumber",
    "\\notag",
    "\\IEEEnonumber",
    "\\IEEEyesnumber",
    "\\IEEEeqnarraynumspace",
    "\\displaybreak",
    "\\null",
    "\\goodbreak",
    "\\break",
    "\\nobreakdash",
    "\\/",
    "\\centering",
    "\\protect",
    "\\par",
    "\\strut",
    "\\nonscript",
    "\\ignorespaces",
    "\\hidewidth",
    "\\hfil",
    "\\hfill",
    "\\hss",
    "\\-",
)


def space(em: float) -> str:
    """Return an element that is `em` wide. Chromium ignores a negative `mspace`, so a margin is used."""
    if em < 0:
        return f'<mrow style="margin-left:{css(em)}"></mrow>'
    return f'<mspace width="{css(em)}"/>'


def _fixed(parser: Parser, command: str) -> Atom:
    return GLUE, space(_SPACES[command])


def _word_space(parser: Parser, command: str) -> Atom:
    return GLUE, "<mtext>\u00a0</mtext>"


def _length(parser: Parser, command: str) -> Atom:
    if command in ("\\hspace", "\\mspace"):
        parser.star()
        return GLUE, space(read_ems(read_length_tokens(parser), command))
    width = read_ems(read_length_tokens(parser), command)
    if command in ("\\hskip", "\\mskip"):
        _skip_stretch(parser)
    return GLUE, space(width)


def _skip_stretch(parser: Parser) -> None:
    """Skip the stretch of glue, `plus 1fil minus 2pt`, which has no effect in a formula."""
    for word in ("plus", "minus"):
        ahead = [token for token in parser.stack[: -4 * len(word) : -1] if token != " "][: len(word)]
        if "".join(ahead) == word:
            for _ in word:
                parser.pop()
            read_length_tokens(parser)
            while parser.peek() == "l":
                parser.pop()


def read_length_tokens(parser: Parser) -> list[str]:
    """Consume and return the tokens of a length without braces, such as `3mu` or `-.5em`."""
    while parser.peek() in parser.macros:
        parser.expand(parser.pop())
    if parser.peek() == "{":
        return parser.name_argument()
    taken: list[str] = []
    while parser.peek() and (
        parser.peek() in "+-" or parser.peek().replace(".", "").isdecimal() or parser.peek() == "."
    ):
        taken.append(parser.pop())
    if parser.peek().startswith("\\"):
        taken.append(parser.pop())
        return taken
    for _ in range(2):
        if parser.peek().isalpha():
            taken.append(parser.pop())
    return taken


def _skip_command(parser: Parser, command: str) -> None:
    return None


def _skip_length(parser: Parser, command: str) -> None:
    r"""Skip plain TeX's `\openup3pt`, because the stylesheet sets the distance of rows."""
    read_ems(read_length_tokens(parser), command)


_REGISTERS = tuple(
    f"\\{name}"
    for name in (
        *("penalty", "predisplaypenalty", "postdisplaypenalty", "interdisplaylinepenalty", "binoppenalty"),
        *("relpenalty", "thinmuskip", "medmuskip", "thickmuskip", "arraycolsep", "mathsurround", "jot"),
        *("abovedisplayskip", "belowdisplayskip", "abovedisplayshortskip", "belowdisplayshortskip"),
        *("delimitershortfall", "nulldelimiterspace", "scriptspace"),
    )
)


def _skip_register(parser: Parser, command: str) -> None:
    r"""Skip `\penalty100` and `\medmuskip=4mu plus 2mu`, which affect breaks and spaces of a printed page."""
    if parser.peek() == "=":
        parser.pop()
    if not command.endswith("penalty"):
        read_length_tokens(parser)
        for word in ("plus", "minus"):
            if parser.peek() == word[0] and "".join(parser.stack[: -len(word) - 1 : -1]) == word:
                del parser.stack[-len(word) :]
                read_length_tokens(parser)
        return
    while parser.peek() in ("+", "-"):
        parser.pop()
    if parser.peek().isdecimal() or parser.peek().startswith("\\"):
        parser.pop()


def _phantom(parser: Parser, command: str) -> Atom:
    xml = f"<mphantom>{parser.element()}</mphantom>"
    if command == "\\hphantom":
        xml = f'<mpadded height="0" depth="0">{xml}</mpadded>'
    elif command == "\\vphantom":
        xml = f'<mpadded width="0">{xml}</mpadded>'
    return ORD, xml


def _mathstrut(parser: Parser, command: str) -> Atom:
    return ORD, '<mpadded width="0"><mphantom><mo stretchy="false">(</mo></mphantom></mpadded>'


def _smash(parser: Parser, command: str) -> Atom:
    found = "".join(parser.optional() or ()).strip()
    lost = {"t": 'height="0"', "b": 'depth="0"'}.get(found, 'height="0" depth="0"')
    return ORD, f"<mpadded {lost}>{parser.element()}</mpadded>"


_LAPS: Mapping[str, str] = MappingProxyType(
    {"llap": ' class="math-llap"', "rlap": "", "clap": ' class="math-clap"'}
)


def _lap(parser: Parser, command: str) -> Atom:
    r"""Typeset `\mathrlap` and related commands: visible, but without width."""
    kind = command[1:].removeprefix("math")
    parser.optional()
    return ORD, lap_box(join_fragments(parser.parse_group(parser.argument())), kind)


def lap_box(xml: str, kind: str) -> str:
    """Return `xml` without width. kind: `llap`, `rlap` or `clap`."""
    inner = xml if xml.startswith("<mrow") else f"<mrow>{xml}</mrow>"
    return f'<mpadded width="0"{_LAPS[kind]}>{inner}</mpadded>'


def _vcenter(parser: Parser, command: str) -> Atom:
    inner = join_fragments(parser.parse_group(parser.argument()))
    return ORD, f'<mtable class="math-plain"><mtr><mtd>{inner}</mtd></mtr></mtable>'


def raise_box(em: float, xml: str) -> str:
    """Return `xml`, raised by `em`."""
    side = "top" if em >= 0 else "bottom"
    return f'<mpadded voffset="{css(em)}" style="padding-{side}:{css(abs(em))}">{xml}</mpadded>'


def _rule(parser: Parser, command: str) -> Atom:
    shift = parser.optional()
    up = read_ems(shift, command) if shift else 0.0
    width, height = read_ems(parser.name_argument(), command), read_ems(parser.name_argument(), command)
    black = 'style="background-color:currentcolor"'
    if up <= 0:
        depth = f' depth="{css(-up)}"' if up else ""  # with a depth of 0 Chromium draws nothing
        return ORD, f'<mspace width="{css(width)}" height="{css(height + up)}"{depth} {black}/>'
    inner = f'<mspace width="{css(width)}" height="{css(height)}" {black}/>'
    return ORD, f'<mpadded voffset="{css(up)}" height="{css(height + up)}">{inner}</mpadded>'


def _space(parser: Parser, command: str) -> Atom:
    r"""Typeset MathJax's `\Space{width}{height}{depth}`."""
    width, height, depth = (read_length(parser.name_argument(), command) for _ in range(3))
    return ORD, f'<mspace width="{width}" height="{height}" depth="{depth}"/>'


_FRAMES: Mapping[str, str] = MappingProxyType(
    {
        "\\cancel": "math-cancel",
        "\\bcancel": "math-bcancel",
        "\\xcancel": "math-xcancel",
        "\\sout": "math-sout",
        "\\boxed": "math-boxed",
        "\\phase": "math-phase",
        "\\angl": "math-angl",
        "\\longdiv": "math-longdiv",
    }
)
_CONCEPTS: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(("math-boxed", "math-fbox"), "boxed")
    | dict.fromkeys(
        ("math-cancel", "math-bcancel", "math-xcancel", "math-cancelto", "math-sout"), "crossed-out"
    )
)
"""Class → concept of the `intent` attribute, which screen readers announce for its frame or line."""


def frame_box(name: str, pieces: list[str], radius: str = "") -> str:
    """Return `pieces` with the frame or line that the CSS class `name` draws. radius: CSS `border-radius`."""
    style = f' style="border-radius:{radius}"' if radius else ""
    if concept := _CONCEPTS.get(name):
        inside = add_argument(join_fragments(pieces), "x")
        return add_intent(f'<mrow class="{name}"{style}>{inside}</mrow>', f"{concept}($x)")
    return f'<mrow class="{name}"{style}>{"".join(pieces)}</mrow>'


def _frame(parser: Parser, command: str) -> Atom:
    style = TEXT if command == "\\boxed" and parser.style >= SCRIPT else None
    return ORD, frame_box(_FRAMES[command], parser.parse_group(parser.argument(), style))


def _angln(parser: Parser, command: str) -> Atom:
    return ORD, frame_box("math-angl", ["<mi>n</mi>"])


def _cancelto(parser: Parser, command: str) -> Atom:
    script = parser.parse_styled(max(SCRIPT, parser.style))
    return ORD, f"<msup>{frame_box('math-cancelto', parser.parse_group(parser.argument()))}{script}</msup>"


def _mathchoice(parser: Parser, command: str) -> Atom:
    r"""Typeset one of the four arguments of `\mathchoice`, selected by the current style."""
    choices = [parser.argument() for _ in range(4)]
    return ORD, join_fragments(parser.parse_group(choices[parser.style]))


COMMANDS: Mapping[str, Command] = MappingProxyType(
    {name: _fixed for name in _SPACES}
    | {name: _word_space for name in _WORD_SPACES}
    | {name: _length for name in _LENGTHS}
    | {name: _skip_command for name in _NOTHING}
    | {name: _phantom for name in ("\\phantom", "\\hphantom", "\\vphantom")}
    | {f"\\math{name}": _lap for name in _LAPS}
    | {name: _frame for name in _FRAMES}
    | {
        "\\mathstrut": _mathstrut,
        "\\openup": _skip_length,
        **dict.fromkeys(_REGISTERS, _skip_register),
        "\\smash": _smash,
        "\\vcenter": _vcenter,
        "\\rule": _rule,
        "\\Space": _space,
        "\\angln": _angln,
        "\\cancelto": _cancelto,
        "\\mathchoice": _mathchoice,
    }
)
