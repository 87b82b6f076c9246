"""Macros: taking definitions out of a formula, and expanding calls with a budget.

A macro is name → body, both text. The body holds `#1` … `#9`; the highest one is the number of
arguments, unless the body starts with `#[n]` (n arguments) or `#[n][default]` (and the first one
is optional). Delimited parameters (`\\def\\a#1.{…}`) and `\\let` to a character that changes its
meaning are left out. Bodies are read when called, so the order of definitions does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .errors import TexError
from .lexer import (
    Joined,
    Token,
    is_control_word,
    join,
    read_argument,
    read_optional,
    skip_spaces,
    text_of,
    tokenize,
)
from .old_commands import COMMANDS

BUDGET = 10_000
"""Tokens that all macros of one formula may make together."""

DEFINERS = (
    "\\newcommand",
    "\\renewcommand",
    "\\providecommand",
    "\\DeclareMathOperator",
    "\\def",
    "\\gdef",
    "\\let",
)
_PARAMETER = re.compile(r"#([1-9])")
_HEAD = re.compile(r"#\[([0-9])\]")


@dataclass(frozen=True, slots=True)
class Macro:
    """One macro, ready to be called."""

    arity: int
    """How many arguments it takes, the optional one included."""
    default: list[Token] | None
    """Of the first argument; None: all are required."""
    body: list[Token]


@dataclass(frozen=True, slots=True)
class _Definition:
    name: str
    body: str
    end: int
    """Index of the token after the definition."""


def parse_macro(body: str) -> Macro:
    """Read the text of a macro as the module docstring describes it."""
    head = _HEAD.match(body)
    if head is None:
        arity = max((int(n) for n in _PARAMETER.findall(body)), default=0)
        return Macro(arity, None, tokenize(body))
    tokens = tokenize(body[head.end() :])
    default = read_optional(tokens, 0)
    if default is None:
        return Macro(int(head.group(1)), None, tokens)
    return Macro(int(head.group(1)), default.tokens, tokens[default.end :])


def expand(tex: str, macros: Mapping[str, str], budget: int = BUDGET) -> Joined:
    """`tex` with every macro call replaced; TexError at the call that does not end well."""
    return join(expand_tokens(tokenize(tex), macros, budget))


def expand_tokens(tokens: Sequence[Token], macros: Mapping[str, str], budget: int = BUDGET) -> list[Token]:
    """`tokens` with every macro call replaced; what a macro makes stands at its call."""
    if not any(token.text in macros for token in tokens):
        return list(tokens)
    known: dict[str, Macro] = {}
    pending, done = list(reversed(tokens)), list[Token]()
    while pending:
        call = pending.pop()
        if call.text not in macros:
            done.append(call)
            continue
        if call.text not in known:
            known[call.text] = parse_macro(macros[call.text])
        made = _call(call, known[call.text], pending)
        budget -= len(made) + 1
        if budget < 0:
            raise _too_much(call)
        pending.extend(reversed(made))
    return done


def _too_much(call: Token) -> TexError:
    hint = "a macro must not use itself, not even through another one"
    return TexError("math-macro", f"macro {call.text} expands without end", *call[1:], hint=hint)


def _call(call: Token, macro: Macro, pending: list[Token]) -> list[Token]:
    """Take the arguments off `pending` (next token last) and give the body with them filled in."""
    arguments: list[list[Token]] = []
    if macro.default is not None:
        arguments.append(_pop_optional(pending) or _at(call, macro.default))
    while len(arguments) < macro.arity:
        argument = _pop_argument(pending)
        if argument is None:
            needed = f"{macro.arity} argument" + ("s" if macro.arity > 1 else "")
            raise TexError("math-macro", f"macro {call.text} needs {needed}", *call[1:])
        arguments.append(argument)
    return _fill(call, macro.body, arguments)


def _at(call: Token, tokens: Sequence[Token]) -> list[Token]:
    return [Token(token.text, call.offset, call.length) for token in tokens]


def _fill(call: Token, body: Sequence[Token], arguments: Sequence[list[Token]]) -> list[Token]:
    made: list[Token] = []
    index = 0
    while index < len(body):
        text = body[index].text
        follower = body[index + 1].text if index + 1 < len(body) else ""
        if text == "#" and follower.isdigit() and 0 < int(follower) <= len(arguments):
            made += arguments[int(follower) - 1]
            index += 2
        else:
            made.append(Token(text, call.offset, call.length))
            index += 1
    return made


def _pop_argument(pending: list[Token]) -> list[Token] | None:
    while pending and pending[-1].text == " ":
        pending.pop()
    if not pending or pending[-1].text == "}":
        return None
    if pending[-1].text != "{":
        return [pending.pop()]
    return _pop_until(pending, "}")


def _pop_optional(pending: list[Token]) -> list[Token] | None:
    while pending and pending[-1].text == " ":
        pending.pop()
    if not pending or pending[-1].text != "[":
        return None
    return _pop_until(pending, "]")


def _pop_until(pending: list[Token], closer: str) -> list[Token] | None:
    """What stands between the token on top and its `closer`, both taken; None if it never comes."""
    depth = 0
    taken: list[Token] = []
    # an optional argument is short; looking further for each call would be quadratic
    stop = -1 if closer == "}" else max(-1, len(pending) - 500)
    for back in range(len(pending) - 2, stop, -1):
        token = pending[back]
        if token.text == closer and depth == 0:
            del pending[back:]
            return taken
        depth += (token.text == "{") - (token.text == "}")
        if depth < 0:
            return None
        taken.append(token)
    return None


def definitions(tex: str, macros: Mapping[str, str] | None = None) -> tuple[str, Mapping[str, str]]:
    """`tex` without its definitions, and what they define.

    A definition is replaced by as many spaces, so that offsets stay true; if nothing else is left
    the text is empty. `macros`: names known before, which `\\providecommand` does not touch.
    """
    if not any(definer in tex for definer in DEFINERS):
        return tex, {}
    known = dict(macros or {})
    found: dict[str, str] = {}
    rest, tokens, index = tex, tokenize(tex), 0
    while index < len(tokens):
        if tokens[index].text not in DEFINERS:
            index += 1
            continue
        definition = _definition(tokens, index)
        start, last = tokens[index].offset, tokens[definition.end - 1]
        stop = last.offset + last.length
        rest = rest[:start] + " " * (stop - start) + rest[stop:]
        if tokens[index].text != "\\providecommand" or definition.name not in {*known, *found, *COMMANDS}:
            found[definition.name] = definition.body
        index = definition.end
    return (rest if rest.strip() else ""), found


def _definition(tokens: Sequence[Token], index: int) -> _Definition:
    command = tokens[index]
    if command.text == "\\let":
        return _let(tokens, index)
    if command.text in ("\\def", "\\gdef"):
        return _plain_definition(tokens, index)
    return _latex_definition(tokens, index)


def _broken(command: Token) -> TexError:
    return TexError("math-macro", f"{command.text} is not complete", *command[1:])


def _latex_definition(tokens: Sequence[Token], index: int) -> _Definition:
    """`\\newcommand{\\name}[n][default]{body}` or `\\DeclareMathOperator*{\\name}{text}`."""
    command = tokens[index]
    after = skip_spaces(tokens, index + 1)
    is_starred = after < len(tokens) and tokens[after].text == "*"
    named = read_argument(tokens, after + is_starred)
    if named is None:
        raise _broken(command)
    name = _name(command, named.tokens)
    if command.text == "\\DeclareMathOperator":
        shown = read_argument(tokens, named.end)
        if shown is None:
            raise _broken(command)
        star = "*" if is_starred else ""
        return _Definition(name, f"\\operatorname{star}{{{text_of(shown.tokens)}}}", shown.end)
    return _newcommand_body(tokens, named.end, command, name)


def _newcommand_body(tokens: Sequence[Token], index: int, command: Token, name: str) -> _Definition:
    count = read_optional(tokens, index)
    default = read_optional(tokens, count.end) if count else None
    end = default.end if default else count.end if count else index
    body = read_argument(tokens, end)
    arity = text_of(count.tokens).strip() if count else "0"
    if body is None or arity not in set("0123456789"):
        raise _broken(command)
    head = f"#[{arity}]"
    if default is not None:
        head += f"[{text_of(default.tokens)}]"
    return _Definition(name, _with_head(head, text_of(body.tokens)), body.end)


def _with_head(head: str, body: str) -> str:
    """`head` + `body`, or just the body where its own parameters say the same."""
    highest = max((int(n) for n in _PARAMETER.findall(body)), default=0)
    return body if head == f"#[{highest}]" and not _HEAD.match(body) else head + body


def _plain_definition(tokens: Sequence[Token], index: int) -> _Definition:
    """`\\def\\name#1#2{body}`."""
    command = tokens[index]
    start = skip_spaces(tokens, index + 1)
    brace = next((i for i in range(start, len(tokens)) if tokens[i].text == "{"), -1)
    body = read_argument(tokens, brace) if brace > start else None
    if body is None:
        raise _broken(command)
    name = _name(command, tokens[start : start + 1])
    parameters = "".join(t.text for t in tokens[start + 1 : brace]).strip()
    arity = len(parameters) // 2
    if parameters != "".join(f"#{n}" for n in range(1, arity + 1)):
        hint = "only #1, #2, … may stand before the body"
        raise TexError("math-macro", f"parameters of {name} are not plain", *command[1:], hint=hint)
    return _Definition(name, _with_head(f"#[{arity}]", text_of(body.tokens)), body.end)


def _let(tokens: Sequence[Token], index: int) -> _Definition:
    """`\\let\\name=\\other`."""
    start = skip_spaces(tokens, index + 1)
    target = skip_spaces(tokens, start + 1)
    if target < len(tokens) and tokens[target].text == "=":
        target = skip_spaces(tokens, target + 1)
    if target >= len(tokens) or tokens[target].text in "{}":
        raise _broken(tokens[index])
    name = _name(tokens[index], tokens[start : start + 1])
    return _Definition(name, tokens[target].text, target + 1)


def _name(command: Token, tokens: Sequence[Token]) -> str:
    """The one control sequence in `tokens`."""
    words = [token for token in tokens if token.text != " "]
    if len(words) != 1 or not (is_control_word(words[0].text) or len(words[0].text) == 2):
        raise TexError("math-macro", f"{command.text} needs the name of a command", *command[1:])
    return words[0].text
