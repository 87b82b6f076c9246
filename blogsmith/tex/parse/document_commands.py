r"""Commands with stars and optional arguments: `\NewDocumentCommand` (xparse), `\newcommandx` (xargs) and
`\DeclarePairedDelimiter` (mathtools, section 3.6).

A missing optional argument has no value. Tests such as `\IfNoValueTF` are resolved when the macro is
expanded, so no other code needs to know them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from ...model.tex_macros import Macro, MacroParameter
from .errors import ParseError
from .reader import TokenReader, tokens
from .scan import strip_places

_MAX_PARAMETERS = 9
_MANDATORY = MacroParameter("mandatory")
_STAR = MacroParameter("mark", "*")
_SIZE = MacroParameter("optional", "[", "]")


class Definition(NamedTuple):
    """Name and meaning of a command that is being defined."""

    name: str
    macro: Macro


def _read_name(reader: TokenReader) -> str:
    inside = [token for token in reader.argument() if token != " "]
    if len(inside) != 1 or len(inside[0]) < 2 or inside[0][0] != "\\":
        message = f'missing command name after "{reader.command}"'
        hint = f"write a name with a backslash, as in `{reader.command}{{\\name}}`"
        raise ParseError("math-macro", message, reader.command, hint=hint)
    return str(inside[0])


def _document_command(reader: TokenReader) -> Definition:
    name = _read_name(reader)
    parameters = _read_specification(reader, name)
    body = strip_places(reader.argument())
    return Definition(name, Macro(len(parameters), None, body, parameters=parameters))


def _read_specification(reader: TokenReader, name: str) -> tuple[MacroParameter, ...]:
    r"""Read the argument specification of a document command, such as `s m O{2}`."""
    inner = TokenReader(reader.argument(), {})
    inner.command = reader.command
    found: list[MacroParameter] = []
    while letter := inner.pop():
        if letter in ("+", "!", " "):
            continue  # `+` allows paragraphs and `!` forbids spaces, which makes no difference in a formula
        if letter in ("e", "E"):
            marks = [token for token in inner.argument() if token != " "]
            defaults = TokenReader(inner.argument() if letter == "E" else (), {})
            found += [
                MacroParameter("embellished", mark, "", _default(defaults) if defaults.peek() else None)
                for mark in marks
            ]
            continue
        parameter = _read_parameter(inner, letter)
        if parameter is None:
            message = f'argument type "{letter}" of "{name}" is not supported'
            raise ParseError("math-macro", message, letter, hint="use the types `m s o O d D t r R e E`")
        found.append(parameter)
    if len(found) > _MAX_PARAMETERS:
        message = f'"{name}" has more than {_MAX_PARAMETERS} arguments'
        raise ParseError("math-macro", message, reader.command, hint="declare fewer arguments")
    return tuple(found)


def _read_parameter(inner: TokenReader, letter: str) -> MacroParameter | None:
    """Read one parameter. letter: its type, already consumed. Return None for an unknown type."""
    if letter == "m":
        return _MANDATORY
    if letter == "s":
        return _STAR
    if letter == "t":
        return MacroParameter("mark", "".join(inner.argument()))
    if letter in ("o", "O"):
        return MacroParameter("optional", "[", "]", _default(inner) if letter == "O" else None)
    if letter in ("d", "D", "r", "R"):
        opening, closing = str(inner.pop()), str(inner.pop())
        default = _default(inner) if letter in ("D", "R") else None
        return MacroParameter("delimited" if letter in ("r", "R") else "optional", opening, closing, default)
    return None


def _default(inner: TokenReader) -> tuple[str, ...]:
    return strip_places(inner.argument())


def _command_with_defaults(reader: TokenReader) -> Definition:
    r"""Read the definition after `\newcommandx`: `{\name}[count][1=default, usedefault]{body}` (xargs)."""
    reader.star()
    name = _read_name(reader)
    count = "".join(reader.optional() or ()).strip()
    if count and (not count.isdecimal() or len(count) > 1):
        message = f'invalid number of arguments "{count}" for "{name}"'
        raise ParseError("math-macro", message, reader.command, hint="write a number such as `[2]`")
    defaults = _read_defaults(reader.optional() or ())
    parameters = tuple(
        MacroParameter("optional", "[", "]", defaults[number]) if number in defaults else _MANDATORY
        for number in range(1, int(count or 0) + 1)
    )
    body = strip_places(reader.argument())
    return Definition(name, Macro(len(parameters), None, body, parameters=parameters))


def _read_defaults(entries: Sequence[str]) -> dict[int, tuple[str, ...]]:
    """Map the numbers of parameters to their defaults, from a list such as `1=a, 3=b`."""
    found: dict[int, tuple[str, ...]] = {}
    depth, entry = 0, [""]
    for token in (*entries, ","):
        depth += (token == "{") - (token == "}")
        if token != "," or depth:
            entry.append(token)
            continue
        shown = [one for one in entry if one.strip()]
        if len(shown) > 1 and shown[0].isdecimal() and shown[1] == "=":
            value = shown[2:]
            is_group = len(value) > 1 and value[0] == "{" and value[-1] == "}"
            found[int(shown[0])] = strip_places(value[1:-1] if is_group else value)
        entry = []
    return found


def _paired_delimiter(reader: TokenReader) -> Definition:
    r"""Read the definition after `\DeclarePairedDelimiter`. The form with `X` has a body, that with `XPP`
    also TeX before and after the delimiters."""
    command = reader.command
    name = _read_name(reader)
    count = "1"
    if command != "\\DeclarePairedDelimiter":
        count = "".join(reader.optional() or ()).strip()
    if not count.isdecimal() or not 1 <= int(count) <= _MAX_PARAMETERS - 2:
        message = f'invalid number of arguments "{count}" for "{name}": expected 1 to {_MAX_PARAMETERS - 2}'
        raise ParseError("math-macro", message, command, hint="write a number such as `[1]`")
    before: list[str] = []
    after: list[str] = []
    if command.endswith("PP"):
        before = _renumber(reader.argument())
    left, right = reader.argument(), reader.argument()
    if command.endswith("PP"):
        after = _renumber(reader.argument())
    body = ["#", "3"] if command == "\\DeclarePairedDelimiter" else _renumber(reader.argument())
    sized = _sized(left, right, body)
    made = strip_places((*before, *sized, *after))
    parameters = (_STAR, _SIZE, *[_MANDATORY] * int(count))
    return Definition(name, Macro(len(parameters), None, made, parameters=parameters))


def _renumber(body: Sequence[str]) -> list[str]:
    """Return `body` with the numbers of its parameters raised by two, because the star and the size are
    parameters 1 and 2."""
    made: list[str] = []
    for token in body:
        if made and made[-1] == "#" and token[:1].isdecimal():
            token = f"{int(token[0]) + 2}{token[1:]}"
        made.append(token)
    return made


def _sized(left: Sequence[str], right: Sequence[str], body: Sequence[str]) -> list[str]:
    r"""Return the macro body of a paired delimiter: with a star, delimiters grow; `[\big]` sets their size.
    body: TeX between the delimiters."""

    def replace_size(*size: str) -> list[str]:
        return [made for token in body for made in (size if token == "\\delimsize" else (token,))]

    def delimiter(opening: str, sign: Sequence[str], *size: str) -> list[str]:
        return [opening, "{", *size, *sign, "}"] if sign else []

    grown = [*tokens("\\left"), *(left or "."), *replace_size("\\middle"), "\\right", *(right or ".")]
    chosen = [
        *delimiter("\\mathopen", left, "#", "2"),
        *replace_size("#", "2"),
        *delimiter("\\mathclose", right, "#", "2"),
    ]
    plain = [*delimiter("\\mathopen", left), *replace_size(), *delimiter("\\mathclose", right)]
    return [
        *tokens(r"\IfBooleanTF{#1}"),
        *("{", *grown, "}"),
        "{",
        *tokens(r"\IfNoValueTF{#2}"),
        *("{", *plain, "}"),
        *("{", *chosen, "}"),
        "}",
    ]


DEFINERS: Mapping[str, Callable[[TokenReader], Definition]] = MappingProxyType(
    {
        **{f"\\{verb}DocumentCommand": _document_command for verb in ("New", "Renew", "Provide", "Declare")},
        **{f"\\{verb}commandx": _command_with_defaults for verb in ("new", "renew", "provide")},
        **{f"\\DeclarePairedDelimiter{form}": _paired_delimiter for form in ("", "X", "XPP")},
    }
)
"""Command → function that reads the definition after it. ParseError if the definition is invalid."""
