r"""Conditions and tests of the next token: `\ifx … \else … \fi`, `\newif`, `\@ifstar`, `\csname` (TeXbook,
chapter 20; LaTeX2e, `ltdefns`; packages ifthen and etoolbox).

A condition decides which tokens are read; those of the other branch are dropped unread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ..parse.errors import ParseError
from ..parse.parser import Command, Parser
from ..parse.reader import Macro
from ..parse.scan import strip_places

_MEANINGS = MappingProxyType({True: "\\iftrue", False: "\\iffalse"})
_ROMAN = MappingProxyType(
    {1000: "m", 900: "cm", 500: "d", 400: "cd", 100: "c", 90: "xc", 50: "l", 40: "xl", 10: "x", 9: "ix"}
    | {5: "v", 4: "iv", 1: "i"}
)
_MAX_ROMAN, _MAX_DIGITS = 9999, 10
_NUMBER_SIGNS = frozenset("<=>")


def _next_unexpandable(parser: Parser) -> str:
    """Consume and return the next token that is not a macro, expanding macros before it."""
    while token := parser.pop():
        if token == "\\detokenize":
            parser.push(parser.argument())
        elif token in parser.macros:
            parser.expand(token)
        elif token == "\\endcsname" or not expand_condition(parser, token):
            return str(token)
    return ""


def _meaning(parser: Parser, token: str) -> object:
    r"""Return a value that is equal for tokens of equal meaning, for `\ifx`; None if `token` is undefined."""
    name = str(token).removeprefix("\0")
    macro = parser.macros.get(name) if token == name else None
    if isinstance(macro, Macro):
        body = macro.body
        is_alias = len(body) == 1 and body[0][:1] == "\0" and not macro.arity
        return body[0][1:] if is_alias else (macro.arity, macro.default, body, macro.delimiters)
    if name in ("\\@empty", "\\empty"):
        return (0, None, (), ())
    is_undefined = len(name) > 1 and name[0] == "\\" and not parser.constructs.is_known(name)
    return None if is_undefined else name


def _ifx(parser: Parser) -> bool:
    first, second = parser.pop(), parser.pop()
    return _meaning(parser, first) == _meaning(parser, second)


def _if(parser: Parser) -> bool:
    return _next_unexpandable(parser) == _next_unexpandable(parser)


def _ifdefined(parser: Parser) -> bool:
    return _meaning(parser, parser.pop()) is not None


def _ifcsname(parser: Parser) -> bool:
    return _meaning(parser, _name_until_end(parser)) is not None


_IFNUM_HINT = "write it as in `\\ifnum 1<2 … \\else … \\fi`"


def _ifnum(parser: Parser) -> bool:
    left, sign, right = _number(parser), _next_unexpandable(parser), _number(parser)
    if sign not in _NUMBER_SIGNS:
        raise parser.syntax_error(
            f'"{parser.command}" needs "<", "=" or ">" between two numbers', hint=_IFNUM_HINT
        )
    return left < right if sign == "<" else left > right if sign == ">" else left == right


def _number(parser: Parser) -> int:
    digits = _next_unexpandable(parser)
    if digits == "-":
        return -_number(parser)
    if not digits.isdecimal() or len(digits) > _MAX_DIGITS:
        raise parser.syntax_error(f'"{parser.command}" needs two numbers', hint=_IFNUM_HINT)
    if parser.stack and parser.stack[-1] == " ":
        parser.stack.pop()
    return int(digits)


_CONDITIONS: Mapping[str, Callable[[Parser], bool]] = MappingProxyType(
    {
        "\\iftrue": lambda parser: True,
        "\\iffalse": lambda parser: False,
        "\\ifmmode": lambda parser: True,
        "\\if@display": lambda parser: parser.is_display,
        "\\ifx": _ifx,
        "\\if": _if,
        "\\ifdefined": _ifdefined,
        "\\ifcsname": _ifcsname,
        "\\ifnum": _ifnum,
        **dict.fromkeys(("\\ifpdf", "\\ifPDFTeX", "\\ifpdftex"), lambda parser: True),
        **dict.fromkeys(("\\ifluatex", "\\ifLuaTeX", "\\ifxetex", "\\ifXeTeX"), lambda parser: False),
    }
)


def _condition(parser: Parser, command: str) -> None:
    decided = _CONDITIONS[command](parser)
    if decided:
        parser.open_conditions += 1
    else:
        _skip_branch(parser, may_stop_at_else=True)


def _skip_branch(parser: Parser, *, may_stop_at_else: bool) -> None:
    r"""Drop the tokens up to and including the matching `\fi`, or its `\else` if `may_stop_at_else`."""
    depth, stack = 0, parser.stack
    while stack:
        token = stack.pop()
        if token == "\\fi":
            depth -= 1
            if depth < 0:
                return
        elif token == "\\else" and not depth and may_stop_at_else:
            parser.open_conditions += 1
            return
        elif _is_condition(parser, token):
            depth += 1
    message = f'"{parser.command}" is never closed: "\\fi" is missing'
    raise ParseError("math-syntax", message, parser.command, hint="write `\\fi` where it ends")


def _is_condition(parser: Parser, token: str) -> bool:
    r"""Return whether `token` begins a condition, including those that `\newif` has created."""
    macro = parser.macros.get(token)
    if isinstance(macro, Macro):
        return len(macro.body) == 1 and macro.body[0].removeprefix("\0") in _MEANINGS.values()
    return str(token) in _CONDITIONS


def _else(parser: Parser, command: str) -> None:
    _close(parser, command)
    _skip_branch(parser, may_stop_at_else=False)


def _fi(parser: Parser, command: str) -> None:
    _close(parser, command)


def _close(parser: Parser, command: str) -> None:
    if not parser.open_conditions:
        raise parser.syntax_error(
            f'missing condition before "{command}"',
            hint="remove it, or write a condition such as `\\iftrue` before it",
        )
    parser.open_conditions -= 1


def _newif(parser: Parser, command: str) -> None:
    name = str(parser.pop())
    if not name.startswith("\\if") or len(name) < 4:
        hint = "write a name such as `\\ifdraft`"
        raise ParseError(
            "math-macro", f'"{command}" needs a name that begins with "\\if"', command, hint=hint
        )
    for value, meaning in _MEANINGS.items():
        setter = f"\\{name[3:]}{str(value).lower()}"
        parser.define(setter, Macro(0, None, ("\\let", name, meaning)), everywhere=parser.is_at_top())
    parser.define(name, Macro(0, None, (_MEANINGS[False],)), everywhere=parser.is_at_top())


# Tests with two branches as arguments


def _branch(parser: Parser, *, is_true: bool) -> None:
    yes, no = parser.argument(), parser.argument()
    parser.push(yes if is_true else no)


def _if_star(parser: Parser, command: str) -> None:
    yes, no = parser.argument(), parser.argument()
    parser.push(yes if parser.star() else no)


def _if_next(parser: Parser, command: str) -> None:
    expected = parser.argument()
    yes, no = parser.argument(), parser.argument()
    parser.push(yes if [parser.peek()] == expected else no)


def _if_undefined(parser: Parser, command: str) -> None:
    name = "\\" + "".join(parser.argument())
    _branch(parser, is_true=_meaning(parser, name) is None)


def _if_blank(parser: Parser, command: str) -> None:
    tested = parser.argument()
    _branch(parser, is_true=all(token == " " for token in tested))


def _if_equal(parser: Parser, command: str) -> None:
    first, second = parser.argument(), parser.argument()
    _branch(parser, is_true=first == second)


def _if_then_else(parser: Parser, command: str) -> None:
    r"""Read `\ifthenelse{\equal{a}{b}}{…}{…}`. Other tests of the package ifthen are errors."""
    tested = parser.argument()
    negated = tested[:1] == ["\\not"]
    rest, parser.stack = parser.stack, tested[negated:][::-1]
    try:
        if parser.pop() != "\\equal":
            hint = "test with `\\equal{…}{…}`, or use `\\IfNoValueTF` or `\\ifx`"
            raise parser.syntax_error(f'"{command}" supports only the test "\\equal"', hint=hint)
        first, second = parser.name_argument(), parser.name_argument()
    finally:
        parser.stack = rest
    _branch(parser, is_true=(first == second) != negated)


def _take(number: int) -> Command:
    """Return a command that reads two arguments and keeps the first (number 1) or the second (number 2)."""

    def command(parser: Parser, command: str) -> None:
        _branch(parser, is_true=number == 1)

    return command


def _gobble(parser: Parser, command: str) -> None:
    parser.argument()


def _unbrace(parser: Parser, command: str) -> None:
    parser.push(parser.argument())


# Command names built from tokens: `\csname`


def _name_until_end(parser: Parser) -> str:
    r"""Consume the tokens up to `\endcsname`. Return the command whose name they form."""
    name: list[str] = []
    while token := _next_unexpandable(parser):
        if token == "\\endcsname":
            return "\\" + "".join(name)
        name.append(token)
    raise ParseError(
        "math-syntax",
        f'"{parser.command}" is never closed: "\\endcsname" is missing',
        parser.command,
        hint="write `\\endcsname` after the name",
    )


def _csname(parser: Parser, command: str) -> None:
    parser.push(strip_places([_name_until_end(parser)]))


def _roman(parser: Parser, command: str) -> None:
    number = min(_number(parser), _MAX_ROMAN)
    made = ""
    for value, letters in _ROMAN.items():
        made += letters * (number // value)
        number %= value
    parser.push(list(made))


def _change_case(parser: Parser, command: str) -> None:
    while parser.peek() == "\\expandafter":
        token = parser.pop()
        parser.constructs.commands[token](parser, token)
    change = str.lower if "ower" in command else str.upper
    parser.push([token if token[0] in "\\\0" else change(token) for token in parser.argument()])


def _nothing(parser: Parser, command: str) -> None:
    return None


_TESTS: Mapping[str, Command] = MappingProxyType(
    {
        "\\@ifstar": _if_star,
        "\\@ifnextchar": _if_next,
        "\\@ifundefined": _if_undefined,
        "\\ifblank": _if_blank,
        "\\ifstrempty": _if_blank,
        "\\ifstrequal": _if_equal,
        "\\ifthenelse": _if_then_else,
        "\\@firstoftwo": _take(1),
        "\\@secondoftwo": _take(2),
        "\\@gobble": _gobble,
        "\\@firstofone": _unbrace,
        "\\detokenize": _unbrace,
        **{
            f"\\{name}": _change_case for name in ("uppercase", "lowercase", "MakeUppercase", "MakeLowercase")
        },
        "\\unexpanded": _unbrace,
    }
)
EXPANDED: Mapping[str, Command] = MappingProxyType(
    {
        **dict.fromkeys(_CONDITIONS, _condition),
        "\\else": _else,
        "\\fi": _fi,
        "\\csname": _csname,
        "\\romannumeral": _roman,
        **_TESTS,
    }
)
r"""Commands that TeX expands, so that `\expandafter` can act on them."""
COMMANDS: Mapping[str, Command] = MappingProxyType(
    {**EXPANDED, "\\newif": _newif, "\\@empty": _nothing, "\\xspace": _nothing}
)


def expand_condition(parser: Parser, token: str) -> bool:
    """Expand `token` once if it is one of `EXPANDED`. Return whether it was expanded."""
    handler = EXPANDED.get(token)
    if handler is None:
        return False
    before, parser.command = parser.command, token
    handler(parser, token)
    parser.command = before
    return True
