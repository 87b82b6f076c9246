"""Formulas with macros expanded and definitions removed, for callers that inspect their structure.

Nothing is typeset or reported: `convert_formula` reports invalid definitions. Unlike in TeX, a definition
inside a group stays valid after it, because hardly any author defines a macro with a label differently in two
groups.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from ...base.patterns import lazy_pattern
from ..parse.colors import define_color
from ..parse.document_commands import DEFINERS
from ..parse.errors import ParseError
from ..parse.lexer import Token
from ..parse.macros import read_macros
from ..parse.reader import Macro, TokenReader
from ..parse.scan import PlacedToken, split, split_with_positions

_NEW = ("\\newcommand", "\\renewcommand", "\\providecommand", "\\DeclareRobustCommand")
_DEF = ("\\def", "\\gdef", "\\edef", "\\xdef")
_DEFINERS = frozenset((*_NEW, *_DEF, *DEFINERS, "\\DeclareMathOperator", "\\let"))
DEFINES = lazy_pattern(rf"(?:{'|'.join(re.escape(name) for name in sorted(_DEFINERS))})(?![A-Za-z])")


class ExpandedFormula(Struct, frozen=True):
    """The result of expanding a formula."""

    tokens: list[Token]
    macros: Mapping[str, str | Macro]
    """Macros known after the formula."""


def expand_formula(tex: str, macros: Mapping[str, str | Macro]) -> ExpandedFormula | None:
    """Return `tex` with its macros expanded, or None if a macro or a definition is invalid.

    Tokens from a macro have the position of its call.
    """
    reader = TokenReader(split_with_positions(tex), read_macros(macros))
    tokens: list[Token] = []
    try:
        while reader.stack:
            token = reader.stack.pop()
            if token in _DEFINERS:
                reader.command = token
                define(reader, token)
            elif token in reader.macros:
                reader.peek()  # TeX ignores spaces after a control word
                reader.expand(token)
            else:
                tokens.append(_place_token(token))
    except ParseError:
        return None
    return ExpandedFormula(
        tokens, {name: macro for name, macro in reader.macros.items() if isinstance(macro, Macro)}
    )


def _place_token(token: str) -> Token:
    assert isinstance(token, PlacedToken)
    return Token(str(token), token.offset, token.length)


def find_definitions(tex: str, macros: Mapping[str, str | Macro]) -> dict[str, Macro]:
    """Return the macros that `tex` defines, even if it has errors. The last definition of a name applies."""
    given = read_macros(macros)
    reader = TokenReader(split(tex), given)
    while reader.stack:
        token = reader.stack.pop()
        if token not in _DEFINERS and token != "\\definecolor":
            continue
        reader.command = token
        try:
            _define_for_page(reader, token)
        except ParseError:
            continue
    found = {name: macro for name, macro in reader.macros.items() if isinstance(macro, Macro)}
    return {name: macro for name, macro in found.items() if given.get(name) is not macro}


def _define_for_page(reader: TokenReader, command: str) -> None:
    if command == "\\definecolor":
        define_color(reader, command)
    elif command == "\\DeclareMathOperator":
        define_operator(reader)
    else:
        define(reader, command)


def define_operator(reader: TokenReader) -> None:
    r"""Read the arguments of `\DeclareMathOperator`, and define the operator."""
    star = ("*",) if reader.star() else ()
    name = "".join(reader.argument()).strip()
    shown = ("\\operatorname", *star, "{", *map(str, reader.argument()), "}")
    reader.define(name, Macro(0, None, shown), everywhere=True)


def is_definition(token: str) -> bool:
    """Return whether `token` begins a definition."""
    return token in _DEFINERS


def define(reader: TokenReader, command: str) -> None:
    """Read the definition after `command`. It applies to the rest of the formula."""
    if command in DEFINERS:
        defined, macro = DEFINERS[command](reader)
        reader.define(defined, macro, everywhere=True)
    elif command in _DEF:
        name = reader.pop()
        delimiters = _delimiters(reader)
        body = _body(reader)
        delimited = delimiters if any(delimiters) else ()
        reader.define(name, Macro(len(delimiters) - 1, None, body, delimited), everywhere=True)
    elif command == "\\let":
        name = reader.pop()
        if reader.peek() == "=":
            reader.pop()
        target = reader.last = reader.pop()
        known = reader.macros.get(target)
        macro = known if isinstance(known, Macro) else Macro(0, None, (target,))
        reader.define(name, macro, everywhere=True)
    else:
        _define_by_latex(reader, command)


def _body(reader: TokenReader) -> tuple[str, ...]:
    """Read the body. Its tokens get no positions, because at a call they get that of the call."""
    return tuple(str(token) for token in reader.argument())


def _define_by_latex(reader: TokenReader, command: str) -> None:
    reader.star()
    name = "".join(token for token in reader.argument() if token != " ")
    if command == "\\DeclareMathOperator":
        reader.argument()
        reader.define(name, None, everywhere=True)
        return
    arity = "".join(reader.optional() or ()).strip()
    default = reader.optional() if arity else None
    body = _body(reader)
    if command == "\\providecommand" and name in reader.macros:
        return
    count = int(arity) if arity.isdecimal() and len(arity) == 1 else 0
    macro = Macro(count, None if default is None else tuple(str(token) for token in default), body)
    reader.define(name, macro, everywhere=True)


def _delimiters(reader: TokenReader) -> tuple[tuple[str, ...], ...]:
    r"""Read the tokens between the name and the body of a `\def`. Return them split at the parameters."""
    parts: list[list[str]] = [[]]
    while reader.stack and reader.stack[-1] != "{":
        token = reader.stack.pop()
        if token == "#" and reader.stack:
            follower = reader.stack.pop()
            parts.append([follower[1:]] if len(follower) > 1 else [])
        else:
            parts[-1].append(token)
    if parts[-1][-1:] == [" "]:
        parts[-1].pop()
    return tuple(tuple(part) for part in parts)
