r"""Meanings stated in TeX: `\MathMLintent{norm($x)}{…}` and `\MathMLarg{x}{…}`, as in luamml."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...base.patterns import lazy_pattern
from ..mathml.atoms import ORD, Atom
from ..mathml.fragments import group_fragments
from ..mathml.intents import add_argument, add_intent
from ..parse.parser import Command, Parser

_INTENT = lazy_pattern(r"(?:[\w-]+)?(?::[\w-]+)*(?:\([\w$(),:-]*\))?")


def _intent(parser: Parser, command: str) -> Atom:
    intent = "".join(parser.name_argument()).replace(" ", "")
    if not intent or not _INTENT.fullmatch(intent):
        hint = "write a name with arguments, such as `norm($x)`"
        raise parser.syntax_error(f'invalid intent "{intent}" of "{command}"', hint=hint)
    return ORD, add_intent(group_fragments(parser.parse_group(parser.argument())), intent)


def _argument(parser: Parser, command: str) -> Atom:
    name = "".join(parser.name_argument()).strip()
    if not name.isidentifier() or not name.isascii():
        raise parser.syntax_error(f'invalid argument name "{name}" of "{command}"', hint="write a letter")
    return ORD, add_argument(group_fragments(parser.parse_group(parser.argument())), name)


COMMANDS: Mapping[str, Command] = MappingProxyType({"\\MathMLintent": _intent, "\\MathMLarg": _argument})
