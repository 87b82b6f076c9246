r"""Loops of preambles, and definitions of names built from text: `\@for`, `\foreach`, `\docsvlist`,
`\@namedef` (LaTeX2e, `ltcntrl` and `ltdefns`; packages etoolbox and pgffor).

The code is repeated as tokens, so loops end: the lists are finite, and the work of a formula is limited.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ..parse.parser import Command, Parser
from ..parse.reader import tokens
from ..parse.scan import split_tokens

_MAX_ITEMS = 500
_REPEATED_TOKEN_COST = 5


def _strip(source: Sequence[str]) -> list[str]:
    text = [index for index, token in enumerate(source) if token != " "]
    return list(source[text[0] : text[-1] + 1]) if text else []


def _items(source: Sequence[str]) -> list[list[str]]:
    """Return the items of a list with commas."""
    return [item for part in split_tokens(source, ",") if (item := _strip(part))]


def _with_ranges(items: list[list[str]]) -> list[list[str]]:
    """Return the items with the ranges `A,...,Z` and `1,...,9` filled in."""
    made: list[list[str]] = []
    for index, item in enumerate(items):
        if "".join(item) != "..." or not made or index + 1 == len(items):
            made.append(item)
            continue
        first, last = "".join(made[-1]), "".join(items[index + 1])
        if first.isdecimal() and last.isdecimal() and len(last) < 6:
            made += [[str(number)] for number in range(int(first) + 1, int(last))][:_MAX_ITEMS]
        elif len(first) == len(last) == 1:
            made += [[chr(code)] for code in range(ord(first) + 1, ord(last))][:_MAX_ITEMS]
    return made


def _repeat(parser: Parser, name: str, items: Sequence[Sequence[str]], body: Sequence[str]) -> None:
    """Push the body once for each item. Before each copy, push a definition of `name` as the item."""
    if len(items) > _MAX_ITEMS:
        raise parser.syntax_error(
            f'more than {_MAX_ITEMS} items in the list of "{parser.command}"', hint="write fewer items"
        )
    parser.spend(_REPEATED_TOKEN_COST * len(items) * (4 + len(body)))
    parser.push([token for item in items for token in ("\\def", name, "{", *item, "}", *body)])


def _for(parser: Parser, command: str) -> None:
    r"""Read `\@for\x:=a,b\do{…}`, or `\@tfor\x:=ab\do{…}`."""
    name, items = parser.pop(), list[str]()
    while parser.peek() in (":", "="):
        parser.pop()
    while parser.stack and (token := parser.stack.pop()) != "\\do":
        if token in parser.macros:
            parser.expand(token)
        else:
            items.append(token)
    body = parser.argument()
    found = _items(items) if command == "\\@for" else [[token] for token in items if token != " "]
    _repeat(parser, name, found, body)


def _foreach(parser: Parser, command: str) -> None:
    r"""Read `\foreach \x in {A,...,Z} {…}`."""
    name = parser.pop()
    if not name.startswith("\\") or parser.pop() + parser.pop() != "in":
        raise parser.syntax_error(f'invalid loop "{command}"', hint="write `\\foreach \\x in {A,B}{…}`")
    items = _with_ranges(_items(parser.name_argument()))
    _repeat(parser, name, items, parser.argument())


def _each(parser: Parser, command: str) -> None:
    r"""Read `\docsvlist{a,b}`, which calls `\do`, or `\forcsvlist{\call}{a,b}`."""
    call = ["\\do"] if command == "\\docsvlist" else parser.argument()
    items = _items(parser.name_argument())
    parser.spend(_REPEATED_TOKEN_COST * len(items) * (2 + len(call)))
    parser.push([token for item in items for token in (*call, "{", *item, "}")])


_NAMED: Mapping[str, str] = MappingProxyType(
    {
        "\\@namedef": r"\expandafter\def",
        "\\csdef": r"\expandafter\def",
        "\\csgdef": r"\expandafter\gdef",
        "\\csedef": r"\expandafter\edef",
        "\\csxdef": r"\expandafter\xdef",
        "\\@nameuse": "",
        "\\csuse": "",
    }
)
"""Command whose argument is a name without backslash → TeX that reads the same name after it."""


def _named(parser: Parser, command: str) -> None:
    parser.push([*tokens(_NAMED[command]), "\\csname", *parser.argument(), "\\endcsname"])


COMMANDS: Mapping[str, Command] = MappingProxyType(
    {
        "\\@for": _for,
        "\\@tfor": _for,
        "\\foreach": _foreach,
        "\\docsvlist": _each,
        "\\forcsvlist": _each,
        **dict.fromkeys(_NAMED, _named),
    }
)
