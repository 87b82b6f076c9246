"""Bodies of macros and results of expanders: token lists into which arguments are inserted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ...model.tex_macros import Macro
from .scan import cut_token, split

MAX_EXPANDED = 200_000
r"""Maximum number of tokens that commands such as `\qty` and `\ce` may produce together in one formula."""


def is_argumentless_macro(macro: object) -> bool:
    """Return whether `macro` is a macro without arguments whose body has more or fewer tokens than one."""
    return isinstance(macro, Macro) and not (macro.arity or macro.delimiters) and len(macro.body) != 1


def fill(template: str, *arguments: Sequence[str]) -> list[str]:
    """Return the tokens of `template` with `#1` … `#9` replaced."""
    return fill_body(_template(template), arguments)


@lru_cache(2048)
def _template(template: str) -> tuple[str, ...]:
    return tuple(split(template))


def fill_body(body: Sequence[str], arguments: Sequence[Sequence[str]], most: int = MAX_EXPANDED) -> list[str]:
    """Return `body` with its parameters replaced; `##` becomes `#`. The result may be cut if it is longer
    than `most`."""
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
