"""`\\begin … \\end`, `\\begingroup`, and what may not stand alone."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType

from ..atoms import ORD, Atom
from ..construct import Command
from ..parser import Parser
from ..pieces import grouped
from ..wrong import Wrong


def _begin(parser: Parser, command: str) -> Atom:
    name = "".join(parser.argument()).strip()
    environment = parser.constructs.environments.get(name)
    if environment is None:
        if not name:
            raise Wrong("math-syntax", "\\begin needs the name of an environment", command)
        near = get_close_matches(name, parser.constructs.environments, n=1, cutoff=0.75)
        hint = f"did you mean {near[0]}?" if near else ""
        raise Wrong("math-command", f"unknown TeX environment {name}", command, hint=hint)
    parser.depth += 1
    mark = parser.mark()
    atom = environment(parser, name)
    parser.restore(mark)
    parser.depth -= 1
    return atom


def _begingroup(parser: Parser, command: str) -> Atom:
    mark, environment = parser.mark(), parser.environment
    parser.environment = ""
    out = parser.row()
    parser.environment = environment
    if parser.ended_by != "\\endgroup":
        raise Wrong("math-brace", f"{command} is never closed", command)
    parser.restore(mark)
    return ORD, grouped(out)


def _stray_rule(parser: Parser, command: str) -> Atom:
    raise Wrong("math-syntax", f"{command} stands outside an array", command)


COMMANDS: Mapping[str, Command] = MappingProxyType(
    {
        "\\begin": _begin,
        "\\begingroup": _begingroup,
        "\\hline": _stray_rule,
        "\\hdashline": _stray_rule,
        "\\cline": _stray_rule,
    }
)
