r"""`\newcommand`, `\def`, `\let` and related commands (TeXbook, chapter 20; LaTeX2e, `ltdefns`)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...model.names import name_set
from ..parse.document_commands import DEFINERS
from ..parse.errors import ParseError
from ..parse.parser import Command, Parser
from ..parse.reader import Expander, Macro, fill_body
from ..parse.scan import strip_places
from .conditionals import expand_condition
from .math_codes import read_math_code

_NEW = ("\\newcommand", "\\renewcommand", "\\providecommand")
# names that authors may not redefine, because the parser itself searches for them
_FIXED = name_set("\\limits \\nolimits \\left \\right \\middle \\begin \\end \\\\ \\cr")


def is_name(token: str) -> bool:
    """Return whether a token is a command. Unlike in LaTeX, a single character cannot be defined here."""
    return len(token) > 1 and token[0] == "\\"


def _name(parser: Parser, *, braces: bool) -> str:
    """Read and return the name being defined. braces: whether it may be in braces."""
    if parser.peek() == "{" and braces:
        inside = [token for token in parser.argument() if token != " "]
        name = inside[0] if len(inside) == 1 else ""
    else:
        name = parser.pop()
    if not is_name(name):
        message = f'missing command name after "{parser.command}"'
        hint = f"write a name with a backslash, as in `{parser.command}{{\\name}}`"
        raise ParseError("math-macro", message, parser.command, hint=hint)
    return name


def _is_taken(parser: Parser, name: str, macro: Macro) -> bool:
    """Return whether LaTeX or this formula already defines `name`, and differently. Authors may redefine
    names of packages, of KaTeX and of earlier formulas."""
    own = parser.macros.get(name)
    if parser.is_preamble:
        return False
    if own is not None:
        return own != macro and own is not parser.initial_macros.get(name)
    return name in _FIXED or _is_latex(parser, name)


def _is_latex(parser: Parser, name: str) -> bool:
    borrowed = name in parser.constructs.expanders or name in _REDEFINABLE
    return parser.constructs.is_known(name) and not borrowed


def _newcommand(parser: Parser, command: str) -> None:
    parser.star()
    name = _name(parser, braces=True)
    arity = _arity(parser)
    default = parser.optional() if arity else None
    body = _check_body(parser.argument(), arity, name)
    macro = Macro(arity, None if default is None else strip_places(default), strip_places(body))
    if command == "\\newcommand" and _is_taken(parser, name, macro):
        hint = f"write `\\renewcommand{{{name}}}` to redefine it"
        raise ParseError("math-macro", f'"{name}" is already defined', name, hint=hint)
    known = name in parser.macros or name in _FIXED
    is_missing = not known and not parser.is_preamble and not parser.constructs.is_known(name)
    if command == "\\renewcommand" and is_missing:
        raise ParseError(
            "math-macro",
            f'"{name}" is not defined',
            name,
            hint=f"write `\\newcommand{{{name}}}` to define it",
        )
    _check_fixed(name)
    if command == "\\providecommand" and (known or _is_latex(parser, name)):
        return
    parser.define(name, macro, everywhere=parser.is_at_top())


def _check_body(body: list[str], arity: int, name: str) -> list[str]:
    """Return `body`. ParseError if it uses a parameter that `name` does not have."""
    before = ""
    for index, token in enumerate(body):
        follower = body[index + 1][:1] if token == "#" != before and index + 1 < len(body) else ""
        if follower.isdecimal() and int(follower) > arity:
            hint = f"declare more arguments, or remove `#{follower}`"
            raise ParseError("math-macro", f'"{name}" has no parameter "#{follower}"', token, hint=hint)
        before = "" if token == before == "#" else token
    return body


def _check_fixed(name: str) -> None:
    if name in _FIXED:
        raise ParseError("math-macro", f'"{name}" cannot be redefined', name, hint="define another name")


def _arity(parser: Parser) -> int:
    found = parser.optional()
    if found is None:
        return 0
    text = "".join(found).strip()
    if not text.isdecimal() or len(text) > 1:
        raise parser.syntax_error(
            f'invalid number of arguments "{text}" for "{parser.command}": expected 0 to 9',
            hint="write a number such as `[2]`",
        )
    return int(text)


def _operator(parser: Parser, command: str) -> None:
    starred = parser.star()
    name = _name(parser, braces=True)
    body = parser.argument()
    macro = Macro(0, None, ("\\operatorname", *(("*",) if starred else ()), "{", *body, "}"))
    _check_fixed(name)
    if name not in parser.macros and _is_latex(parser, name) and not parser.is_preamble:
        hint = f"write `\\renewcommand{{{name}}}` to redefine it"
        raise ParseError("math-macro", f'"{name}" is already defined', name, hint=hint)
    parser.define(name, macro, everywhere=parser.is_at_top())


def _environment(parser: Parser, command: str) -> None:
    r"""Define an environment by `\newenvironment{name}[n][default]{begin}{end}`."""
    parser.star()
    name = "".join(parser.argument()).strip()
    arity = _arity(parser)
    default = parser.optional() if arity else None
    begin, end = parser.argument(), parser.argument()
    if not name:
        hint = f"write `{command}{{name}}{{…}}{{…}}`"
        raise ParseError("math-macro", f'missing environment name after "{command}"', command, hint=hint)
    known = name in parser.constructs.environments or f"\\begin {name}" in parser.macros
    if known and command == "\\newenvironment" and not parser.is_preamble:
        raise ParseError(
            "math-macro",
            f'environment "{name}" is already defined',
            command,
            hint="write `\\renewenvironment` to redefine it",
        )
    macro = Macro(arity, None if default is None else strip_places(default), strip_places(begin))
    parser.define(f"\\begin {name}", macro, everywhere=parser.is_at_top())
    parser.define(f"\\end {name}", Macro(0, None, strip_places(end)), everywhere=parser.is_at_top())


def _column_type(parser: Parser, command: str) -> None:
    r"""Define a column of an array by `\newcolumntype{C}[n]{>{$}c<{$}}` (package array)."""
    name = "".join(parser.argument()).strip()
    arity = _arity(parser)
    # a dollar ends the text that a cell of `tabular` is; cells of formulas are mathematics
    body = [token for token in parser.argument() if token not in (" ", "$")]
    parser.define(
        f"\\newcolumntype {name}", Macro(arity, None, strip_places(body)), everywhere=parser.is_at_top()
    )


_REDEFINABLE = frozenset(
    f"\\{name}"
    for name in name_set(
        "u v r H c argmax argmin tr Tr rank sgn span erf plim R C N Z Q Res ch sh th cth ctg tg arcctg "
        "cosec cotg var pv grad curl div lg Re Im real reals vb norm abs qty order set Set arccot arccsc "
        "arcsec arctg degree mathds mathbbm notni eqdef measeq mapsfrom widebar overbar iddots oiint QED "
        "utilde class ring red blue green angl scr phase euro cent xlongequal lightning"
    )
)
"""Commands that an author may define although blogsmith has them: unknown to LaTeX, or often redefined."""


def _def(parser: Parser, command: str) -> None:
    everywhere = command in ("\\gdef", "\\xdef") or parser.is_at_top() or parser.is_global
    parser.is_global = False
    name = _name(parser, braces=False)
    parser.peek()  # skips the spaces after the name
    delimiters = _parameters(parser)
    if parser.peek() != "{":
        message = f'missing body in braces after "{command}{name}"'
        raise ParseError("math-macro", message, command, hint=f"write `{command}{name}{{…}}`")
    body = _check_body(parser.argument(), len(delimiters) - 1, name)
    _check_fixed(name)
    if command in ("\\edef", "\\xdef"):
        body = _expand_body(parser, body)
    plain = not any(delimiters)
    macro = Macro(len(delimiters) - 1, None, strip_places(body), () if plain else delimiters)
    parser.define(name, macro, everywhere=everywhere)


def _parameters(parser: Parser) -> tuple[tuple[str, ...], ...]:
    """Read the tokens between name and body. Return them split at the parameters: before `#1`, between `#1`
    and `#2`, …"""
    parts: list[list[str]] = [[]]
    while parser.stack and parser.stack[-1] != "{":
        token = parser.stack.pop()
        if token == "}":
            parser.stack.append(token)
            break
        if token != "#":
            parts[-1].append(token)
            continue
        digits = parser.stack.pop() if parser.stack else ""
        if digits[:1] != str(len(parts)) or len(parts) > 9:
            raise ParseError(
                "math-macro",
                f'invalid parameter "#{digits[:1]}": expected #1, #2, … in this order',
                token,
                hint=f"write `#{len(parts)}`",
            )
        parts.append([digits[1:]] if len(digits) > 1 else [])
    if parts[-1] and parts[-1][-1] == " ":
        parts[-1].pop()
    return tuple(strip_places(part) for part in parts)


def _expand_body(parser: Parser, body: list[str]) -> list[str]:
    r"""Return `body` with its macros expanded now, as `\edef` does."""
    rest, parser.stack = parser.stack, list(reversed(body))
    made: list[str] = []
    try:
        while parser.stack:
            token = parser.stack.pop()
            if token == "\\noexpand" and parser.stack:
                made.append(parser.stack.pop())
            elif token in parser.macros:
                parser.expand(token)
            else:
                if is_name(token) and not parser.constructs.is_known(token):
                    raise parser.unknown(token)
                made.append(token)
    finally:
        parser.stack = rest
    return fill_body(made, ())


def _let(parser: Parser, command: str) -> None:
    everywhere = parser.is_at_top() or parser.is_global
    parser.is_global = False
    name = _name(parser, braces=False)
    if parser.peek() == "=":
        parser.pop()
    target = parser.pop()
    if not target or (target in "{}" and command == "\\let"):
        message = f'missing token after "{command}{name}"'
        raise ParseError("math-macro", message, command, hint=f"write it as in `{command}{name}=\\alpha`")
    if command == "\\futurelet":
        follower = parser.peek()
        if not follower:
            raise parser.syntax_error(f'"{command}" needs two tokens after the name', hint="add a token")
        parser.push([target])
        target = follower
    _check_fixed(name)
    macro: Macro | Expander | None = parser.macros.get(target)
    if macro is None:
        macro = Macro(
            0, None, ("\0" + target if is_name(target) and parser.constructs.is_known(target) else target,)
        )
    parser.define(name, macro, everywhere=everywhere)


def _document_command(parser: Parser, command: str) -> None:
    name, macro = DEFINERS[command](parser)
    _check_fixed(name)
    known = name in parser.macros or _is_latex(parser, name)
    if command.startswith("\\provide") or command.startswith("\\Provide"):
        if known:
            return
    elif command in ("\\newcommandx", "\\NewDocumentCommand") and _is_taken(parser, name, macro):
        hint = f"write `{command.replace('new', 'renew').replace('New', 'Renew')}{{{name}}}` to redefine it"
        raise ParseError("math-macro", f'"{name}" is already defined', name, hint=hint)
    parser.define(name, macro, everywhere=parser.is_at_top())


def _mathchardef(parser: Parser, command: str) -> None:
    r"""Define a character by its math code, as in `\mathchardef\mhyphen="2D`."""
    name = _name(parser, braces=False)
    if parser.peek() == "=":
        parser.pop()
    _check_fixed(name)
    macro = Macro(0, None, tuple(read_math_code(parser, name)))
    parser.define(name, macro, everywhere=parser.is_at_top())


def _global(parser: Parser, command: str) -> None:
    token = parser.peek()
    if token not in ("\\def", "\\gdef", "\\edef", "\\xdef", "\\let", "\\global", "\\long", "\\futurelet"):
        raise parser.syntax_error(
            f'"{command}" is not followed by a definition', hint="write `\\def` after it"
        )
    parser.is_global = parser.is_global or command == "\\global"


def _expandafter(parser: Parser, command: str) -> None:
    held = [parser.pop()]
    token = parser.pop()
    while token == "\\expandafter":
        held.append(parser.pop())
        token = parser.pop()
    if token in parser.macros:
        parser.expand(token)
    elif not expand_condition(parser, token):
        held.append(token)
    parser.push([one for one in held if one])


def _noexpand(parser: Parser, command: str) -> None:
    return None


COMMANDS: Mapping[str, Command] = MappingProxyType(
    {name: _newcommand for name in _NEW}
    | {name: _def for name in ("\\def", "\\gdef", "\\edef", "\\xdef")}
    | {name: _document_command for name in DEFINERS}
    | {
        "\\DeclareRobustCommand": _newcommand,
        "\\newrobustcmd": _newcommand,
        "\\knowledgenewrobustcmd": _newcommand,
        "\\renewrobustcmd": _newcommand,
        "\\mathchardef": _mathchardef,
        "\\newenvironment": _environment,
        "\\renewenvironment": _environment,
        "\\DeclareMathOperator": _operator,
        "\\newcolumntype": _column_type,
        "\\let": _let,
        "\\futurelet": _let,
        "\\global": _global,
        "\\long": _global,
        "\\expandafter": _expandafter,
        "\\noexpand": _noexpand,
    }
)
