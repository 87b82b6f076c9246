"""What TeX commands mean in formulas: macros of site and page, signs, and what constructs do."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from html import unescape

from msgspec import Struct

from ..api.editing import EXPANDERS as ALIASES
from ..api.editing import Macro, TexError, constructs, convert_formula, lazy_pattern, read_macros

_TAG = lazy_pattern(r"<[^<>]*>")
_COMMAND = lazy_pattern(r"\\(?:[A-Za-z]+\*?|.)")
_MOST_SIGNS = 4


class CommandGuide(Struct, frozen=True):
    """A command as an author reads of it."""

    name: str
    """With its backslash."""
    sign: str = ""
    """What it prints, if that is a sign."""
    meaning: str = ""
    """In a few words; empty if the tables do not say."""
    arity: int = 0
    """Arguments of a macro."""


def describe_command(name: str, packages: frozenset[str] = frozenset()) -> CommandGuide | None:
    """What a command of TeX is; None if formulas do not know it."""
    table = constructs(packages)
    if not table.known(name):
        return None
    sign = _sign_of(name)
    if sign:
        return CommandGuide(name, sign)
    made = table.commands.get(name) or table.expanders.get(name) or table.infixes.get(name)
    module = sys.modules.get(getattr(made, "__module__", "") or "")
    if name in ALIASES:
        return CommandGuide(name, meaning="Stands for other TeX")
    said = (getattr(module, "__doc__", "") or "").strip().partition("\n")[0].strip(" .")
    return CommandGuide(name, meaning=said.replace("`", ""))


def describe_macro(name: str, macros: Mapping[str, str]) -> CommandGuide | None:
    """What a macro of the site or a page stands for; None if there is none, or it is wrong."""
    body = macros.get(name)
    if body is None:
        return None
    try:
        read = read_macros({name: body}).get(name)
    except (TexError, ValueError):
        read = None
    return CommandGuide(name, meaning=body, arity=read.arity if isinstance(read, Macro) else 0)


@cache
def _sign_of(name: str) -> str:
    """The sign that a command prints by itself; empty if it prints none."""
    try:
        made = convert_formula(name, display=False)
    except TexError:
        return ""
    text = unescape(_TAG.sub("", made.mathml)).strip()
    return text if 0 < len(text) <= _MOST_SIGNS and text != name[1:] else ""


@cache
def all_commands(packages: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Every command that formulas know, with its backslash, sorted."""
    return tuple(name for name in constructs(packages).names() if name[1:].isalpha())


def all_environments() -> tuple[str, ...]:
    """Every environment that formulas know, sorted."""
    return tuple(sorted(constructs().environments))


def command_at(tex: str, offset: int) -> tuple[str, int] | None:
    """The command of a formula on which a character stands, and where it begins."""
    for found in _COMMAND.finditer(tex):
        if found.start() <= offset < found.end():
            return found[0], found.start()
    return None
