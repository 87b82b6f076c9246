r"""Commutative diagrams: `tikzcd`, `CD` and `\xymatrix`. They are imported when a formula contains one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from ..mathml.atoms import ORD, Atom
from ..parse.errors import ParseError
from ..parse.parser import Command, Environment, Parser
from ..parse.reader import Macro
from .grid import end_environment

if TYPE_CHECKING:
    from ..diagrams.records import ArrowDiagram


def _tikzcd(parser: Parser, name: str) -> Atom:
    from ..diagrams.tikzcd import read_tikzcd

    begin = parser.command
    options = parser.optional() or ()
    body = _body(parser, name, begin)
    return _drawn(parser, lambda: read_tikzcd(parser, options, body))


def _cd(parser: Parser, name: str) -> Atom:
    from ..diagrams.amscd import read_cd

    body = _body(parser, name, parser.command)
    return _drawn(parser, lambda: read_cd(parser, body))


def _xymatrix(parser: Parser, command: str) -> Atom:
    from ..diagrams.xymatrix import read_xymatrix

    return _drawn(parser, lambda: read_xymatrix(parser))


def _tikzset(parser: Parser, command: str) -> None:
    from ..diagrams.options import define_styles

    define_styles(parser, command)


def _body(parser: Parser, name: str, begin: str) -> list[str]:
    r"""Return the tokens up to the `\end` of the environment, which is consumed."""
    taken: list[str] = []
    depth = 0
    while parser.stack:
        token = parser.stack.pop()
        if token == "\\end" and not depth:
            parser.stack.append(token)
            parser.spend(len(taken))
            end_environment(parser, name, begin)
            return taken
        macro = parser.macros.get(token) if token.startswith("\\end ") and not depth else None
        if isinstance(macro, Macro):
            # the end of an author's environment that contains the diagram
            parser.push(macro.body)
            continue
        depth += (token in ("{", "\\begin")) - (token in ("}", "\\end"))
        taken.append(token)
    raise ParseError("math-brace", f'"\\begin{{{name}}}" is never closed', begin, unclosed=True)


def _drawn(parser: Parser, read: Callable[[], ArrowDiagram]) -> Atom:
    """Return a diagram as one atom. Its text alternative is added to those of the formula."""
    from ..analysis.linear import linear_text
    from ..diagrams.drawing import describe, draw
    from ..diagrams.layout import lay_out

    old, table, outer = parser.style, parser.atoms, parser.environment
    parser.environment = ""
    diagram = read()
    parser.style, parser.atoms, parser.environment = old, table, outer
    markup = draw(lay_out(diagram), diagram.scale)
    parser.diagrams[markup] = describe(diagram, linear_text)
    return ORD, markup


ENVIRONMENTS: Mapping[str, Environment] = MappingProxyType({"tikzcd": _tikzcd, "CD": _cd})
COMMANDS: Mapping[str, Command] = MappingProxyType(
    {"\\xymatrix": _xymatrix, "\\tikzset": _tikzset, "\\tikzcdset": _tikzset}
)
