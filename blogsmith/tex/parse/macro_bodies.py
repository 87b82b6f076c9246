"""What macros and expanders make: token lists with the arguments in their places."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from .scan import cut_token, split

EXPANDED = 200_000
"""Tokens that commands such as `\\qty` and `\\ce` may make together; each may hold others."""


class Macro(Struct, frozen=True):
    """A user's macro."""

    arity: int
    """How many arguments it takes, the optional one included."""
    default: tuple[str, ...] | None
    """Of the first argument; None: all are required."""
    body: tuple[str, ...]
    delimiters: tuple[tuple[str, ...], ...] = ()
    """`\\def\\a#1.{…}`: what follows each parameter, after what comes before the first; empty: nothing."""


def is_phrase(macro: object) -> bool:
    """Whether it is a macro that takes nothing and does not stand for one token only."""
    return isinstance(macro, Macro) and not (macro.arity or macro.delimiters) and len(macro.body) != 1


def fill(template: str, *arguments: Sequence[str]) -> list[str]:
    """Tokens of `template` with `#1` … `#9` replaced."""
    return fill_body(_template(template), arguments)


@lru_cache(2048)
def _template(template: str) -> tuple[str, ...]:
    return tuple(split(template))


def fill_body(body: Sequence[str], arguments: Sequence[Sequence[str]], most: int = EXPANDED) -> list[str]:
    """`body` with its parameters replaced; `##` is a `#`. It stops short where it gets longer than `most`."""
    if not arguments and "#" not in body:
        return list(body)
    made: list[str] = []
    index = 0
    while index < len(body):
        token = body[index]
        follower = body[index + 1] if token == "#" and index + 1 < len(body) else ""
        if follower and follower[0].isdecimal() and 0 < int(follower[0]) <= len(arguments):
            made += arguments[int(follower[0]) - 1]
            if len(follower) > 1:
                made.append(cut_token(follower, 1, len(follower)))
            if len(made) > most:
                break
            index += 2
        elif follower == "#":
            made.append(token)
            index += 2
        else:
            made.append(token)
            index += 1
    return made
