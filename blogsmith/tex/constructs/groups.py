"""`\\begin … \\end`, `\\begingroup`, and what may not stand alone."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType

from ..mathml.atoms import ORD, Atom
from ..mathml.fragments import group_fragments
from ..parse.errors import ParseError
from ..parse.parser import Command, Parser
from ..parse.scan import move_tokens


def _begin(parser: Parser, command: str) -> Atom:
    name = "".join(parser.name_argument()).strip()
    if f"\\begin {name}" in parser.macros:
        return _user_environment(parser, command, name)
    environment = parser.constructs.environments.get(name)
    if environment is None:
        if not name:
            raise ParseError("math-syntax", "\\begin needs the name of an environment", command)
        near = get_close_matches(name, parser.constructs.environments, n=1, cutoff=0.75)
        hint = f"did you mean {near[0]}?" if near else ""
        raise ParseError("math-command", f"unknown TeX environment {name}", command, hint=hint)
    parser.depth += 1
    mark = parser.mark()
    atom = environment(parser, name)
    parser.restore(mark)
    parser.depth -= 1
    return atom


def _user_environment(parser: Parser, command: str, name: str) -> Atom:
    """An environment of the author's: its two bodies around what it holds, as one group."""
    held, depth = list[str](), 1
    while parser.stack:
        token = parser.stack.pop()
        depth += (token == "\\begin") - (token == "\\end")
        if not depth:
            break
        held.append(token)
    if depth or "".join(parser.argument()).strip() != name:
        raise ParseError("math-brace", f"\\begin{{{name}}} is never closed", command, unclosed=True)
    inside = [f"\\begin {name}", *held, f"\\end {name}"]
    return ORD, group_fragments(parser.parse_group(move_tokens(inside, command)))


def _begingroup(parser: Parser, command: str) -> Atom:
    mark, environment = parser.mark(), parser.environment
    parser.environment = ""
    out = parser.row()
    parser.environment = environment
    if parser.ended_by != "\\endgroup":
        raise ParseError("math-brace", f"{command} is never closed", command, unclosed=True)
    parser.restore(mark)
    return ORD, group_fragments(out)


def _stray_rule(parser: Parser, command: str) -> Atom:
    raise ParseError("math-syntax", f"{command} stands outside an array", command)


COMMANDS: Mapping[str, Command] = MappingProxyType(
    {
        "\\begin": _begin,
        "\\begingroup": _begingroup,
        "\\hline": _stray_rule,
        "\\hdashline": _stray_rule,
        "\\cline": _stray_rule,
    }
)
