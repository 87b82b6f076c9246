"""Boxes that contain text: raised, lapped, coloured, framed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...model.names import name_set
from ..mathml.atoms import ORD, Atom, join_fragments
from ..mathml.widths import measure
from ..parse.colors import ink_on, read_color
from ..parse.lengths import css, read_ems
from ..parse.parser import Command, Environment, Parser
from ..parse.scan import split_tokens
from .boxes import frame_box, lap_box, raise_box, read_length_tokens, space
from .fractions import set_in_style
from .grid import end_environment
from .text import text


def _text_lap(parser: Parser, command: str) -> Atom:
    return ORD, lap_box(text(parser, parser.argument()), command.removeprefix("\\").removeprefix("text"))


def _raisebox(parser: Parser, command: str) -> Atom:
    up = read_ems(parser.name_argument(), command)
    while parser.optional() is not None:  # `[height][depth]`, which change only the space that the box takes
        pass
    return ORD, raise_box(up, text(parser, parser.argument()))


def _raise(parser: Parser, command: str) -> Atom:
    r"""Typeset plain TeX's `\raise3pt\hbox{x}`. Any box is allowed, as in MathJax."""
    up = read_ems(read_length_tokens(parser), command)
    xml = parser.element()
    if command.startswith("\\move"):
        shift = up if command == "\\moveright" else -up
        return ORD, f"<mrow>{space(shift)}{xml}</mrow>"
    return ORD, raise_box(up if command == "\\raise" else -up, xml)


def _makebox(parser: Parser, command: str) -> Atom:
    r"""Typeset `\makebox[3em][l]{x}`, `\mathmakebox`, `\framebox`, with the given width if there is one."""
    width = parser.optional()
    place = "".join(parser.optional() or ()).strip()
    if command == "\\mathmakebox":
        xml = join_fragments(parser.parse_group(parser.argument()))
    else:
        xml = text(parser, parser.argument())
    if width and "".join(width).strip():
        look = {"l": "", "r": ' class="math-llap"'}.get(place, ' class="math-clap"')
        room = css(max(0.0, read_ems(width, command)))
        xml = f'<mpadded width="{room}"{look}><mrow>{xml}</mrow></mpadded>'
    return ORD, frame_box("math-fbox", [xml]) if command == "\\framebox" else xml


def _colorbox(parser: Parser, command: str) -> Atom:
    """Typeset text on a coloured background."""
    style = f"border:.04em solid {read_color(parser, command)}" if command == "\\fcolorbox" else ""
    back = read_color(parser, command)
    inner = text(parser, parser.argument())
    look = f'class="math-colorbox" mathbackground="{back}"{ink_on(back, style)}'
    return ORD, f"<mpadded {look}>{inner}</mpadded>"


def _fbox(parser: Parser, command: str) -> Atom:
    return ORD, frame_box("math-fbox", [text(parser, parser.argument())])


def _minipage(parser: Parser, name: str) -> Atom:
    r"""Typeset `\begin{minipage}[t]{3cm} text \end{minipage}` as text on one line, like `\parbox`."""
    begin = parser.command
    parser.optional()
    read_ems(parser.name_argument(), name)
    taken: list[str] = []
    while parser.stack and parser.stack[-1] != "\\end":
        taken.append(parser.stack.pop())
    end_environment(parser, name, begin)
    return ORD, text(parser, taken)


def _stack_rows(parser: Parser, command: str) -> Atom:
    r"""Typeset `\ialign{\hfil##\hfil\cr a\cr b\cr}` as rows whose last one is on the baseline, and
    `\ooalign{a\cr b}` as rows on one another, all centred."""
    source = [token for token in parser.argument() if token not in _FILLS]
    parts = [part for part in split_tokens(source, "\\cr") if any(token != " " for token in part)]
    rows = [text(parser, part) for part in parts[command in ("\\ialign", "\\halign") :]]
    if not rows:
        raise parser.syntax_error(f'missing rows of "{command}"', hint="end each row with `\\cr`")
    if command != "\\ooalign":
        made = rows.pop()
        for row in reversed(rows):
            made = f"<mover>{made}{set_in_style(parser.style, row)}</mover>"
        return ORD, made
    parser.spend(sum(map(len, rows)) // _CHARACTERS_A_TOKEN)
    widths = [measure(row) for row in rows]
    widest = max(widths)
    shifts = [(space((widest - width) / 2), row) for row, width in zip(rows, widths, strict=True)]
    over = "".join(f'<mpadded width="0"><mrow>{shift}{row}</mrow></mpadded>' for shift, row in shifts)
    return ORD, f'<mrow>{over}<mspace width="{css(widest)}"/></mrow>'


_CHARACTERS_A_TOKEN = 2
"""Characters of markup that count as one token for `spend`, because their width must be measured."""
_FILLS = name_set("\\hfil \\hfill \\hss \\crcr \\hidewidth")


ENVIRONMENTS: Mapping[str, Environment] = MappingProxyType({"minipage": _minipage})
COMMANDS: Mapping[str, Command] = MappingProxyType(
    {name: _text_lap for name in ("\\llap", "\\rlap", "\\clap", "\\textllap", "\\textrlap", "\\textclap")}
    | {name: _makebox for name in ("\\framebox", "\\makebox", "\\mathmakebox")}
    | {name: _raise for name in ("\\raise", "\\lower", "\\moveleft", "\\moveright")}
    | {"\\raisebox": _raisebox, "\\colorbox": _colorbox, "\\fcolorbox": _colorbox, "\\fbox": _fbox}
    | {name: _stack_rows for name in ("\\ialign", "\\halign", "\\oalign", "\\ooalign")}
)
